public import BelfryAccess

/// The files with the callers' keys, and the rules for their tokens (Access.md sections 4 and 5).
public struct AccessConfiguration: Sendable, Equatable {
    /// The file of keys; nil is none.
    public var keysPath: String?
    /// The file of a JSON Web Key Set; nil is none.
    public var keySetPath: String?
    /// The claims that a token must have besides a valid signature.
    public var rules = TokenRules()

    /// Takes the defaults.
    public init() {}

    /// Whether callers can have keys at all.
    public var hasFiles: Bool { keysPath != nil || keySetPath != nil }
}

/// Callers without credentials, as a configuration sees them.
struct AnonymousCallers {
    /// Callers with the grants given to all, or none; also those whose locality is not checked yet.
    let anyone: Caller
    /// Callers that were found to be local.
    let local: Caller
    /// Whether local callers have more grants than others.
    let differ: Bool

    init(_ configuration: ServerConfiguration) {
        let mayAuthenticate = !(configuration.keyring?.isEmpty ?? true)
        differ = configuration.favorsLocalCallers
        anyone = Caller(
            anonymous: configuration.anonymousGrants ?? .none, mayAuthenticate: mayAuthenticate,
            isStranger: differ)
        local =
            differ
            ? Caller(anonymous: .loopbackDefault, mayAuthenticate: mayAuthenticate) : anyone
    }

    /// The one of both that a caller is.
    @inline(__always)
    subscript(isLocal isLocal: Bool) -> Caller { isLocal ? local : anyone }
}

extension HostPolicy {
    /// The policy that a configuration asks for.
    ///
    /// A page behind a rebound name has no credentials: where such callers may do nothing, any name
    /// is as good as another, unless the operator has named some.
    init(_ configuration: ServerConfiguration) {
        let takesAnonymous =
            configuration.keyring?.isEmpty ?? true
            || configuration.favorsLocalCallers
            || !(configuration.anonymousGrants ?? .none).isEmpty
        let isOpen = !takesAnonymous && configuration.allowedHosts.isEmpty
        self.init(allowed: isOpen ? ["*"] : configuration.allowedHosts)
    }
}
