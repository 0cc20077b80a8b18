/// Where the whole records end in bytes that begin with a record (RFC 8446 §5.1, RFC 5246 §6.2).
///
/// libssl is given whole records alone: for the part of one it would keep buffers of 33 KiB.
struct RecordBounds: Equatable {
    /// One past the last byte that libssl is given.
    let end: Int
    /// Whether something is not a record: libssl is given all of it, and must refuse it at once.
    let isBroken: Bool

    private static let headerByteCount = 5
    /// The kinds of records: change_cipher_spec, alert, handshake, application_data.
    private static let kinds: ClosedRange<UInt8> = 20...23
    /// The longest record of any version.
    private static let longestByteCount = (16 << 10) + 2_048

    init(of bytes: Span<UInt8>, from start: Int) {
        var end = start
        while bytes.count - end >= Self.headerByteCount {
            let count = Int(bytes[end + 3]) << 8 | Int(bytes[end + 4])
            guard Self.kinds.contains(bytes[end]), count <= Self.longestByteCount else {
                (self.end, isBroken) = (bytes.count, true)
                return
            }
            guard bytes.count - end - Self.headerByteCount >= count else { break }
            end += Self.headerByteCount + count
        }
        (self.end, isBroken) = (end, false)
    }
}
