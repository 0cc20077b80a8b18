extension Span<UInt8> {
    /// Eight bytes from `index` on, the first one lowest; 0 when fewer are left.
    ///
    /// Compiles to one load: the checks fold into the one of the count.
    @inlinable @inline(__always)
    public func word(at index: Int) -> UInt64 {
        let part = extracting(droppingFirst: index).extracting(first: 8)
        guard part.count == 8 else { return 0 }
        let low =
            UInt64(part[0]) | UInt64(part[1]) << 8 | UInt64(part[2]) << 16 | UInt64(part[3]) << 24
        let high =
            UInt64(part[4]) | UInt64(part[5]) << 8 | UInt64(part[6]) << 16 | UInt64(part[7]) << 24
        return low | high << 32
    }
}

/// Whether two spans hold the same bytes.
@inlinable
public func bytesAreEqual(_ left: Span<UInt8>, _ right: Span<UInt8>) -> Bool {
    guard left.count == right.count else { return false }
    var index = 0
    while left.count &- index >= 8 {
        if left.word(at: index) != right.word(at: index) { return false }
        index &+= 8
    }
    if index > 0 {
        // The last eight bytes, some of which were compared before.
        return left.word(at: left.count - 8) == right.word(at: right.count - 8)
    }
    while index < left.count {
        if left[index] != right[index] { return false }
        index &+= 1
    }
    return true
}
