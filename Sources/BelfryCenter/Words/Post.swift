/// One notification from a poster.
public struct Post: Sendable, Equatable {
    /// The identifier that it will have.
    public let id: NotificationID
    /// Name, object and userInfo.
    public let content: Notification.Content
    /// The notification whose handling posts this one (rule C12).
    public let causedBy: NotificationID?
    /// The options of the post; nil for a plain post without options, which nearly all are.
    public let options: PostOptions?

    /// Joins the parts.
    public init(
        id: NotificationID, content: Notification.Content, causedBy: NotificationID? = nil,
        options: PostOptions? = nil
    ) {
        self.id = id
        self.content = content
        self.causedBy = causedBy
        self.options = options
    }
}
