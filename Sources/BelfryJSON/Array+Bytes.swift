extension Array where Element == UInt8 {
    /// Appends the bytes of `span` that stand in `range`.
    mutating func append(_ range: Range<Int>, of span: Span<UInt8>) {
        append(addingCapacity: range.count) { output in
            for index in range { output.append(span[index]) }
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
