/// The key of an opening handshake and the answer to it (RFC 6455 §4.1, §4.2.2).
enum OpeningKey {
    /// 16 bytes in base 64.
    static let byteCount = 24

    private static let guid = Array("258EAFA5-E914-47DA-95CA-C5AB0DC85B11".utf8)

    /// Whether `key` is the base 64 form of 16 bytes (RFC 6455 §4.2.1).
    static func isValid(_ key: Span<UInt8>) -> Bool {
        guard key.count == byteCount, key[22] == UInt8(ascii: "="), key[23] == UInt8(ascii: "=")
        else { return false }
        var last: UInt8 = 0
        for index in 0..<22 {
            guard let digit = Base64.standard.digit(key[index]) else { return false }
            last = digit
        }
        // The last digit has two bits of the key; the rest of it is zero (RFC 4648 §3.5).
        return last & 0x0F == 0
    }

    /// The value of Sec-WebSocket-Accept that answers `key`, which is valid.
    static func accept(for key: Span<UInt8>) -> [UInt8] {
        precondition(key.count == byteCount, "a key has 24 characters")
        var text = [60 of UInt8](repeating: 0)
        for index in key.indices { text[index] = key[index] }
        for index in guid.indices { text[byteCount + index] = guid[index] }
        return Base64.standard.encode(SHA1.digest(of: text.span).span)
    }
}
