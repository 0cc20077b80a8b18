import BelfryCenter

/// What a loop knows of a center that lives on it.
struct HostedCenter {
    /// When the last command was submitted.
    var time: CommandTime
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
    /// How many observers it had after the last command, where a sequencer gives these back.
    var observerCount: Int
    /// What it needed when the last turn ended.
    var known = CenterNeeds()
    /// What it had of asks, timers and values then.
    private var knownTally = CenterTally()
    /// How many clients it had of each sort then.
    private(set) var knownClients = ClientCounts()
    /// What its observers had lost when the last turn ended.
    var knownLosses = Losses()
    /// What must last of this turn; it stays empty where nothing lasts.
    private var changes: [Change] = []
    /// Where among these the values are that have changed in this turn.
    private var valuePlaces: [[UInt8]: Int] = [:]

    init(time: CommandTime, observerCount: Int) {
        self.time = time
        self.observerCount = observerCount
    }

    /// Keeps what must last of a command; of a value that changed before in this turn only the last is kept.
    mutating func keep(_ effects: borrowing Effects) {
        guard effects.hasValues else { return changes += effects.changes }
        for change in effects.changes {  // Bound: effects
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

    /// Adds to the totals how many more clients of each sort the center has than when the last turn ended.
    mutating func add(_ counts: ClientCounts, to totals: borrowing CenterTotals) {
        totals.add(counts, since: knownClients)
        knownClients = counts
    }

    /// Adds to the totals how much more of asks, timers and values the center has than then.
    mutating func add(_ tally: CenterTally, to totals: borrowing CenterTotals) {
        for kind in CenterTally.kinds where tally[kind] != knownTally[kind] {  // Bound: few
            totals.add(tally[kind] - knownTally[kind], to: kind)
            knownTally[kind] = tally[kind]
        }
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
