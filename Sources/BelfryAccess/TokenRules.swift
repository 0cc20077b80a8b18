/// The requirements for a signed token besides its signature (RFC 7519 §4.1).
public struct TokenRules: Sendable, Equatable {
    /// Names of this broker; a token must be for one of them if there are any.
    ///
    /// A token that names an audience is refused where there are none (RFC 7519 §4.1.3).
    public var audiences: [String] = []
    /// The accepted issuers; empty accepts any issuer that has the key.
    public var issuers: [String] = []
    /// How far the issuer's clock may be ahead, for `nbf` alone; the default is 2 s.
    public var leeway: Duration = .seconds(2)

    /// Takes the defaults.
    public init() {}
}
