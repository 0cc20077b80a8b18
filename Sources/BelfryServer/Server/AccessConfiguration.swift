public import BelfryAccess

/// Where the keys of callers are, and what their tokens must say (Access.md sections 4 and 5).
public struct AccessConfiguration: Sendable, Equatable {
    /// The file of keys; nil is none.
    public var keysPath: String?
    /// The file of a JSON Web Key Set; nil is none.
    public var keySetPath: String?
    /// What a token must say besides being signed.
    public var rules = TokenRules()

    /// Takes the defaults.
    public init() {}

    /// Whether callers can have keys at all.
    public var hasFiles: Bool { keysPath != nil || keySetPath != nil }
}

extension Caller {
    /// Callers without credentials, as a configuration sees them.
    convenience init(_ configuration: ServerConfiguration) {
        self.init(
            anonymous: configuration.effectiveAnonymousGrants,
            mayAuthenticate: !(configuration.keyring?.isEmpty ?? true))
    }
}

extension HostPolicy {
    /// The policy that a configuration asks for.
    ///
    /// A page behind a rebound name has no credentials: where such callers may do nothing, any name
    /// is as good as another, unless the operator has named some.
    init(_ configuration: ServerConfiguration) {
        let takesAnonymous =
            configuration.keyring?.isEmpty ?? true
            || !configuration.effectiveAnonymousGrants.isEmpty
        let isOpen = !takesAnonymous && configuration.allowedHosts.isEmpty
        self.init(allowed: isOpen ? ["*"] : configuration.allowedHosts)
    }
}
