/// One notification on its way to one observer.
///
/// A post makes one for each of its observers, so the order of its parts is that in which they take 32 bytes.
public struct Delivery: Sendable, Equatable {
    /// The connection that it goes to.
    public let connection: ConnectionName
    /// Which of ``Effects/notifications`` it is.
    public let notification: UInt32
    /// The serial number of the observer.
    public let observer: UInt64
    /// The selector, whose text ``NotificationCenter/selector(_:)`` has: equal numbers, equal frames.
    public let selector: UInt32
    /// How the client gets it.
    public let transport: Transport
    /// What the frame is.
    public let form: Form
    /// Whether it may have been delivered before.
    public let isRedelivered: Bool

    /// What the frame of a delivery is.
    public enum Form: UInt8, Sendable {
        /// It names no observer: one frame serves all observers of a selector.
        case shared
        /// A request that its observer answers.
        case acknowledged
        /// It names its observer, and is not answered: a stream of a mailbox.
        case named
        /// An ask: a request that its responder answers, in a stream an element that is answered otherwise.
        case ask
        /// An action: it calls the method of the observer that has the target.
        case action
        /// An action that its responder answers.
        case acknowledgedAction
        /// A change of a value: one frame serves all observers of a place and a selector who ask for the same; in a
        /// stream of a mailbox it names its observer.
        case change

        /// Whether it went to an address: the effects have what its frame has besides.
        public var isAddressed: Bool {
            self == .ask || self == .action || self == .acknowledgedAction
        }
    }
}
