extension Array where Element == UInt8 {
    /// Appends some bytes.
    mutating func append(_ bytes: Span<UInt8>) {
        append(addingCapacity: bytes.count) { output in
            for index in bytes.indices { output.append(bytes[index]) }
        }
    }

    /// Appends ASCII text.
    mutating func append(_ text: String) {
        append(contentsOf: text.utf8)
    }

    /// Makes room for more bytes at once, and keeps growing by factors.
    mutating func makeRoom(forMore byteCount: Int) {
        guard capacity - count < byteCount else { return }
        reserveCapacity(Swift.max(2 * capacity, count + byteCount))
    }

    func starts(with prefix: String) -> Bool {
        starts(with: prefix.utf8)
    }
}

extension Array where Element == UInt8 {
    /// Appends valid JSON with a space for each line end, which can only stand between tokens.
    mutating func appendInOneLine(_ json: Span<UInt8>) {
        append(addingCapacity: json.count) { output in
            for index in json.indices {
                let byte = json[index]
                output.append(byte == 0x0A || byte == 0x0D ? 0x20 : byte)
            }
        }
    }
}
