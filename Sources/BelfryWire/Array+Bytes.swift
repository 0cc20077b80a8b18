import BelfryBytes

extension Array where Element == UInt8 {
    /// Appends ASCII text.
    mutating func append(_ text: String) {
        append(text.utf8.span)
    }

    /// Makes room for more bytes at once, and keeps growing by factors.
    mutating func makeRoom(forMore byteCount: Int) {
        guard capacity - count < byteCount else { return }
        reserveCapacity(Swift.max(2 * capacity, count + byteCount))
    }

    func starts(with prefix: String) -> Bool {
        starts(with: prefix.utf8)
    }

    /// Appends valid JSON with a space for each line end, which can only be between tokens.
    mutating func appendInOneLine(_ json: Span<UInt8>) {
        guard !json.isEmpty else { return }
        append(addingCapacity: json.count) { output in
            for index in json.indices {
                let byte = json[index]
                output.append(byte == 0x0A || byte == 0x0D ? 0x20 : byte)
            }
        }
    }
}
