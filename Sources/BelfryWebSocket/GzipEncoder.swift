/// Compresses the content of HTTP responses with gzip (RFC 1952, RFC 9110 §8.4.1.3).
///
/// It is in this room because zlib belongs to it.
public final class GzipEncoder {
    private let stream = DeflateStream(.gzip)

    /// An encoder, which may serve one response after the other.
    public init() {}

    /// The encoded content, or `nil` when it is not smaller.
    public func encode(_ content: Span<UInt8>) -> [UInt8]? {
        var encoded: [UInt8] = []
        return stream.append(content, room: content.count, to: &encoded) ? encoded : nil
    }
}
