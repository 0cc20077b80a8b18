extension Span<UInt8> {
    /// Eight bytes from `index` on, the first one lowest; 0 when fewer are left.
    ///
    /// Compiles to one load: the checks fold into those of a caller that has checked the count.
    @inlinable @inline(__always)
    public func word(at index: Int) -> UInt64 {
        guard index >= 0, count &- index >= 8 else { return 0 }
        // SAFETY: the place is not negative, and eight bytes are left there.
        let word = unsafe bytes.unsafeLoadUnaligned(
            fromUncheckedByteOffset: index, as: UInt64.self)
        return UInt64(littleEndian: word)
    }

    /// A number of these bytes by FNV-1a, which is the same in each process.
    ///
    /// A client that chooses the bytes can choose their number as well.
    @inlinable @inline(__always)
    public var fnv1a: UInt64 {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for index in indices { hash = (hash ^ UInt64(self[index])) &* 0x100_0000_01b3 }
        return hash
    }

    /// Whether it begins with these bytes.
    @inlinable
    public func begins(with prefix: Span<UInt8>) -> Bool {
        count >= prefix.count && bytesAreEqual(extracting(0..<prefix.count), prefix)
    }

    /// The byte at `index`; 0 where there is none.
    @inlinable @inline(__always)
    public func byte(at index: Int) -> UInt8 {
        // One comparison for both ends.
        guard UInt(bitPattern: index) < UInt(bitPattern: count) else { return 0 }
        // SAFETY: the place is below the count, and not negative.
        return unsafe self[unchecked: index]
    }
}

extension MutableSpan<UInt8> {
    /// Writes the eight bytes of a word, the lowest one first, which must be there from `index` on.
    @inlinable @inline(__always)
    @_lifetime(self: copy self)
    public mutating func write(_ word: UInt64, at index: Int) {
        precondition(index >= 0 && count &- index >= 8, "eight bytes are there")
        // SAFETY: the place is not negative, and eight bytes are left there.
        unsafe withUnsafeMutableBytes { bytes in
            unsafe bytes.storeBytes(of: word.littleEndian, toByteOffset: index, as: UInt64.self)
        }
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
