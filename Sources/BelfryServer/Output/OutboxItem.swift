import BelfryCenter
import BelfryLoop

/// What a connection of this loop is to do about what was written for it.
struct OutboxItem: Sendable {
    let connection: ConnectionNumber
    let content: Content

    /// What bytes for one connection are.
    enum Content: Sendable {
        /// Frames for a row of observers, each of which may be removed before they are written: its
        /// places among the connections. Such an item has no connection of its own.
        case deliveries(Range<Int>)
        /// Something else that a client is told.
        case notice
        /// Frames that are the last of a client that was removed.
        case lastFrames
        /// The answer that the connection waits for, and what becomes of it.
        case answer(Sequel)
        /// The same, and nothing of it leaves before this ticket is committed.
        case promise(Sequel, until: UInt64)
        /// No bytes: everything up to this ticket is stored, and what waited for it leaves.
        case stored(through: UInt64)
        /// An answer on a connection that did not wait for it.
        case lateAnswer
        /// No bytes: more is held for the client, and is written when there is room.
        case flushGoesOn(client: UInt64)

        /// Whether the connection has something to do besides writing.
        var changesConnection: Bool {
            switch self {
            case .deliveries, .notice, .lateAnswer: false
            case .lastFrames, .answer, .promise, .stored, .flushGoesOn: true
            }
        }

        /// What the bytes are for the event loop.
        var outputKind: OutputKind {
            switch self {
            case .deliveries, .notice, .lastFrames, .stored, .flushGoesOn: .delivery
            case .answer, .promise, .lateAnswer: .answer
            }
        }
    }
}

/// What becomes of a connection after an answer.
enum Sequel: Sendable {
    /// It goes on as it was.
    case none
    /// It is closed once the answer has left.
    case close
    /// It is a client from now on.
    case client(id: UInt64, session: [UInt8], transport: Transport, center: [UInt8])
    /// It is the stream of a mailbox from now on.
    case stream(observer: UInt64, client: UInt64, center: [UInt8])

    /// The same, or a close where nothing else follows.
    var orClose: Sequel {
        switch self {
        case .none, .close: .close
        case .client, .stream: self
        }
    }
}
