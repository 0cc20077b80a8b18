import BelfryCenter

/// A reply that waits for the completion of its posts.
struct WaitingReply {
    let reply: Reply
    let form: ReceiptForm
    /// The id of the call, if it is the answer to one.
    let call: [UInt8]?
    /// The ticket of what the posts have changed; 0 if nothing must last.
    let ticket: UInt64
    /// Its place in a batch of calls, if it is in one.
    var place: CallPlace?
}

/// A post that is complete, and is answered when the turn ends.
struct CompletedPost {
    let completion: Completion
    let waiting: WaitingReply
    /// Whether its answer may say what this turn has changed.
    let waitsForTurn: Bool
}

/// The replies to posts that wait for acknowledging observers, by the name of the command.
struct CompletionTable {
    private(set) var waiting: [CommandID: WaitingReply] = [:]
    /// The posts that this turn has completed.
    private var completed: [CompletedPost] = []

    /// How many posts may wait for their observers at a time, on one loop.
    static let limit = 65_536

    /// Whether one post more may wait; if not, it is posted with a wait of 0.
    @inline(__always)
    var hasRoom: Bool { waiting.count < Self.limit }

    /// Whether some are complete, and not answered yet.
    var hasCompleted: Bool { !completed.isEmpty }

    /// Keeps the reply of a command that has posted.
    mutating func add(_ reply: WaitingReply, for command: CommandID) {
        waiting[command] = reply
    }

    /// Keeps what a command has completed until the end of the turn.
    ///
    /// An answer lets the next request of its connection go on, which has no place inside a command.
    mutating func keep(_ completions: [Completion], hasStored: Bool) {
        for completion in completions {
            guard let reply = waiting.removeValue(forKey: completion.command) else { continue }
            completed.append(
                CompletedPost(
                    completion: completion, waiting: reply,
                    waitsForTurn: hasStored || completion.replayedForm != nil))
        }
    }

    /// Takes the posts that are complete.
    mutating func takeCompleted() -> [CompletedPost] {
        var taken: [CompletedPost] = []
        swap(&taken, &completed)
        return taken
    }
}
