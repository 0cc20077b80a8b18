import BelfryAccess
import BelfrySystem

/// A new key for a caller, and its hash for a key file.
public struct GeneratedKey: Sendable {
    /// The caller's secret: 256 random bits behind a prefix that scanners for secrets can find.
    public let token: String
    /// The text for the key file: `sha256:` and the digest.
    public let hash: String

    /// The prefix of each token.
    public static let prefix = "belfry_"

    /// Makes a key with random numbers of the system.
    public init() {
        var random = SystemRandom()
        let bytes = Array(Self.prefix.utf8) + random.text(byteCount: 32)
        token = String(decoding: bytes, as: UTF8.self)
        hash = TokenDigest(of: bytes).text
    }
}
