/// The key of an opening handshake and the answer to it (RFC 6455 §4.1, §4.2.2).
enum OpeningKey {
    private static let guid = Array("258EAFA5-E914-47DA-95CA-C5AB0DC85B11".utf8)

    /// Whether `key` is the base 64 form of 16 bytes (RFC 6455 §4.2.1).
    static func isValid(_ key: [UInt8]) -> Bool {
        // 16 bytes are 24 characters; the count keeps a long field from being decoded at all.
        key.count == 24 && Base64.standard.decode(key.span)?.count == 16
    }

    /// The value of Sec-WebSocket-Accept that answers `key`.
    static func accept(for key: [UInt8]) -> [UInt8] {
        Base64.standard.encode(SHA1.digest(of: key + guid).span)
    }
}
