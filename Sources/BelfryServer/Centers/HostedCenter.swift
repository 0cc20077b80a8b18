import BelfryCenter

/// A center of a loop, and what the loop knows of it.
struct HostedCenter {
    private(set) var center: NotificationCenter
    /// When the last command was submitted.
    var time: CommandTime
    /// How many commands for it are under way.
    var underWayCount = 0
    /// What the loop has begun for it by itself, where that was not applied yet.
    var ownWork: OwnWork = []
    /// How many posts were accepted for it: their identifiers name that, as its tables note them by it.
    var postCount: UInt64 = 0
    /// Who the center counts for, and what it keeps of its own.
    var owner = Owner.none
    /// Its page of the witness; nil where it has none.
    var page: Int?
    /// What it has dispatched up to this number is on the page.
    var witnessedThrough: UInt64 = 0
    /// Whether it is in the list of those that got a command in this turn.
    var isTouched = false
    /// What it needed when the last turn ended.
    var known = CenterNeeds()
    /// What it had of asks, timers and values then.
    private var knownTally = CenterTally()
    /// How many clients it had of each sort then.
    private var knownClients = ClientCounts()
    /// What its observers had lost when the last turn ended.
    var knownLosses = Losses()
    /// What must last of this turn; it stays empty where nothing lasts.
    private var changes: [Change] = []
    /// Where among these the values are that have changed in this turn.
    private var valuePlaces: [[UInt8]: Int] = [:]
    private let keepsChanges: Bool

    init(center: consuming NotificationCenter, time: CommandTime, keepsChanges: Bool) {
        self.center = center
        self.time = time
        self.keepsChanges = keepsChanges
    }

    /// Applies the next command; what it brought about is in `effects`.
    mutating func apply(_ command: consuming Command, into effects: inout Effects) {
        center.apply(command, at: center.appliedIndex + 1, into: &effects)
        if !effects.changes.isEmpty, keepsChanges { keep(effects) }
    }

    /// Keeps what must last of a command; of a value that changed before in this turn only the last is kept.
    private mutating func keep(_ effects: borrowing Effects) {
        guard effects.hasValues else { return changes += effects.changes }
        for change in effects.changes {
            let object: [UInt8]
            switch change {
            case .value(let record): object = record.object
            case .valueRemoved(let removed): object = removed
            default:
                changes.append(change)
                continue
            }
            if let place = valuePlaces[object] {
                // The rows of values are nobody's but their own: where one stands among others says nothing.
                changes[place] = change
            } else {
                valuePlaces[object] = changes.count
                changes.append(change)
            }
        }
    }

    /// Adds to the totals how much more of clients, asks, timers and values the center has than when the last turn ended.
    mutating func addTally(to totals: borrowing CenterTotals) {
        if center.clientChangeCount != knownClients.changeCount { addClients(to: totals) }
        if center.hasTally { addTallies(to: totals) }
    }

    @inline(never)
    private mutating func addClients(to totals: borrowing CenterTotals) {
        let counts = center.clientCounts
        totals.add(counts, since: knownClients)
        knownClients = counts
    }

    @inline(never)
    private mutating func addTallies(to totals: borrowing CenterTotals) {
        for kind in CenterTally.kinds where center.tally[kind] != knownTally[kind] {
            totals.add(center.tally[kind] - knownTally[kind], to: kind)
            knownTally[kind] = center.tally[kind]
        }
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

    /// A turn is over: gives what must last of it, in the order in which it happened.
    mutating func endOfTurn() -> [Change] {
        if changes.isEmpty { return [] }
        var handed: [Change] = []
        swap(&handed, &changes)
        if !valuePlaces.isEmpty { valuePlaces = [:] }
        return handed
    }
}

/// What a loop does for a center by itself; while a command of it is under way it submits no other.
struct OwnWork: OptionSet {
    let rawValue: UInt8

    static let turnEnd = OwnWork(rawValue: 1)
    static let time = OwnWork(rawValue: 2)
    static let idle = OwnWork(rawValue: 4)
    static let trim = OwnWork(rawValue: 8)
}

extension OwnWork {
    /// The work that a command is; none for what somebody has asked for.
    init(_ action: borrowing Command.Action) {
        switch action {
        case .endTurn: self = .turnEnd
        case .passTime: self = .time
        case .idle: self = .idle
        case .trim, .trimHeld, .trimOwned: self = .trim
        default: self = []
        }
    }
}
