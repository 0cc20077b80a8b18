import BelfryCenter
import BelfryWire

/// A reply that waits for the completion of its posts, or for the end of its ask.
struct WaitingReply {
    let reply: Reply
    /// The form of the receipts; nil for the answer to an ask.
    let form: ReceiptForm?
    /// How far its caller sees along the way of what was posted or asked.
    let sight: Sight
    /// The id of the call, if it is the answer to one.
    let call: [UInt8]?
    /// The ticket of what the command has changed; 0 if nothing must last.
    let ticket: UInt64
    /// Its place in a batch of calls, if it is in one.
    var place: CallPlace?
}

/// A command that is complete, and is answered when the turn ends.
struct CompletedCommand {
    let completion: Completed
    let waiting: WaitingReply
    /// Whether its answer may say what this turn has changed.
    let waitsForTurn: Bool

    /// What is complete.
    enum Completed {
        case posts(Completion)
        case ask(AskCompletion)
    }
}

/// The replies to posts that wait for acknowledging observers, and to asks, by the name of the command.
struct CompletionTable {
    private(set) var waiting: [CommandID: WaitingReply] = [:]
    /// The commands that this turn has completed.
    private var completed: [CompletedCommand] = []
    /// How many of them were taken.
    private var takenCount = 0

    /// How many posts and asks may wait for observers at a time, on one loop.
    static let limit = 65_536

    /// Whether one more may wait; if not, a post is made with a wait of 0.
    @inline(__always)
    var hasRoom: Bool { waiting.count < Self.limit }

    /// Checks that one more may wait.
    func checkRoom() throws(Problem) {
        if hasRoom { return }
        throw Problem(
            .overloaded,
            "\(Self.limit) requests wait for answers of observers, the limit; try again later.")
    }

    /// Whether some are complete, and not answered yet.
    var hasCompleted: Bool { !completed.isEmpty }

    /// Keeps the reply of a command that has posted or asked.
    mutating func add(_ reply: WaitingReply, for command: CommandID) {
        waiting[command] = reply
    }

    /// Keeps what a command has completed until the end of the turn.
    ///
    /// An answer lets the next request of its connection go on, which has no place inside a command.
    mutating func keep(_ effects: borrowing Effects, hasStored: Bool) {
        for completion in effects.completions {  // Bound: effects
            keep(
                .posts(completion), of: completion.command,
                waitsForTurn: hasStored || completion.replayedForm != nil)
        }
        for completion in effects.askCompletions {  // Bound: effects
            keep(
                .ask(completion), of: completion.command,
                waitsForTurn: hasStored || completion.replayedForm != nil)
        }
    }

    private mutating func keep(
        _ completion: CompletedCommand.Completed, of command: CommandID, waitsForTurn: Bool
    ) {
        guard let reply = waiting.removeValue(forKey: command) else { return }
        completed.append(
            CompletedCommand(completion: completion, waiting: reply, waitsForTurn: waitsForTurn))
    }

    /// Takes the next command that is complete.
    mutating func takeCompleted() -> CompletedCommand? {
        guard takenCount < completed.count else {
            completed.removeAll(keepingCapacity: completed.capacity <= 1_024)
            takenCount = 0
            return nil
        }
        takenCount += 1
        return completed[takenCount - 1]
    }

    /// Takes the replies that wait for the ends of asks.
    mutating func takeAsks() -> [WaitingReply] {
        let asks = waiting.filter { $0.value.form == nil }
        for command in asks.keys { waiting[command] = nil }  // Bound: waiting
        return Array(asks.values)
    }

    /// Takes all that wait.
    mutating func takeAll() -> [WaitingReply] {
        defer { waiting = [:] }
        return Array(waiting.values)
    }
}
