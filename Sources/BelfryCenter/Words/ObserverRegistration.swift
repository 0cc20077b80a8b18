/// An observer that a client registers.
public struct ObserverRegistration: Sendable {
    /// Its number, above all that were registered before; `o17` has 17.
    ///
    /// It has none before the command is applied.
    public var serial: UInt64
    /// The hash of the secret half of its token.
    public let tokenHash: SecretHash
    /// The notification name that must match; nil is any (rule C2).
    public let name: [UInt8]?
    /// The object that must match; nil is any.
    public let object: [UInt8]?
    /// The method that the client is called with.
    public let selector: [UInt8]
    /// The terms under which it is treated, and its lifetime.
    public let terms: ObserverTerms
    /// Its role; a responder has a nil name and an empty selector.
    public let role: ObserverRole
    /// The place in the past at which it begins, if that is no sequence number.
    public var beginning: PastBeginning?
    /// Whether a batch of calls has it, behind whose answers come the frames that it brings.
    public var followsAnswers = false

    /// Joins the parts.
    public init(
        serial: UInt64 = 0, tokenHash: SecretHash, name: [UInt8]?, object: [UInt8]?,
        selector: [UInt8], terms: ObserverTerms = ObserverTerms(), role: ObserverRole = .plain
    ) {
        self.serial = serial
        self.tokenHash = tokenHash
        self.name = name
        self.object = object
        self.selector = selector
        self.terms = terms
        self.role = role
    }
}
