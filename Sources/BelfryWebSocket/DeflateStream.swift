import CZlib

/// A stream of zlib that deflates one input after the other, each by itself.
///
/// It costs 263 KiB with a window of 15 bits, so one serves many connections.
@safe final class DeflateStream {
    /// How the output is wrapped.
    enum Format {
        /// Bare deflate that ends at a byte, and not with a last block (RFC 7692 §7.2.1).
        case message(windowBitCount: Int)
        /// One member of gzip (RFC 1952).
        case gzip
    }

    private let stream: UnsafeMutablePointer<z_stream>
    private let flush: Int32

    init(_ format: Format) {
        let (level, windowBits, memoryLevel): (Int32, Int32, Int32)
        switch format {
        case .message(let windowBitCount):
            precondition(9...15 ~= windowBitCount, "zlib has no bare deflate of this window")
            // Level 3 makes JSON of 1 KiB as small as level 6 does, and large messages in half the
            // time. A small window slides often, and with a large table of hashes slowly.
            (level, windowBits) = (3, -Int32(windowBitCount))
            memoryLevel = Int32(windowBitCount) - 7
            flush = Z_SYNC_FLUSH
        case .gzip:
            (level, windowBits, memoryLevel) = (6, 16 + MAX_WBITS, 8)
            flush = Z_FINISH
        }
        // SAFETY: the stream is used by this object alone, and freed in deinit.
        guard let stream = unsafe belfry_deflate_make(level, windowBits, memoryLevel) else {
            preconditionFailure("there is no memory for a deflater")
        }
        unsafe self.stream = stream
    }

    deinit {
        // SAFETY: nothing else holds the stream.
        unsafe belfry_deflate_free(stream)
    }

    /// Appends the deflated input if that takes less than `room` bytes; otherwise nothing.
    func append(_ input: Span<UInt8>, room: Int, to output: inout [UInt8]) -> Bool {
        // One step takes up to a gibibyte; larger inputs than any message stay as they are.
        guard room > 0, input.count < 1 << 30 else { return false }
        // SAFETY: the stream lives as long as `self`, which is used below.
        let stream = unsafe stream
        let flush = flush
        let start = output.count
        output.append(addingCapacity: room) { span in
            // SAFETY: zlib writes at most `room` bytes, and the span has room for that many; it
            // reads the input during the call only.
            unsafe span.withUnsafeMutableBufferPointer { free, count in
                guard let target = free.baseAddress else { return }
                unsafe deflateReset(stream)
                let step = unsafe input.withUnsafeBufferPointer { bytes in
                    unsafe belfry_deflate(
                        stream, flush, bytes.baseAddress, bytes.count, target + count, room)
                }
                count += step.output_count
            }
        }
        // A full buffer means that there is more, and a result as long as the room is not wanted
        // either.
        if output.count - start < room { return true }
        output.removeLast(output.count - start)
        return false
    }
}
