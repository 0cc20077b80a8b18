public import BelfryJSON

/// A write to the value of an object, without the new value.
public struct ValueWrite: Sendable {
    /// The identifier of the change, if the write makes one.
    public let id: NotificationID
    /// The object.
    public let object: [UInt8]
    /// The place in its value.
    public let path: DocumentPath
    /// The condition on the present value.
    public var condition = ValueCondition()
    /// The client that writes over its own connection (rule V7); nil for a write over HTTP.
    public var client: UInt64?
    /// The owner that the value counts for from now on.
    public var owner = Owner.none
    /// Whether stored changes are possible now.
    public var canStore = true
    /// Bytes by which the values of the whole broker may still grow.
    public var byteRoom = Int.max

    /// Joins the parts that every write has.
    public init(id: NotificationID, object: [UInt8], path: DocumentPath) {
        self.id = id
        self.object = object
        self.path = path
    }
}

/// The lifetime of a written value (rules V16 and V17).
public struct ValueLifetime: Sendable, Equatable {
    /// Nanoseconds from its last setting; nil is forever.
    public var timeToLive: Int64?
    /// Nanoseconds that it outlives the connection of the client that wrote it; nil is forever.
    public var lease: Int64?

    /// Makes a lifetime, by default an unlimited one.
    public init(timeToLive: Int64? = nil, lease: Int64? = nil) {
        self.timeToLive = timeToLive
        self.lease = lease
    }

    /// Whether it is limited.
    public var isLimited: Bool { timeToLive != nil || lease != nil }
}
