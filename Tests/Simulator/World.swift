import BelfryCenter
import BelfryHistory
import BelfryWire
import TestSupport

/// A fault that the simulator found: what was expected, and what was there.
struct Violation: Error {
    let text: String

    init(_ text: String) { self.text = text }
}

/// A broker in one thread, with center, wire, store and clients.
///
/// The commands of the loop go to the center, its deliveries to the wire and the clients, its
/// changes to the store.
///
/// Its clock is a number that steps advance. All chance comes from the dice, so a seed is a
/// history.
final class World {
    let seed: UInt64
    var dice: Dice
    var profile: Profile

    var center: NotificationCenter
    var model: Model
    var store: CenterStore
    var effects = Effects()
    var deliveryWriter = DeliveryWriter()

    /// The clocks; commands carry them.
    var now: Int64 = 1_000_000_000_000
    var wall: Int64 = 1_700_000_000_000

    /// The other ends, and the connections that are open, by number.
    var ends: [RemoteEnd] = []
    var pipes: [UInt64: Pipe] = [:]

    /// Numbers that are given once.
    var lastConnection: UInt64 = 0
    var lastClient: UInt64 = 0
    var lastObserver: UInt64 = 0
    var lastMode: UInt64 = 0
    var lastID: UInt64 = 0
    var incarnation: UInt64 = 1
    var commandCount: UInt64 = 0

    /// The events since the last turn's end, and the turns that the store has not committed.
    var turn: StoreTurn
    var uncommitted: [StoreTurn] = []
    /// The model as it was at the last commit.
    var committed: Model

    /// Identifiers of recent posts, for causes, listings and dequeues.
    var recentIDs: [NotificationID] = []
    /// Posts with a key, as they were sent first.
    var keyed: [KeyedPost] = []
    var highestSequence: UInt64 = 0
    /// Polls that are to be answered, for their mailboxes have something.
    var pendingPolls: [(connection: UInt64, observer: UInt64)] = []

    /// The last events, when they are wanted for a report.
    var tellsSteps = false
    var told: [String] = []
    var stepCount = 0
    var lastOutcome = Outcome.done

    /// All that can be seen from outside, and whether only that is judged.
    var history = History()
    var isJudgedByHistoryAlone = false
    /// Whether the whole history is judged at the end.
    var isJudgedByHistory = false
    /// Queued posts whose fate is not known, and the mode that was seen last.
    var waitingIDs: [NotificationID] = []
    var seenMode = Mode.default
    /// Whether the answer that is submitted is one that is owed for certain.
    var answersWhatIsOwed = false

    /// The same commands for another center, and what their digests must be.
    var recorder: Recorder

    init(seed: UInt64) {
        self.seed = seed
        dice = Dice(seed: seed)
        profile = Profile(seed: seed, dice: &dice)
        profile.limits.isDurable = true
        let name = [UInt8]("default")
        let epoch = [UInt8]("k\(seed)")
        center = NotificationCenter(
            name: name, epoch: epoch, limits: profile.limits,
            seed: HashSeed(seed, dice.next()))
        model = Model(limits: profile.limits, now: now, wall: wall)
        committed = model
        store = CenterStore(name: name)
        turn = StoreTurn()
        recorder = Recorder(name: name, epoch: epoch, limits: profile.limits)
        note(profile.limits)
    }

    var time: CommandTime {
        CommandTime(wallMilliseconds: wall, monotonicNanoseconds: now)
    }

    /// Notes what happens, for the report of a violation.
    func tell(_ text: @autoclosure () -> String) {
        guard tellsSteps else { return }
        told.append("\(stepCount): \(text())")
        if told.count > 400 { told.removeFirst(200) }
    }

    // MARK: Commands

    /// Submits a command as the loop does, and checks all that it brings about.
    @discardableResult
    func submit(_ action: Command.Action) throws(Violation) -> Outcome {
        commandCount += 1
        let command = Command(
            id: CommandID(node: 0, incarnation: incarnation, counter: commandCount), time: time,
            action: action)
        tell("\(Show.action(action)) at \(now / 1_000_000) ms")
        let prediction = isJudgedByHistoryAlone ? Prediction() : model.apply(command)
        try recorder.record(command)
        center.apply(command, at: center.appliedIndex + 1, into: &effects)
        if tellsSteps { told.append("    \(Show.effects(effects, center))") }
        noteBegin(command)
        if !isJudgedByHistoryAlone { try check(prediction, command) }
        keepPromises(prediction, command)
        try recorder.compare(with: center, effects)
        let outcome = effects.outcome
        try fanOut()
        noteEnd(command)
        while let poll = pendingPolls.popLast() {
            try answerPoll(on: poll.connection, of: poll.observer)
        }
        return outcome
    }

    /// Ends a seed: all clients come to rest, and everything is compared once more.
    func finish() throws(Violation) {
        repeat { try endTurn() } while center.needsTurnEnd
        for place in ends.indices { try read(.max, at: place) }
        try watchPipes()
        try commit(.max)
        try checkAll()
        try comeToRest()
        if isJudgedByHistory { try checkHistory() }
    }

    /// Keeps what happens as bytes, from the start on.
    func keepRecord() {
        recorder.keepBytes(name: center.name, epoch: center.epoch, limits: profile.limits)
    }

    /// Keeps lasting changes for the store, and the answers that promise them.
    private func keepPromises(_ prediction: Prediction, _ command: Command) {
        turn.changes += effects.changes
    }

    /// The end of a turn: asap entries, then the store gets what must last.
    func endTurn() throws(Violation) {
        // The center may also have something to report of itself.
        if model.needsTurnEnd, !center.needsTurnEnd, !isJudgedByHistoryAlone {
            throw Violation("needsTurnEnd is false, expected true")
        }
        if center.needsTurnEnd {
            // A turn may end before all is posted; the rest may have to wait for several others.
            let isShort = dice.oneIn(3)
            try submit(.endTurn(workLimit: isShort ? dice.number(in: 0...60) : .max))
        }
        if !isJudgedByHistoryAlone, center.needs.turnGoesOn != model.turnGoesOn {
            throw Violation(
                "turnGoesOn is \(center.needs.turnGoesOn), expected \(model.turnGoesOn)")
        }
        if center.needsTurnEnd, !model.needsTurnEnd, !isJudgedByHistoryAlone {
            throw Violation("needsTurnEnd is true after the turn's end")
        }
        history.note(.rests)
        handOver()
        try watchPipes()
    }

    /// Gives the store the changes of the turn.
    func handOver() {
        turn.lastCommand = Int(commandCount)
        guard !turn.changes.isEmpty else {
            if uncommitted.isEmpty { noteCommit(through: turn.lastCommand) }
            return
        }
        turn.snapshot = model
        uncommitted.append(turn)
        turn = StoreTurn()
        recorder.endTurn()
    }

    /// The store commits the oldest turns.
    func commit(_ count: Int) throws(Violation) {
        for _ in 0..<min(count, uncommitted.count) {
            let oldest = uncommitted.removeFirst()
            try store.commit(oldest.changes)
            try recorder.commit()
            if let snapshot = oldest.snapshot { committed = snapshot }
            noteCommit(through: oldest.lastCommand)
        }
    }
}

/// The work of one turn for the store.
struct StoreTurn {
    var changes: [Change] = []
    /// The model at its end.
    var snapshot: Model?
    /// The last command of the turn.
    var lastCommand = 0
}

/// A post with an idempotency key.
struct KeyedPost {
    let posts: [Post]
    let isBatch: Bool
    let terms: PostTerms
}
