import BelfryCenter
import BelfrySystem
import BelfryTLS
import BelfryWebSocket

extension SecretHash {
    /// The hash of a secret: the first 128 bits of its SHA-256.
    init(of secret: [UInt8]) {
        let words = Digest.start(of: secret.span)
        self.init(high: words.high, low: words.low)
    }
}

extension SystemRandom {
    /// Random text for a secret: base64url of `byteCount` random bytes (RFC 4648 §5).
    mutating func text(byteCount: Int) -> [UInt8] {
        let bytes = bytes(count: byteCount)
        return Base64.url.encode(bytes.span)
    }
}

extension SystemRandom {
    /// Random digits 0-9 and a-f: an epoch, which must have no hyphen.
    mutating func hexadecimal(digitCount: Int) -> [UInt8] {
        let digits = Array("0123456789abcdef".utf8)
        return (0..<digitCount).map { _ in digits[Int(next() % 16)] }
    }
}
