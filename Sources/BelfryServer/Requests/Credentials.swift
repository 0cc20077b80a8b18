public import BelfryAccess
import BelfryLoop
import BelfryTLS

/// What credentials are good, and which of them are not known yet.
struct Credentials {
    var keyring: Keyring
    /// The callers of tokens that were verified lately.
    var verdicts = VerdictCache()
    /// The connections that wait for a verdict, by the digest of their token.
    var waiting: [TokenDigest: [ConnectionID]] = [:]

    init(_ keyring: Keyring?) {
        self.keyring = keyring ?? Keyring()
    }
}

/// Credentials that must be verified before it is known who asks.
///
/// One reference, so that an exchange without any is no larger for them.
final class UnverifiedCredentials: Sendable {
    let digest: TokenDigest
    let token: SignedToken

    init(digest: TokenDigest, token: SignedToken) {
        self.digest = digest
        self.token = token
    }
}

extension TokenDigest {
    /// The digest of a secret.
    public init(of secret: [UInt8]) {
        guard let digest = TokenDigest(Digest(of: secret.span).bytes) else {
            preconditionFailure("a SHA-256 has 32 bytes")
        }
        self = digest
    }
}
