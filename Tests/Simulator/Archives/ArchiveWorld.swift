import BelfryCenter
import BelfryStore
import TestSupport

/// Archives, observers that begin in the past, and a broker that dies: judged from outside.
///
/// `truth` has the notifications that must be kept, and `watchers` those that observers got. A copy
/// of the truth goes with the changes of each turn: a crash undoes what was not answered.
final class ArchiveWorld {
    var dice: Dice
    let seed: UInt64
    var limits = CenterLimits().ofLog
    private(set) var center: NotificationCenter
    private(set) var effects = Effects()
    private var store: CenterStore
    private var turn: [Change] = []
    private var uncommitted: [(changes: [Change], truth: ArchiveTruth)] = []
    private var committed: ArchiveTruth
    private(set) var now: Int64 = 1_000_000_000_000
    private(set) var wall: Int64 = 1_700_000_000_000
    private var incarnation: UInt64 = 1
    private(set) var commandCount: UInt64 = 0
    var lastNumber: UInt64 = 0
    var truth: ArchiveTruth
    var ends: [UInt64: ArchiveEnd] = [:]
    var watchers: [UInt64: ArchiveWatcher] = [:]
    /// The most frames that wait for a client which is not slow.
    let highWater: Int
    private(set) var told: [String] = []
    private(set) var tally: [String: Int] = [:]
    /// The archive whose terms the present command changes.
    var changedArchive: ArchiveName?
    /// The numbers that are forgotten before the present command.
    private var forgottenBefore: Set<UInt64> = []

    init(seed: UInt64) {
        self.seed = seed
        dice = Dice(seed: seed)
        limits.isDurable = true
        limits.replayCountLimit = dice.oneIn(3) ? dice.number(in: 0...2) : dice.number(in: 3...20)
        limits.flushByteLimit = dice.oneIn(2) ? dice.number(in: 1...600) : 256 << 10
        limits.clientHeldCountLimit = dice.oneIn(3) ? dice.number(in: 1...6) : 10_000
        highWater = dice.oneIn(2) ? dice.number(in: 1...6) : 1_000
        let epoch = [UInt8]("k\(seed)")
        center = NotificationCenter(
            name: [UInt8]("default"), epoch: epoch, limits: limits,
            seed: HashSeed(seed, dice.next()))
        store = CenterStore(name: [UInt8]("default"))
        truth = ArchiveTruth(ringLimit: limits.replayCountLimit)
        committed = truth
    }

    var lastTold: ArraySlice<String> { told.suffix(80) }

    var time: CommandTime {
        CommandTime(wallMilliseconds: wall, monotonicNanoseconds: now)
    }

    func count(_ what: String) { tally[what, default: 0] += 1 }

    func tell(_ text: @autoclosure () -> String) {
        told.append(text())
        if told.count > 400 { told.removeFirst(200) }
    }

    func number() -> UInt64 {
        lastNumber += 1
        return lastNumber
    }

    // MARK: Commands

    /// Submits a command behind all that is due, and judges what it brings about.
    @discardableResult
    func submit(_ action: Command.Action, _ text: @autoclosure () -> String)
        throws(Violation) -> Outcome
    {
        try meetDeadlines()
        let outcome = try apply(action, text())
        try judgePages()
        return outcome
    }

    func meetDeadlines() throws(Violation) {
        for _ in 0..<100 {
            guard let next = center.nextDeadline, next <= now else { return }
            try apply(.passTime(workLimit: .max), "passTime")
        }
        throw Violation("at \(now) it is due again and again")
    }

    @discardableResult
    private func apply(_ action: Command.Action, _ text: String) throws(Violation) -> Outcome {
        commandCount += 1
        let command = Command(
            id: CommandID(node: 0, incarnation: incarnation, counter: commandCount), time: time,
            action: action)
        tell("\(commandCount) at \(now / 1_000_000): \(text)")
        let before = center.sequence
        center.apply(command, at: center.appliedIndex + 1, into: &effects)
        turn += effects.changes
        forgottenBefore = truth.forgotten
        truth.passTime(to: now, wall: wall)
        try notePosts(above: before, action)
        let outcome = effects.outcome
        try takeEffects()
        forgetGone()
        for (serial, watcher) in watchers where isPartlyKept(watcher.filter) {
            watchers[serial]?.ringLoss = truth.ringForgot
        }
        return outcome
    }

    /// Notes what was dispatched, and judges whether its receipt says what became of it.
    private func notePosts(above sequence: UInt64, _ action: Command.Action) throws(Violation) {
        for notification in effects.notifications where notification.sequence > sequence {
            let content = notification.content
            let ttl = notification.expiresAt == .max ? nil : notification.expiresAt - now
            let post = ArchiveTruth.Post(
                sequence: notification.sequence, id: notification.id, name: content.nameBytes,
                object: content.objectBytes, number: Self.number(content),
                byteCount: content.byteCount, postedAt: wall,
                ends: notification.expiresAt,
                endsAt: ttl.map { wall + $0 / 1_000_000 } ?? .max)
            let isKept = truth.dispatch(post, at: now, wall: wall)
            let receipt = effects.receipts.first { $0.id == post.id }
            guard receipt?.isKept == isKept else {
                throw Violation(
                    "rule A2: the receipt of #\(post.sequence) says \(receipt?.isKept ?? false)")
            }
        }
    }

    static func number(_ content: Notification.Content) -> Int {
        let text = content.userInfoBytes?.shown ?? ""
        return text.firstRange(of: "\"n\":").flatMap {
            Int(text[$0.upperBound...].prefix { $0.isNumber })
        } ?? 0
    }

    /// Writes deliveries and gaps to the connections.
    private func takeEffects() throws(Violation) {
        for notice in effects.notices {
            switch notice {
            case .gap(_, _, let gap): try judge(gap)
            case .flushGoesOn(let client, _), .flushFollows(let client, _):
                ends[client]?.isFlushing = true
            case .clientRemoved, .takenOver, .removed, .readerReplaced, .mailboxFilled, .settled:
                break
            }
        }
        for delivery in effects.deliveries {
            let notification = effects.notifications[Int(delivery.notification)]
            tell(
                """
                    o\(delivery.observer) #\(notification.sequence)\
                \(delivery.isRedelivered ? " redelivered" : "")
                """)
            try judge(delivery, notification, forgottenBefore)
            guard let client = watchers[delivery.observer]?.client else { continue }
            ends[client]?.unread.append(
                ArchiveEnd.Frame(
                    observer: delivery.observer, sequence: notification.sequence))
        }
    }

    /// Observers and clients whose leases are over are known no more.
    private func forgetGone() {
        if watchers.isEmpty, ends.isEmpty { return }
        let rows = center.observers(matching: ObserverQuery(after: 0, limit: 1_000)) { _, _ in
            true
        }.rows
        let serials = Set(rows.map(\.serial))
        for (serial, watcher) in watchers where !serials.contains(serial) {
            ends[watcher.client]?.hasRemoved = true
        }
        watchers = watchers.filter { serials.contains($0.key) }
        ends = ends.filter { center.client($0.key) != nil }
    }

    // MARK: Time and the store

    func step() throws(Violation) {
        try perform()
        if dice.oneIn(3) { try commit(dice.below(uncommitted.count + 1)) }
    }

    func finish() throws(Violation) { try settle() }

    func passTime(_ milliseconds: Int) throws(Violation) {
        now += Int64(milliseconds) * 1_000_000
        wall += Int64(milliseconds)
        // What is over is not shown, whether it was removed yet or not.
        try judgePages()
        try submit(.passTime(workLimit: .max), "passTime")
    }

    func endTurn() throws(Violation) {
        try submit(.endTurn(workLimit: .max), "endTurn")
        handOver()
    }

    private func handOver() {
        uncommitted.append((turn, truth))
        turn = []
    }

    private func commit(_ count: Int) throws(Violation) {
        for _ in 0..<min(count, uncommitted.count) {
            let (changes, truth) = uncommitted.removeFirst()
            try store.commit(changes)
            committed = truth
        }
    }

    /// The broker stops or dies, and begins again.
    func restart(isComplete: Bool) throws(Violation) {
        if isComplete {
            // A stop in order writes all frames.
            for client in ends.keys.sorted() { try readAll(client) }
            try submit(.terminate, "terminate")
            for client in ends.keys.sorted() { try take(.max, of: client) }
            handOver()
            try commit(.max)
        } else {
            if dice.oneIn(2) { handOver() }
            try commit(dice.below(uncommitted.count + 1))
        }
        tell(isComplete ? "restart" : "crash")
        count(isComplete ? "restarts" : "crashes")
        (turn, uncommitted) = ([], [])
        incarnation += 1
        wall += Int64(dice.oneIn(2) ? dice.below(500) : dice.below(20_000))
        now = Int64(dice.number(in: 1...1_000_000)) * 1_000_000_000
        for client in ends.keys.sorted() { loseLine(of: client) }
        ends = ends.filter { $0.value.transport != .events }
        truth = committed
        guard let image = try store.restart(isComplete: isComplete) else {
            return beginAnew()
        }
        // A start stores a block of numbers before the first is used.
        var restoration = CenterRestoration(
            of: image, limits: limits, seed: HashSeed(dice.next(), seed), time: time,
            isReserved: true)
        image.forEachRow { restoration.take($0) }
        turn.append(
            .sequenceReserved(through: image.sequence + NotificationCenter.sequenceBlock))
        center = restoration.finish { turn.append($0) }
        center.assignOwners { Owner(ofPrincipal: $0) }
        truth.beginLife(at: now, wall: wall, sequence: center.sequence, Self.names)
        tell("    next life above #\(center.sequence)")
        forgetGone()
        for serial in watchers.keys { noteRestart(of: serial, isComplete: isComplete) }
        if dice.oneIn(2) { try submit(.configure(limits), "configure") }
        try removeStrangers()
        handOver()
        try commit(.max)
    }

    private func beginAnew() {
        center = NotificationCenter(
            name: center.name, epoch: center.epoch + [1], limits: limits,
            seed: HashSeed(dice.next(), seed))
        truth = ArchiveTruth(ringLimit: limits.replayCountLimit)
        (committed, watchers, ends) = (truth, [:], [:])
    }

    /// Removes observers whose removal the store has not seen.
    private func removeStrangers() throws(Violation) {
        let rows = center.observers(matching: ObserverQuery(after: 0, limit: 1_000)) { _, _ in
            true
        }.rows
        for row in rows where watchers[row.serial] == nil {
            try submit(.removeObserver(serial: row.serial, by: .broker), "remove a stranger")
        }
    }
}
