import BelfryAccess
import BelfrySystem

/// A new key for a caller, and what a key file keeps of it.
public struct GeneratedKey: Sendable {
    /// What the caller shows: 256 random bits behind a prefix that scanners for secrets can find.
    public let token: String
    /// What stands in the key file: `sha256:` and the digest.
    public let hash: String

    /// What each token begins with.
    public static let prefix = "belfry_"

    /// Makes one with random numbers of the system.
    public init() {
        var random = SystemRandom()
        let bytes = Array(Self.prefix.utf8) + random.text(byteCount: 32)
        token = String(decoding: bytes, as: UTF8.self)
        hash = TokenDigest(of: bytes).text
    }
}
