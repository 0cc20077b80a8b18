/// An observer as a listing shows it.
public struct ObserverRow: Sendable, Equatable {
    /// Its number; `o17` has 17.
    public let serial: UInt64
    /// The number of its client.
    public let client: UInt64
    /// How its client gets its notifications.
    public let transport: Transport
    /// The notification name of its filter; nil is any.
    public let name: [UInt8]?
    /// The object of its filter; nil is any.
    public let object: [UInt8]?
    /// The method that its client is called with.
    public let selector: [UInt8]
    /// The terms under which it is treated.
    public let terms: ObserverTerms
    /// The sequence number above which it gets notifications (rule C10).
    public let since: UInt64
    /// When it was registered, in milliseconds since 1970.
    public let createdAt: Int64
    /// The state of its client.
    public let state: ClientState
    /// The start of the present state of its client.
    public let stateSince: Int64
    /// The principal of its client.
    public let principal: [UInt8]
    /// The counts of its notifications.
    public let tally: ObserverTally
    /// Notifications that are held for it now.
    public let held: Int
    /// The hash of the secret half of its token.
    public let tokenHash: SecretHash
    /// Its role; the selector of a responder is empty, as its methods are the names.
    public var role = ObserverRole.plain
    /// The end of its lease, in milliseconds since 1970; nil while it does not run.
    ///
    /// It runs while the client is disconnected, or while the mailbox has no reader.
    public var leaseEndsAt: Int64?
    /// The last losses that were reported to it, the oldest first.
    public var toldGaps: [ToldGap] = []

    /// The names and objects that it can match.
    public var reach: FilterReach {
        FilterReach(name: name, object: object, terms: role.filter)
    }

    /// Its number as a text.
    var idText: [UInt8] { Array("o\(serial)".utf8) }

    /// The bytes of its texts.
    var textByteCount: Int {
        (name?.count ?? 0) + (object?.count ?? 0) + selector.count + principal.count
            + role.byteCount
    }
}
