/// What the handler of a responder gets: an ask, or a post.
///
/// A post comes when its object is that of the responder, and its name is one of the selectors.
public struct Ask: Equatable, Sendable {
    /// The ask as the broker wrote it.
    public let notification: ReceivedNotification

    /// Its identifier, which stays the same when it comes again.
    public var id: String { notification.id }
    /// What is asked for.
    public var selector: String { notification.name }
    /// The address that was asked.
    public var object: String? { notification.object }
    /// The address whose turn it is: that of this responder.
    public var target: String? { notification.target }
    /// What it carries, or `nil`.
    public var userInfo: UserInfo? { notification.userInfo }
    /// Until when somebody waits for the answer, in RFC 3339; `nil` for a post.
    public var answerBy: String? { notification.answerBy }

    /// Hands the ask on to the `next` of this responder: `return try ask.pass()`.
    ///
    /// - Throws: always.
    public func pass() throws(Pass) -> String {
        throw Pass()
    }

    /// What hands an ask on.
    public struct Pass: Error, Equatable {
        /// Hands on.
        public init() {}
    }
}
