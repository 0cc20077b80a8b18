import BelfryBytes

extension Array where Element == UInt8 {
    /// Appends two pieces at once: the room is made and filled first, and then the loops become wide moves.
    mutating func append(_ first: Span<UInt8>, _ second: Span<UInt8>) {
        let count = first.count + second.count
        guard count > 0 else { return }
        append(addingCapacity: count) { output in
            output.append(repeating: 0, count: count)
            var target = output.mutableSpan
            let start = first.count
            precondition(target.count == count && start <= count)
            for index in first.indices { target[index] = first[index] }
            for index in second.indices { target[start &+ index] = second[index] }
        }
    }

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

    /// Appends valid JSON with a space for each line end, which can only stand between tokens.
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
