/// A call of the handler of a responder: an ask, an action, or a post.
///
/// An action comes from an observer that has the address of the responder as its target. A post
/// comes when its object is that of the responder, and its name is one of the selectors.
public struct Ask: Equatable, Sendable {
    /// The ask as the broker wrote it; of an action what the observer was to get.
    public let notification: ReceivedNotification

    /// Its identifier, which stays the same when it comes again.
    public var id: String { notification.id }
    /// The selector of the responder that is called.
    public var selector: String { notification.selector ?? notification.name }
    /// The selector, or the name of the notification that has made an action.
    public var name: String { notification.name }
    /// The address that was asked, or the sender of the notification that has made an action.
    public var object: String? { notification.object }
    /// The address whose turn it is: that of this responder; `nil` for a post.
    public var target: String? { notification.target }
    /// The `userInfo`, or `nil`.
    public var userInfo: UserInfo? { notification.userInfo }
    /// The time until which the asker waits, in RFC 3339; `nil` for an action and a post.
    public var answerBy: String? { notification.answerBy }

    /// Whether the handler's result is sent: always for an ask, else if the observer acknowledges.
    public var isAnswered: Bool { notification.call != nil }

    /// Hands the ask on to the `next` of this responder: `return try ask.pass()`.
    ///
    /// - Throws: always.
    public func pass() throws(Pass) -> String {
        throw Pass()
    }

    /// The error that passes an ask to the next responder.
    public struct Pass: Error, Equatable {
        /// Hands on.
        public init() {}
    }
}
