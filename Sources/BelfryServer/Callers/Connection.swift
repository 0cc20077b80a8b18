import BelfryAccess
import BelfryLoop
import BelfrySystem

/// The state of one connection.
///
/// An idle connection has no parser and no buffer: unfinished work is boxed, and only then.
struct Connection {
    /// Its name for the loop.
    let id: ConnectionID
    /// Its protocol.
    var kind = Kind.http
    /// The encoding of messages, if it is a WebSocket.
    var encoding = FrameEncoding.plain
    /// Whether it is read, the reason why its input waits, and when it closes.
    var reading = Reading()
    /// The owner of the other end, once a request has needed it.
    var neighbor = Neighbor.unasked
    /// Whether it keeps up with its deliveries.
    var pace = Pace.keepsUp
    /// The meaning of its next deadline.
    var deadline = DeadlineKind.head
    /// Whether its stream was opened by a local caller without credentials.
    var isLocal = false
    /// The client of the connection; 0 without one.
    var client: UInt64 = 0
    /// The observer whose mailbox it reads: a poll that waits, or a stream.
    var mailbox: UInt64 = 0
    /// The whole session of its client, which registrations repeat.
    var session: [UInt8] = []
    /// The center of its client, of its mailbox, or of its wait.
    var center: [UInt8] = []
    /// The source of its last request, if that matters.
    var address: NetworkAddress?
    /// Its place among the connections of its principal and its address, if they are counted.
    var seat: Seat?
    /// The caller that opened its stream; nil for callers without credentials.
    var caller: Caller?
    /// The expiry of its caller's credentials.
    var credentialDeadline = MonotonicTime.distantFuture
    /// Its unfinished work, if there is any.
    var unfinished: Unfinished?

    /// Whether it closes once its output has left; further input is ignored.
    var isClosing: Bool { reading.isClosing }

    /// Whether an answer is under way: later input must wait for it.
    var isAwaiting: Bool { reading.isAwaiting }

    /// The value of a slot without a connection.
    static var free: Connection { Connection(id: ConnectionID(index: .max, generation: .max)) }

    /// The pace at which an observing client reads.
    enum Pace: UInt8 {
        case keepsUp
        /// Held deliveries are written in steps, and the next one waits for room.
        case flushing
        /// More bytes wait for its socket than allowed, and its center knows.
        case slow
    }

    /// The meaning of a connection's deadline.
    enum DeadlineKind: UInt8 {
        /// A request head did not arrive in time.
        case head
        /// Content did not arrive in time.
        case body
        /// It was silent between two requests.
        case idle
        /// It was silent long enough for a ping.
        case ping
        /// It did not answer the ping.
        case pong
        /// It did not read its answers.
        case drain
        /// The answer to its post did not come.
        case answer
        /// The requested copy is not made yet.
        case copy
        /// It did not read its deliveries.
        case slow
        /// An event stream was silent long enough for a comment.
        case comment
    }
}
