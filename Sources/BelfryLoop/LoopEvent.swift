/// The next event of an event loop.
public enum LoopEvent: Equatable, Sendable {
    /// A listener took a connection; listeners are numbered in the order of `listen`.
    case accepted(ConnectionID, listener: Int)
    /// A listener took a connection past the connection limit: answer it and close it.
    case refused(ConnectionID, listener: Int)
    /// A listener took a connection that any loop may have: `takeArrival()` gives it.
    case arrived
    /// A connection that was asked for by `connect(to:)` is there.
    case connected(ConnectionID)
    /// Bytes arrived; they are the first of the input buffer, until the next call.
    case received(ConnectionID, byteCount: Int)
    /// The peer sends no more, but may still read.
    case endOfInput(ConnectionID)
    /// The peer of a paused connection sends no more than the unread bytes; told once in a pause.
    case endAhead(ConnectionID)
    /// The unsent bytes of a connection passed the high-water mark.
    case overHighWater(ConnectionID)
    /// The unsent bytes of a connection fell from above the high-water mark to the low one.
    ///
    /// The event also comes if the caller had asked for it.
    case drained(ConnectionID)
    /// The loop, the peer or an error closed the connection; told once, and not after `close(_:)`.
    case closed(ConnectionID, CloseReason)
    /// The connection's deadline passed; it has none now.
    case deadline(ConnectionID)
    /// A timer's time came.
    case timer(UInt64)
    /// A mailbox has messages.
    case mail
    /// A signal arrived.
    case signal(Int32)
    /// All that was ready has been handed out: the last chance for output before the flush.
    case turnEnds
    /// Everything is flushed and nothing is ready or due; told once for each idle moment.
    case idle
    /// An embedded kernel has nothing more to do until the test does something.
    case waiting

    /// The connection that it is about, if it is about one.
    public var connection: ConnectionID? {
        switch self {
        case .accepted(let id, _), .refused(let id, _), .connected(let id), .received(let id, _),
            .endOfInput(let id), .endAhead(let id), .overHighWater(let id), .drained(let id),
            .closed(let id, _), .deadline(let id):
            id
        case .arrived, .timer, .mail, .signal, .turnEnds, .idle, .waiting: nil
        }
    }
}

/// Why a connection was closed.
public enum CloseReason: Equatable, Sendable {
    /// All output was flushed, as `closeAfterFlush` asked for.
    case finished
    /// The peer reset the connection.
    case reset
    /// The output could not be flushed in time after `closeAfterFlush`.
    case timedOut
    /// More was sent to it in one turn than a connection may have.
    case tooMuchOutput
    /// A call failed with this error number; of `connect(to:)`, the attempt did.
    case failed(errno: Int32)
}
