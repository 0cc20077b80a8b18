extension [UInt8] {
    /// Appends the bytes of a span; growing doubles, so that many small pieces are linear in all.
    ///
    /// An `OutputSpan` checks its capacity for each byte, so where they are many the array is handed all of
    /// them at once.
    @inlinable
    public mutating func append(_ bytes: Span<UInt8>) {
        // Adding nothing to an empty array would write the count of the one that all share.
        guard !bytes.isEmpty else { return }
        guard bytes.count > 4 else {
            append(addingCapacity: bytes.count) { output in
                for index in bytes.indices { output.append(bytes[index]) }
            }
            return
        }
        // SAFETY: the array copies exactly the bytes of the span, which outlives the call.
        unsafe bytes.withUnsafeBufferPointer { unsafe append(contentsOf: $0) }
    }

    /// Copies the bytes of a span.
    @inlinable
    public init(copying bytes: Span<UInt8>) {
        self.init()
        append(bytes)
    }
}
