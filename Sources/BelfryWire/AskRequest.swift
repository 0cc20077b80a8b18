public import BelfryCenter

/// A question to the responder of an address.
public struct AskRequest: Sendable, Equatable {
    /// The selector as its name, the address as its object, and userInfo.
    public var content: Notification.Content
    /// The notification whose handling asks this.
    public var causedBy: NotificationID?
    /// The answer when there is no other, as JSON text.
    public var fallback: [UInt8]?
    /// Whether it is never shown to a second responder, nor twice to one (rule R12).
    public var isOnce: Bool
    /// How many nanoseconds it lives; nil when the asker does not say.
    ///
    /// Over JSON-RPC it tells that the asker does not wait for the end; over HTTP it needs
    /// `respond-async`.
    public var timeToLive: Int64?
    /// How many seconds the asker of a call waits at most; nil when it does not say.
    public var waitSeconds: Double?
    /// The name under which the answer to a call is found again.
    public var idempotencyKey: [UInt8]?
    /// The other wishes of the asker.
    public var options: AskOptions

    /// Joins the parts.
    public init(
        content: Notification.Content, causedBy: NotificationID? = nil, fallback: [UInt8]? = nil,
        isOnce: Bool = false, timeToLive: Int64? = nil, waitSeconds: Double? = nil,
        idempotencyKey: [UInt8]? = nil, options: AskOptions = AskOptions()
    ) {
        self.content = content
        self.causedBy = causedBy
        self.fallback = fallback
        self.isOnce = isOnce
        self.timeToLive = timeToLive
        self.waitSeconds = waitSeconds
        self.idempotencyKey = idempotencyKey
        self.options = options
    }
}
