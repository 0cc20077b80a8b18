import BelfryCenter
import BelfrySystem
import BelfryTLS
import BelfryWebSocket

extension SecretHash {
    /// The hash of a secret: the first 128 bits of its SHA-256.
    init(of secret: [UInt8]) {
        let digest = Digest(of: secret.span).bytes
        var words: (UInt64, UInt64) = (0, 0)
        for index in 0..<8 {
            words.0 = words.0 << 8 | UInt64(digest[index])
            words.1 = words.1 << 8 | UInt64(digest[index + 8])
        }
        self.init(high: words.0, low: words.1)
    }
}

extension SystemRandom {
    /// Random text for a secret: base64url of so many random bytes (RFC 4648 §5).
    mutating func text(byteCount: Int) -> [UInt8] {
        var bytes: [UInt8] = []
        while bytes.count < byteCount { bytes.append(UInt8(truncatingIfNeeded: next())) }
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
