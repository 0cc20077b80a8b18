import BelfryLoop

/// One pass over what has arrived on a connection.
struct ReadingPass {
    let id: ConnectionID
    /// How much of it was read.
    var cursor = 0
    /// Where the output began that is made for it.
    let outputStart: Int
    /// Whether the bytes that follow begin a request.
    var beginsRequest = true
    /// Whether a request or a message was handed out or answered, and nothing was read behind it.
    var hasAsked = false
    /// What is spoken.
    let kind: Connection.Kind

    /// Whether what a connection asked for in this turn is enough: so much output, or so much time.
    ///
    /// Without the first, small pipelined requests with large answers would cost memory without
    /// bound; without the second, requests that are slow to answer would hold up everybody.
    ///
    /// - Parameters:
    ///   - inputByteCount: how much was read; who sends little may ask for a quarter of the output.
    ///   - outbox: what its output is in.
    @inline(__always)
    func hasEnough(of inputByteCount: Int, _ outbox: inout Outbox) -> Bool {
        // It is less while much is unsent, as nearly all of that belongs to those who do not read.
        let isMuchUnsent = outbox.loop.unsentByteTotal > Self.muchUnsentByteCount
        let most = isMuchUnsent ? ConnectionTable.roomByteCount : Self.outputByteLimit
        let limit = min(most, max(ConnectionTable.roomByteCount, 4 * inputByteCount))
        if outbox.loop.outputByteCount - outputStart > limit { return true }
        return outbox.work.countRequest() && outbox.loop.turnIsLong
    }

    /// The room for what is read at once.
    static let inputByteCount = 64 << 10

    /// The output of one connection in one turn after which its input waits, in bytes.
    private static let outputByteLimit = 64 << 10

    private static let muchUnsentByteCount = 4 << 20
}
