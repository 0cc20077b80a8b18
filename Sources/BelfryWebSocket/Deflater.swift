/// Compresses messages, each by itself, so that one compressed message serves many connections
/// (RFC 7692 §7.1.1.1, §7.2.1).
///
/// One deflater serves all connections of a thread that have agreed on its window.
public final class Deflater {
    private let stream: DeflateStream

    /// The window sizes that a server agrees to, as powers of two, the largest first.
    ///
    /// A client that limits the window gets the next smaller one: so a message is compressed three
    /// times at most, whatever its observers ask for. zlib has no window of 8 bits, and takes 9 in
    /// silence where it is asked for one.
    public static let windowBitCounts = [15, 12, 9]

    /// A deflater whose window has 2 to the power of `windowBitCount` bytes, from 9 to 15.
    public init(windowBitCount: Int = 15) {
        stream = DeflateStream(.message(windowBitCount: windowBitCount))
    }

    /// Appends the compressed payload if it is smaller than the payload; otherwise nothing.
    ///
    /// - Returns: whether it was appended.
    public func append(_ payload: Span<UInt8>, to buffer: inout [UInt8]) -> Bool {
        // A flush ends with the four bytes that are not sent (§7.2.1).
        guard stream.append(payload, room: payload.count + Inflater.tail.count, to: &buffer) else {
            return false
        }
        buffer.removeLast(Inflater.tail.count)
        return true
    }
}
