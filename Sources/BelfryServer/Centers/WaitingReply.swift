import BelfryCenter
import BelfryWire

/// A reply that waits for the completion of its posts, or for the end of its ask.
struct WaitingReply {
    let reply: Reply
    /// The form of the receipts; nil for the answer to an ask.
    let form: ReceiptForm?
    /// The part of a way of addresses that its caller may see.
    let sight: Sight
    /// The id of the call, if it is the answer to one.
    let call: [UInt8]?
    /// The ticket of the command's changes; 0 without changes to store.
    let ticket: UInt64
    /// The place of the call in its batch, if it is in one.
    var place: CallPlace?
}

/// A command that is complete, and is answered when the turn ends.
struct CompletedCommand {
    let completion: Completed
    let waiting: WaitingReply
    /// Whether its answer may state changes of this turn.
    let waitsForTurn: Bool

    /// The completed posts or the ended ask.
    enum Completed {
        case posts(Completion)
        case ask(AskCompletion)
    }
}

/// The replies to posts that wait for acknowledgements, and to asks, by the command.
struct CompletionTable {
    private(set) var waiting: [CommandID: WaitingReply] = [:]
    /// The commands that this turn has completed.
    private var completed: [CompletedCommand] = []
    /// The number of them that were taken.
    private var takenCount = 0

    /// The most posts and asks that may wait for observers on one loop.
    static let limit = 65_536

    /// Whether there is room for another wait; if not, a post is made with a wait of 0.
    @inline(__always)
    var hasRoom: Bool { waiting.count < Self.limit }

    /// Checks that there is room for another wait.
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

    /// Keeps the completions of a command until the end of the turn.
    ///
    /// An answer lets the next request of its connection proceed, which must not happen inside a
    /// command.
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

    /// Takes the next complete command.
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

    /// Takes all waiting replies.
    mutating func takeAll() -> [WaitingReply] {
        defer { waiting = [:] }
        return Array(waiting.values)
    }
}
