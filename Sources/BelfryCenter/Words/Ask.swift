/// A question to the responder of an address, which answers it once.
public struct Ask: Sendable {
    /// The identifier that it will have.
    public let id: NotificationID
    /// The selector as its name, the address as its object, and userInfo.
    public let content: Notification.Content
    /// The notification whose handling asks this.
    public let causedBy: NotificationID?
    /// The answer when there is no other, as JSON text.
    public let fallback: [UInt8]?
    /// Whether it is never shown to a second responder, nor twice to one (rule R12).
    public let isOnce: Bool
    /// How many nanoseconds it lives.
    public let lifetime: Int64
    /// Nanoseconds until the asker gets a 202; nil when the asker waits for the end of the ask.
    ///
    /// Such an ask outlives its asker, and must last (rule R20).
    public let wait: Int64?
    /// The other wishes of the asker.
    public let options: AskOptions

    /// Joins the parts.
    public init(
        id: NotificationID, content: Notification.Content, causedBy: NotificationID? = nil,
        fallback: [UInt8]? = nil, isOnce: Bool = false, lifetime: Int64, wait: Int64? = nil,
        options: AskOptions = AskOptions()
    ) {
        self.id = id
        self.content = content
        self.causedBy = causedBy
        self.fallback = fallback
        self.isOnce = isOnce
        self.lifetime = lifetime
        self.wait = wait
        self.options = options
    }
}
