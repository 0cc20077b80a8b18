import BelfryCenter

/// What puts the commands of one center into one order, and applies them.
///
/// The loop talks to a center through this alone, so that a replicated log can take its place.
protocol Sequencer: ~Copyable {
    /// Gives the command its place in the order; what it brought about is in `effects`.
    ///
    /// Whoever submits knows the name of the command, and finds a later answer by it.
    mutating func submit(
        _ action: consuming Command.Action, as id: CommandID, into effects: inout Effects)
    /// A pass of the event loop is over: gives what must last, in the order in which it happened.
    mutating func endOfTurn() -> [Change]
}

/// Applies commands at once, in the order in which they come.
struct LocalSequencer: Sequencer {
    private(set) var center: NotificationCenter
    /// The time that the next commands carry; the loop reads the clocks once a turn.
    var time: CommandTime
    /// Who the center counts for, and what it keeps of its own.
    var owner = Owner.none
    /// Whether it is in the list of those that got a command in this turn.
    var isTouched = false
    /// What it needed when the last turn ended.
    var known = CenterNeeds()
    /// What its observers had lost when the last turn ended.
    var knownLosses = Losses()
    /// What must last of this turn; it stays empty where nothing lasts.
    private var changes: [Change] = []
    private let keepsChanges: Bool

    init(center: consuming NotificationCenter, time: CommandTime, keepsChanges: Bool) {
        self.center = center
        self.time = time
        self.keepsChanges = keepsChanges
    }

    mutating func submit(
        _ action: consuming Command.Action, as id: CommandID, into effects: inout Effects
    ) {
        let command = Command(id: id, time: time, action: action)
        center.apply(command, at: center.appliedIndex + 1, into: &effects)
        if !effects.changes.isEmpty, keepsChanges { changes += effects.changes }
    }

    /// Finds out how much more memory the center keeps than when that was found out last.
    mutating func noteKept(ifChangedBy byteCount: Int) -> KeptMemory? {
        center.noteKept(ifChangedBy: byteCount)
    }

    /// Takes how much more the center keeps for each owner than it told.
    mutating func takeOwnedGrowth() -> [Owner: Holdings] { center.takeOwnedGrowth() }

    /// Finds out for whom what a store has kept counts.
    mutating func assignOwners(_ ownerOf: (_ principal: [UInt8]) -> Owner) {
        center.assignOwners(ownerOf)
    }

    mutating func endOfTurn() -> [Change] {
        if changes.isEmpty { return [] }
        var handed: [Change] = []
        swap(&handed, &changes)
        return handed
    }
}
