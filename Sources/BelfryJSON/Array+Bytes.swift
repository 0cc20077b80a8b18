extension Array where Element == UInt8 {
    /// Appends the bytes of `span` that stand in `range`.
    mutating func append(_ range: Range<Int>, of span: Span<UInt8>) {
        append(addingCapacity: range.count) { output in
            for index in range { output.append(span[index]) }
        }
    }
}
