import BelfryLoop

/// The output that a loop has besides the arenas of its event loop: frames, items and answers.
///
/// Output of one half of the loop for a connection is an ``OutboxItem``: the same for a connection
/// of this loop, where it is applied at once, and for one of another loop, where it is applied when
/// it has arrived.
struct Outbox: ~Copyable {
    /// The items of connections of this loop.
    private var items: [OutboxItem] = []
    /// The number of items that were taken.
    private var takenItemCount = 0
    /// The messages for other loops at the end of the turn, by loop.
    var outbound: [Outbound]
    var frames = FrameCache()
    /// The connections that get one frame, while they are gathered.
    var targets: [ConnectionID] = []
    var compression = Compression()
    /// The storage of answers.
    var answers = AnswerPool()
    var heads = AnswerHeads()

    /// The messages for one other loop at the end of the turn.
    struct Outbound {
        var submissions: [Submission] = []
        var output = RemoteOutput()
        /// Its observers that get one frame, while they are gathered.
        var row = DeliveryRow()
    }

    init(loopCount: Int) {
        outbound = (0..<loopCount).map { _ in Outbound() }
    }

    /// Adds an item for a connection of this loop.
    mutating func add(_ content: OutboxItem.Content, to connection: ConnectionNumber) {
        items.append(OutboxItem(connection: connection, content: content))
    }

    /// Whether connections of this loop have items.
    @inline(__always)
    var hasItems: Bool { !items.isEmpty }

    /// Takes the next item of a connection of this loop.
    mutating func takeItem() -> OutboxItem? {
        // Mostly there is one.
        if takenItemCount == 0, items.count == 1 { return items.removeLast() }
        guard takenItemCount < items.count else {
            items.removeAll(keepingCapacity: items.capacity <= 1_024)
            takenItemCount = 0
            return nil
        }
        takenItemCount += 1
        return items[takenItemCount - 1]
    }

    /// Sends a submission to the loop of its center at the end of the turn.
    mutating func send(_ submission: Submission, to target: Int) {
        outbound[target].submissions.append(submission)
    }

    /// Whether output for other loops waits for the end of the turn.
    @inline(__always)
    var hasOutbound: Bool {
        outbound.contains { !$0.submissions.isEmpty || !$0.output.isEmpty }
    }
}
