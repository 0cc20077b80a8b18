import BelfryAccess
import BelfryLoop
import BelfrySystem

/// What the server keeps of one connection.
///
/// An idle connection has no parser and no buffer: what is unfinished is boxed, and only then.
struct Connection {
    /// The name under which the loop knows it.
    let id: ConnectionID
    /// What is spoken on it.
    var kind = Kind.http
    /// How messages on it are encoded, if it is a WebSocket.
    var encoding = FrameEncoding.plain
    /// Whether it is read, what its input waits for, and when it closes.
    var reading = Reading()
    /// The owner of its other end, once a request has asked for it.
    var neighbor = Neighbor.unasked
    /// How it keeps up with what its client observes.
    var pace = Pace.keepsUp
    /// What its next deadline means.
    var deadline = DeadlineKind.head
    /// Whether the stream that it is was opened by a local caller without credentials.
    var isLocal = false
    /// The client that it is, once it is one.
    var client: UInt64 = 0
    /// The observer whose mailbox it reads: a poll that waits, or a stream.
    var mailbox: UInt64 = 0
    /// The whole session of its client, as registrations repeat it.
    var session: [UInt8] = []
    /// The center of its client, of the mailbox that it reads, or of what it waits for.
    var center: [UInt8] = []
    /// Where its last request came from, if that matters.
    var address: NetworkAddress?
    /// Its place among the connections of its principal and its address, if they are counted.
    var seat: Seat?
    /// Who opened the stream that it is; nil for callers without credentials.
    var caller: Caller?
    /// When the credentials of its caller expire.
    var credentialDeadline = MonotonicTime.distantFuture
    /// The rest of its story, while something is unfinished.
    var unfinished: Unfinished?

    /// It closes once what it was sent has left; what still comes is ignored.
    var isClosing: Bool { reading.isClosing }

    /// An answer is under way: what follows must wait for it.
    var isAwaiting: Bool { reading.isAwaiting }

    /// What stands in a slot without a connection.
    static var free: Connection { Connection(id: ConnectionID(index: .max, generation: .max)) }

    /// How a client that observes reads what it is sent.
    enum Pace: UInt8 {
        case keepsUp
        /// What it is held is written in steps, and the next one waits for room.
        case flushing
        /// More bytes wait for its socket than may, and its center knows.
        case slow
    }

    /// What it means that the deadline of a connection has come.
    enum DeadlineKind: UInt8 {
        /// A request head did not arrive in time.
        case head
        /// Content did not arrive in time.
        case body
        /// It was silent between two requests.
        case idle
        /// It was silent long enough to be asked whether it is still there.
        case ping
        /// It did not answer the ping.
        case pong
        /// It did not read its answers.
        case drain
        /// The answer to its post did not come.
        case answer
        /// The copy that it asked for is not made yet.
        case copy
        /// It did not read what it observes.
        case slow
        /// An event stream was silent long enough for a comment.
        case comment
    }
}
