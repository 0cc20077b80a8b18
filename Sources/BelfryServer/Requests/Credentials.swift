public import BelfryAccess
import BelfryCenter
import BelfryLoop
import BelfryTLS
import BelfryWire

/// The valid credentials, and those being verified.
struct Credentials {
    var keyring: Keyring
    /// The callers of recently verified tokens.
    var verdicts = VerdictCache()
    /// The connections that wait for a verdict, by the digest of their token.
    var waiting: [TokenDigest: [ConnectionID]] = [:]

    init(_ keyring: Keyring?) {
        self.keyring = keyring ?? Keyring()
    }
}

/// Credentials that must be verified before the caller is known.
///
/// It is a class, so that an exchange without credentials is no larger.
final class UnverifiedCredentials: Sendable {
    let digest: TokenDigest
    let proof: Proof

    /// The proof to verify.
    enum Proof: Sendable {
        /// A token with an unverified signature.
        case token(SignedToken)
        /// A ticket that may be in the log of the cluster.
        case ticket(SecretHash)
    }

    init(digest: TokenDigest, _ proof: Proof) {
        self.digest = digest
        self.proof = proof
    }
}

/// The result of verifying unknown credentials.
enum Verdict: Sendable {
    /// The credentials are those of this caller.
    case good(Caller)
    /// The credentials were a ticket, now used up; its caller had shown this.
    case used(shown: [UInt8])
    /// The credentials are not valid.
    case bad(AccessError)
    /// The validity cannot be decided.
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
