extension [UInt8] {
    /// Appends the bytes of a span; growing doubles, so that many small pieces are linear in all.
    ///
    /// An `OutputSpan` checks its capacity for each byte: where they are many it is filled first, and
    /// then the loop becomes wide moves.
    public mutating func append(_ bytes: Span<UInt8>) {
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

    /// Copies the bytes of a span.
    public init(copying bytes: Span<UInt8>) {
        self.init()
        append(bytes)
    }
}
