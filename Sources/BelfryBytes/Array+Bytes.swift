extension [UInt8] {
    /// Appends the bytes of a span; growing doubles, so that many small pieces are linear in all.
    ///
    /// An `OutputSpan` checks its capacity for each byte, so where they are many the array is
    /// handed all of them at once.
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

    /// Copies the bytes of three spans, one behind the other, into storage that fits.
    @inlinable
    public init(joining first: Span<UInt8>, _ second: Span<UInt8>, _ third: Span<UInt8>) {
        self.init()
        append(addingCapacity: first.count + second.count + third.count) { output in
            output.copy(first)
            output.copy(second)
            output.copy(third)
        }
    }

    /// Copies the bytes of a span.
    @inlinable
    public init(copying bytes: Span<UInt8>) {
        self.init()
        append(bytes)
    }
}

extension OutputSpan<UInt8> {
    /// Appends the bytes of a span, all at once.
    @inlinable @inline(__always)
    @_lifetime(self: copy self)
    mutating func copy(_ bytes: Span<UInt8>) {
        // SAFETY: the part of the buffer that takes the bytes is checked to be within it.
        unsafe withUnsafeMutableBufferPointer { buffer, count in
            unsafe bytes.withUnsafeBufferPointer { bytes in
                _ = unsafe buffer.extracting(count..<count + bytes.count)
                    .initialize(fromContentsOf: bytes)
            }
            count += bytes.count
        }
    }
}
