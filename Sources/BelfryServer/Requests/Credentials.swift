public import BelfryAccess
import BelfryCenter
import BelfryLoop
import BelfryTLS
import BelfryWire

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
    let proof: Proof

    /// What is verified.
    enum Proof: Sendable {
        /// A token, whose signature nobody has looked at yet.
        case token(SignedToken)
        /// A ticket that may be in the log of the cluster.
        case ticket(SecretHash)
    }

    init(digest: TokenDigest, _ proof: Proof) {
        self.digest = digest
        self.proof = proof
    }
}

/// What has become of credentials that were not known.
enum Verdict: Sendable {
    /// They are those of this caller.
    case good(Caller)
    /// They were a ticket, which is used up; its caller had shown this.
    case used(shown: [UInt8])
    /// They are not good.
    case bad(AccessError)
    /// Nobody can tell.
    case unknown(Problem)
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
