extension [UInt8] {
    /// Appends a text of the program, which needs no array of its own.
    @inlinable
    public mutating func append(literal text: StaticString) {
        // SAFETY: a literal lives as long as the process, and is as long as it says.
        unsafe append(
            contentsOf: UnsafeBufferPointer(
                start: text.utf8Start, count: text.utf8CodeUnitCount))
    }
}
