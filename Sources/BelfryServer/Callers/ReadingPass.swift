import BelfryLoop

/// One pass over the input of a connection.
struct ReadingPass {
    let id: ConnectionID
    /// The number of bytes that were read.
    var cursor = 0
    /// The size of the output when the pass began.
    let outputStart: Int
    /// Whether the bytes that follow begin a request.
    var beginsRequest = true
    /// Whether a request or a message was handed out or answered, and nothing was read behind it.
    var hasAsked = false
    /// The protocol.
    let kind: Connection.Kind

    /// Whether a connection has requested enough in this turn, by output or by time.
    ///
    /// Without the first, small pipelined requests with large answers would cost memory without
    /// bound; without the second, slow requests would delay all other clients.
    ///
    /// - Parameters:
    ///   - inputByteCount: the bytes that were read; little input may cause a quarter of the
    ///     output.
    ///   - outbox: the outbox of the output.
    @inline(__always)
    func hasEnough(of inputByteCount: Int, _ outbox: inout Outbox) -> Bool {
        // It is less while much is unsent, as nearly all of that belongs to clients that do not
        // read.
        let isMuchUnsent = outbox.loop.unsentByteTotal > Self.muchUnsentByteCount
        let most = isMuchUnsent ? ConnectionTable.roomByteCount : Self.outputByteLimit
        let limit = min(most, max(ConnectionTable.roomByteCount, 4 * inputByteCount))
        if outbox.loop.outputByteCount - outputStart > limit { return true }
        return outbox.work.countRequest() && outbox.loop.turnIsLong
    }

    /// The size of the buffer for input.
    static let inputByteCount = 64 << 10

    /// The output of one connection in one turn after which its input waits, in bytes.
    private static let outputByteLimit = 64 << 10

    private static let muchUnsentByteCount = 4 << 20
}
