/// One notification on its way to one observer.
///
/// A post makes one for each of its observers, so its parts are in the order that takes 32 bytes.
public struct Delivery: Sendable, Equatable {
    /// The connection that it goes to.
    public let connection: ConnectionName
    /// Its position in ``Effects/notifications``.
    public let notification: UInt32
    /// The serial number of the observer.
    public let observer: UInt64
    /// The number of the selector: equal numbers, equal frames.
    ///
    /// ``NotificationCenter/selector(_:)`` has the text.
    public let selector: UInt32
    /// How the client gets it.
    public let transport: Transport
    /// The form of the frame.
    public let form: Form
    /// Whether it may have been delivered before.
    public let isRedelivered: Bool

    /// The form of the frame of a delivery.
    public enum Form: UInt8, Sendable {
        /// A frame without an observer: one frame serves all observers of a selector.
        case shared
        /// A request that its observer answers.
        case acknowledged
        /// A frame with its observer that is not answered: a stream of a mailbox.
        case named
        /// An ask: a request that its responder answers.
        ///
        /// In a stream it is an element that is answered by another request.
        case ask
        /// An action: a call of the method of the observer that has the target.
        case action
        /// An action that its responder answers.
        case acknowledgedAction
        /// A change of a value: one frame serves all observers of a place that ask for the same.
        ///
        /// They have the same selector, too. In a stream of a mailbox the frame names its observer.
        case change

        /// Whether it went to an address: the effects have the additional members of its frame.
        public var isAddressed: Bool {
            self == .ask || self == .action || self == .acknowledgedAction
        }
    }
}
