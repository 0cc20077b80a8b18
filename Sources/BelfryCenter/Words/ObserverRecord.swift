/// The stored record of an observer.
public struct ObserverRecord: Sendable, Equatable {
    /// Its number.
    public let serial: UInt64
    /// The number of its client.
    public let client: UInt64
    /// The hash of the secret half of its token.
    public let tokenHash: SecretHash
    /// The notification name of its filter; nil is any.
    public let name: [UInt8]?
    /// The object of its filter; nil is any.
    public let object: [UInt8]?
    /// The method that its client is called with.
    public let selector: [UInt8]
    /// The terms under which it is treated.
    public let terms: ObserverTerms
    /// Its role.
    public let role: ObserverRole
    /// The sequence number above which it gets notifications.
    public let since: UInt64
    /// When it was registered, in milliseconds since 1970.
    public let createdAt: Int64
    /// The number up to which everything was acknowledged; more than 0 only for a mailbox.
    public let acknowledgedThrough: UInt64
    /// The number up to which shown notifications of a mailbox may be gone.
    public let forgottenThrough: UInt64
    /// The number above which it reads what archives keep; nil for an observer that does not.
    public let readsAbove: UInt64?

    /// Joins the parts.
    public init(
        serial: UInt64, client: UInt64, tokenHash: SecretHash, name: [UInt8]?, object: [UInt8]?,
        selector: [UInt8], terms: ObserverTerms, since: UInt64, createdAt: Int64,
        acknowledgedThrough: UInt64, forgottenThrough: UInt64, role: ObserverRole = .plain,
        readsAbove: UInt64? = nil
    ) {
        self.serial = serial
        self.client = client
        self.tokenHash = tokenHash
        self.name = name
        self.object = object
        self.selector = selector
        self.terms = terms
        self.role = role
        self.since = since
        self.createdAt = createdAt
        self.acknowledgedThrough = acknowledgedThrough
        self.forgottenThrough = forgottenThrough
        self.readsAbove = readsAbove
    }
}
