import BelfryCenter
import BelfryLoop

/// An instruction for a connection of this loop about its output.
struct OutboxItem: Sendable {
    let connection: ConnectionNumber
    let content: Content

    /// The kind of output.
    enum Content: Sendable {
        /// Frames for a row of observers, each of which may be removed before they are written: its
        /// places among the connections. Such an item has no connection of its own.
        case deliveries(Range<Int>)
        /// Another message to a client.
        case notice
        /// The last frames of a client that was removed.
        case lastFrames
        /// The answer that the connection waits for, and the connection's next state.
        case answer(Sequel)
        /// Such an answer, which does not leave before this ticket is committed.
        case promise(Sequel, until: UInt64)
        /// No bytes: everything up to this ticket is stored, and answers behind it leave.
        case stored(through: UInt64)
        /// An answer on a connection that did not wait for it.
        case lateAnswer
        /// No bytes: more is held for the client, and is written when there is room.
        case flushGoesOn(client: UInt64)

        /// Whether the connection has to act besides writing.
        var changesConnection: Bool {
            switch self {
            case .deliveries, .notice, .lateAnswer: false
            case .lastFrames, .answer, .promise, .stored, .flushGoesOn: true
            }
        }

        /// The kind of the output for the event loop.
        var outputKind: OutputKind {
            switch self {
            case .deliveries, .notice, .lastFrames, .stored, .flushGoesOn: .delivery
            case .answer, .promise, .lateAnswer: .answer
            }
        }
    }
}

/// The next state of a connection after an answer.
enum Sequel: Sendable {
    /// It stays as it is.
    case none
    /// It is closed once the answer has left.
    case close
    /// It is a client from now on.
    case client(id: UInt64, session: [UInt8], transport: Transport, center: [UInt8])
    /// It is the stream of a mailbox from now on.
    case stream(observer: UInt64, client: UInt64, center: [UInt8])

    /// The same, or a close if there is no other.
    var orClose: Sequel {
        switch self {
        case .none, .close: .close
        case .client, .stream: self
        }
    }
}
