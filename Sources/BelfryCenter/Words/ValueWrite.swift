public import BelfryJSON

/// A write to the value of an object: where, by whom, and if what.
public struct ValueWrite: Sendable {
    /// The identifier of the change, should there be one.
    public let id: NotificationID
    /// The object.
    public let object: [UInt8]
    /// The place in its value.
    public let path: DocumentPath
    /// What must be there.
    public var condition = ValueCondition()
    /// The client that writes over its own connection (rule V7); nil for a writer over HTTP.
    public var client: UInt64?
    /// The owner that the value counts for from now on.
    public var owner = Owner.none
    /// Whether what must last can be stored now.
    public var canStore = true
    /// By how many bytes all values of the broker together may still grow.
    public var byteRoom = Int.max

    /// Joins the parts that each write has.
    public init(id: NotificationID, object: [UInt8], path: DocumentPath) {
        self.id = id
        self.object = object
        self.path = path
    }
}

/// How long what is written at a place lasts (rules V16 and V17).
public struct ValueLifetime: Sendable, Equatable {
    /// Nanoseconds from its last setting; nil is for ever.
    public var timeToLive: Int64?
    /// Nanoseconds that it outlives the connection of the client that wrote it; nil is for ever.
    public var lease: Int64?

    /// Lasts for ever.
    public init(timeToLive: Int64? = nil, lease: Int64? = nil) {
        self.timeToLive = timeToLive
        self.lease = lease
    }

    /// Whether it ends some time.
    public var isLimited: Bool { timeToLive != nil || lease != nil }
}
