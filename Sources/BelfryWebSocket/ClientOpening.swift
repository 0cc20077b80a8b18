/// The client's part of an opening handshake: the key by which it knows its answer again.
public struct ClientOpening: Equatable, Sendable {
    /// The value of Sec-WebSocket-Key, 24 characters (RFC 6455 §4.1).
    public let key: [UInt8]

    /// An opening with these random bytes, which must be new for each connection.
    public init(nonce: [16 of UInt8]) {
        key = Base64.standard.encode(nonce.span)
    }

    /// An opening with random bytes from a generator.
    public init(using generator: inout some RandomNumberGenerator) {
        var nonce = [16 of UInt8](repeating: 0)
        for index in nonce.indices {
            nonce[index] = UInt8.random(in: .min ... .max, using: &generator)
        }
        self.init(nonce: nonce)
    }
}
