import BelfryCenter
import BelfryHistory

/// The commands of a center, as bytes that a second process replays.
///
/// A second center here does the same at once: its effects must be equal, and at every 250th
/// command digests and states.
struct Recorder {
    private var replayer: Replayer
    private var record: Record?
    private var commandCount = 0

    /// The commands between two comparisons, after which the second center moves into its snapshot.
    ///
    /// Nil if the world decides.
    var interval: Int? = 250

    init(name: [UInt8], epoch: [UInt8], limits: CenterLimits) {
        replayer = Replayer(name: name, epoch: epoch, limits: limits)
    }

    /// Keeps the bytes, for a file.
    mutating func keepBytes(name: [UInt8], epoch: [UInt8], limits: CenterLimits) {
        record = Record()
        record?.write(.start, name, epoch, Self.code(of: limits))
    }

    var bytes: [UInt8] { record?.bytes ?? [] }

    mutating func record(_ command: Command) throws(Violation) {
        let code = command.code
        record?.write(.command, code)
        try replayer.apply(code: code)
        commandCount += 1
    }

    mutating func endTurn() {
        record?.write(.endOfTurn)
        replayer.endTurn()
    }

    mutating func commit() throws(Violation) {
        record?.write(.commit)
        try replayer.commit()
    }

    /// Begins the next life of the second center.
    ///
    /// - Returns: what its store had, for a world that has none of its own.
    @discardableResult
    mutating func restart(
        limits: CenterLimits, epoch: [UInt8], isComplete: Bool, time: CommandTime
    ) throws(Violation) -> CenterImage? {
        record?.write(
            .restart, Self.code(of: limits, at: time), epoch, isComplete ? [1] : [0])
        let image = try replayer.restart(
            limits: limits, epoch: epoch, isComplete: isComplete, time: time)
        if interval != nil { try replayer.moveIntoSnapshot() }
        return image
    }

    /// Compares with the center that did the same, and what that brought about.
    mutating func compare(
        with center: borrowing NotificationCenter, _ effects: borrowing Effects
    ) throws(Violation) {
        guard replayer.hasBrought(effects) else {
            throw Violation("command \(commandCount) does something else in a second center")
        }
        guard let interval, commandCount % interval == 0 else { return }
        record?.write(.digest, Record.number(center.digest()))
        try compareStates(with: center)
        try replayer.moveIntoSnapshot()
    }

    /// Compares digests and snapshots of the two.
    ///
    /// - Returns: the snapshot.
    @discardableResult
    func compareStates(with center: borrowing NotificationCenter) throws(Violation) -> [UInt8] {
        guard replayer.digest == center.digest() else {
            throw Violation("after \(commandCount) commands a second center has another digest")
        }
        let snapshot = center.snapshot()
        guard replayer.snapshot == snapshot else {
            throw Violation("after \(commandCount) commands a second center has another state")
        }
        return snapshot
    }

    /// Replaces the second center by the one that the snapshot of both makes, without a loss.
    ///
    /// - Returns: the snapshot.
    mutating func moveIntoSnapshot(
        of center: borrowing NotificationCenter
    ) throws(Violation) -> [UInt8] {
        let snapshot = try compareStates(with: center)
        try replayer.moveIntoSnapshot()
        try compareStates(with: center)
        return snapshot
    }

    /// Limits and a time have the code of the command that says them.
    private static func code(
        of limits: CenterLimits,
        at time: CommandTime = CommandTime(wallMilliseconds: 0, monotonicNanoseconds: 0)
    ) -> [UInt8] {
        let id = CommandID(node: 0, incarnation: 0, counter: 0)
        return Command(id: id, time: time, action: .configure(limits)).code
    }
}

/// A center and a store that do what a record says.
struct Replayer {
    private var center: NotificationCenter
    private var store: CenterStore
    private var effects = Effects()
    private var turn: [Change] = []
    private var uncommitted: [[Change]] = []
    private var moveCount = 0

    init(name: [UInt8], epoch: [UInt8], limits: CenterLimits) {
        // Another seed than the first center has: no digest may depend on it.
        center = NotificationCenter(
            name: name, epoch: epoch, limits: limits, seed: HashSeed(0x5eed, 0x2))
        store = CenterStore(name: name)
    }

    var digest: UInt64 { center.digest() }

    mutating func apply(code: [UInt8]) throws(Violation) {
        let command = try Self.command(code)
        center.apply(command, at: center.appliedIndex + 1, into: &effects)
        turn += effects.changes
    }

    var snapshot: [UInt8] { center.snapshot() }

    /// Whether the last command has brought about the same here.
    func hasBrought(_ others: borrowing Effects) -> Bool {
        effects.outcome == others.outcome && effects.notifications == others.notifications
            && effects.deliveries == others.deliveries && effects.receipts == others.receipts
            && effects.notices == others.notices && effects.reports == others.reports
            && effects.completions == others.completions
            && effects.askCompletions == others.askCompletions
            && effects.askEnds == others.askEnds && effects.announcement == others.announcement
            && effects.keyPaths == others.keyPaths
            && effects.changedValues == others.changedValues && effects.changes == others.changes
            && effects.hasAsks == others.hasAsks && effects.hasValues == others.hasValues
            && (!effects.hasAsks || hasSameAddresses(others))
    }

    private func hasSameAddresses(_ others: borrowing Effects) -> Bool {
        effects.notifications.indices.allSatisfy {
            effects.addressed(of: UInt32($0)) == others.addressed(of: UInt32($0))
        }
    }

    /// Continues with the center that its own snapshot makes; all its stored changes must be equal.
    mutating func moveIntoSnapshot() throws(Violation) {
        let restored: NotificationCenter
        do {
            restored = try NotificationCenter(
                snapshot: center.snapshot(), seed: HashSeed(0x5eed, 0x4))
        } catch {
            throw Violation("a snapshot cannot be read: \(error)")
        }
        moveCount += 1
        // Looking at each field takes long.
        if moveCount == 1,
            let fault = differences(center, restored, leavingOut: fieldsOfOneProcess).first
        {
            throw Violation("a snapshot lacks \(fault)")
        }
        center = restored
    }

    mutating func endTurn() {
        uncommitted.append(turn)
        turn = []
    }

    mutating func commit() throws(Violation) {
        guard !uncommitted.isEmpty else { return }
        try store.commit(uncommitted.removeFirst())
    }

    @discardableResult
    mutating func restart(
        limits: CenterLimits, epoch: [UInt8], isComplete: Bool, time: CommandTime
    ) throws(Violation) -> CenterImage? {
        turn = []
        uncommitted = []
        let seed = HashSeed(0x5eed, 0x3)
        let image = try store.restart(isComplete: isComplete)
        if let image {
            // Ends between two lives are stored with the first turn of the next one.
            center = NotificationCenter(
                restoring: image, limits: limits, seed: seed, time: time,
                note: { turn.append($0) })
            center.assignOwners { Owner(ofPrincipal: $0) }
        } else {
            center = NotificationCenter(
                name: center.name, epoch: epoch, limits: limits, seed: seed)
        }
        return image
    }

    /// Replays a record; tells how many digests were equal.
    static func replay(_ bytes: [UInt8]) throws(Violation) -> Int {
        var record = Record(bytes: bytes)
        guard record.part() == .start else { throw Violation("this is not a record") }
        var replayer = Replayer(
            name: record.text(), epoch: record.text(), limits: try limits(record.text()).0)
        var equalCount = 0
        while let part = record.part() {
            switch part {
            case .start: throw Violation("a record starts once")
            case .command: try replayer.apply(code: record.text())
            case .endOfTurn: replayer.endTurn()
            case .commit: try replayer.commit()
            case .restart:
                let (limits, time) = try limits(record.text())
                try replayer.restart(
                    limits: limits, epoch: record.text(), isComplete: record.text() == [1],
                    time: time)
            case .digest:
                guard record.text() == Record.number(replayer.digest) else {
                    throw Violation("digest \(equalCount + 1) differs in this process")
                }
                equalCount += 1
            }
        }
        return equalCount
    }

    private static func command(_ code: [UInt8]) throws(Violation) -> Command {
        do { return try Command(code: code) } catch {
            throw Violation("the code of a command cannot be read: \(error)")
        }
    }

    private static func limits(_ code: [UInt8]) throws(Violation) -> (CenterLimits, CommandTime) {
        let command = try command(code)
        guard case .configure(let limits) = command.action else {
            throw Violation("limits are written as the command that says them")
        }
        return (limits, command.time)
    }
}
