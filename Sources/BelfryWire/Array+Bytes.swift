extension Array where Element == UInt8 {
    /// Appends some bytes.
    ///
    /// An `OutputSpan` checks its capacity for each byte: where they are many it is filled first, and
    /// then the loop becomes wide moves.
    mutating func append(_ bytes: Span<UInt8>) {
        // Adding nothing to an empty array would write the count of the one that all share.
        guard !bytes.isEmpty else { return }
        append(addingCapacity: bytes.count) { output in
            guard bytes.count >= 32 else {
                for index in bytes.indices { output.append(bytes[index]) }
                return
            }
            output.append(repeating: 0, count: bytes.count)
            var target = output.mutableSpan
            precondition(target.count == bytes.count)
            for index in bytes.indices { target[index] = bytes[index] }
        }
    }

    /// Appends two pieces at once, in the same way.
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
}

extension Array where Element == UInt8 {
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

extension Span where Element == UInt8 {
    /// Eight bytes from `index` on, the first one lowest; 0 when fewer are left.
    ///
    /// Compiles to one load: the checks fold into the one of the count.
    @inline(__always)
    func word(at index: Int) -> UInt64 {
        let part = extracting(droppingFirst: index).extracting(first: 8)
        guard part.count == 8 else { return 0 }
        let low =
            UInt64(part[0]) | UInt64(part[1]) << 8 | UInt64(part[2]) << 16 | UInt64(part[3]) << 24
        let high =
            UInt64(part[4]) | UInt64(part[5]) << 8 | UInt64(part[6]) << 16 | UInt64(part[7]) << 24
        return low | high << 32
    }
}
