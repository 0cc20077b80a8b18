import BelfryCenter
import BelfryLoop
import BelfryStore
import BelfrySystem

/// The centers of one loop: a shard, and the loop's own record of each center.
struct CenterTable: ~Copyable {
    var shard: Shard
    /// The records, by the positions of the shard.
    var hosted: [HostedCenter] = []
    /// The position of the default center, on the loop that has it.
    private(set) var defaultPosition: Int?
    /// The centers that got a command in this turn.
    var touched: [Int] = []
    /// The number of centers that wait for an idle moment.
    var idleCount = 0
    let keepsChanges: Bool
    /// The growth of the number of observers by the last command.
    private(set) var observerGrowth = 0
    /// The growth of the centers' memory that is not accounted for yet.
    var keptGrowth = KeptGrowth()
    /// Whether a command has named an owner: before that no memory is counted by owner.
    var hasOwners = false
    /// The changes of centers that ended in this turn.
    var ended: TurnEnd?
    /// Whether the last command that makes a center made a new one.
    private(set) var madeIsNew = false
    /// Whether the end of the last center must be stored.
    private(set) var endedIsStored = false
    /// The sequencer, where this broker does not order commands alone.
    let sequencer: (any Sequencer)?
    /// The log that several brokers share, where there is one.
    let log: LogSequencer?
    /// The record of dispatched numbers that survives `kill -9`; nil without a data directory.
    private let witness: DispatchWitness?
    /// Whether there is a witness: reading `witness` itself would count a reference.
    private let isWitnessed: Bool
    /// The commands that the sequencer has not returned.
    private var underWay = CommandsUnderWay()
    /// The name of the next command.
    private(set) var nextCommand: CommandID

    /// - Parameter loop: the number of the loop, so that no two loops name commands alike.
    init(
        limits: CenterLimits, secrets: CenterSecrets, incarnation: UInt64, loop: Int,
        keepsChanges: Bool, witness: DispatchWitness?, sequencer: (any Sequencer)?
    ) {
        self.witness = witness
        isWitnessed = witness != nil
        self.sequencer = sequencer
        log = sequencer as? LogSequencer
        shard = secrets.shard(limits, hasLog: log != nil)
        self.keepsChanges = keepsChanges
        nextCommand = CommandID(
            node: 0, incarnation: incarnation, counter: UInt64(loop) << 48 + 1)
    }

    var count: Int { shard.count }

    /// The limits of new centers.
    var limits: CenterLimits {
        get { shard.limits }
        set { shard.limits = newValue }
    }

    /// The revision of the limits, in a log.
    var limitsRevision: UInt64 { shard.limitsRevision }

    /// The level of the rules in a log.
    var level: UInt64 { shard.level }

    /// Closes the table: no name finds its center any more.
    mutating func close() {
        shard.close()
        defaultPosition = nil
        touched = []
    }

    /// The position of a center; nil if there is none.
    @inline(__always)
    func position(of name: [UInt8]) -> Int? {
        // Arrays that share their storage are equal at once, as for the default center.
        if let defaultPosition, name == RoutedPath.defaultCenter { return defaultPosition }
        return shard.position(of: name)
    }

    /// Makes a center that is not there yet.
    ///
    /// - Parameter owner: the owner of the center, and of its own memory.
    mutating func make(
        _ name: [UInt8], owner: Owner = .none, epoch: [UInt8], time: CommandTime
    ) -> Int {
        let position = shard.makeCenter(name, epoch: epoch)
        host(position, at: time)
        assign(owner, to: position)
        return position
    }

    /// Assigns a new center to an owner.
    mutating func assign(_ owner: Owner, to position: Int) {
        if owner == .none { return }
        hosted[position].owner = owner
        countCenter(1, at: position)
    }

    /// Takes a restored center.
    mutating func take(_ center: consuming NotificationCenter, at time: CommandTime) -> Int {
        let position = shard.take(center)
        host(position, at: time)
        touch(position)
        return position
    }

    /// Adds the record of a center that the shard has added.
    private mutating func host(_ position: Int, at time: CommandTime) {
        hosted.append(
            HostedCenter(
                time: time, observerCount: shard.centers[position].needs.observerCount))
        if isWitnessed { beginWitness(at: position) }
        noteKept(at: position)
        if shard.centers[position].name == RoutedPath.defaultCenter { defaultPosition = position }
    }

    /// Whether a center, not the default one, is empty and had no command since a time.
    func isLeft(_ position: Int, since nanoseconds: Int64) -> Bool {
        position != defaultPosition && !underWay.contains(center: shard.centers[position].name)
            && hosted[position].time.monotonicNanoseconds <= nanoseconds
            && !shard.centers[position].needs.turnEnd && shard.centers[position].use.isNone
    }

    /// Ends a center: its name finds it no more, and the last center takes its position.
    ///
    /// - Returns: whether the end must be stored; it is, with the end of the turn.
    mutating func end(_ position: Int, _ totals: borrowing CenterTotals) -> Bool {
        shard.endCenter(at: position)
        return noteEnd(at: position, totals)
    }

    /// Records that the shard has ended a center, and that the last one has its position.
    mutating func noteEnd(at position: Int, _ totals: borrowing CenterTotals) -> Bool {
        guard var center = shard.takeEnded() else { return false }
        var end = ended.take() ?? TurnEnd()
        defer { ended = end }
        note(center.needs, at: position, &end)
        note(center.losses, at: position, &end)
        hosted[position].add(center.clientCounts, to: totals)
        hosted[position].add(center.tally, to: totals)
        if hasOwners { keptGrowth.add(center.takeOwnedGrowth()) }
        keptGrowth.add(KeptMemory() - center.keptMemory)
        if hosted[position].owner != .none { countCenter(-1, of: center, at: position) }
        let name = center.name
        if let page = hosted[position].page { witness?.give(back: page) }
        let changes = hosted[position].endOfTurn()
        if !changes.isEmpty { end.changes.append(.center(name: name, changes: changes)) }
        let isStored = keepsChanges && center.isStored
        if isStored { end.changes.append(.centerEnded(name: name)) }
        touched.removeAll { $0 == position }
        let last = hosted.count - 1
        if position != last {
            hosted.swapAt(position, last)
            if let place = touched.firstIndex(of: last) { touched[place] = position }
            if defaultPosition == last { defaultPosition = position }
        }
        hosted.removeLast()
        return isStored
    }

    /// The center at a position, to read.
    subscript(position: Int) -> NotificationCenter {
        @inline(__always) _read { yield shard.centers.span[position] }
    }

    /// Moves on to the name of the next command.
    @inline(__always)
    private mutating func passName() {
        nextCommand = CommandID(
            node: nextCommand.node, incarnation: nextCommand.incarnation,
            counter: nextCommand.counter + 1)
    }

    /// Applies a command, which has the next name, to a center.
    @inline(__always)
    mutating func apply(
        _ command: consuming Command, to position: Int, into effects: inout Effects
    ) {
        passName()
        hosted[position].time = command.time
        touch(position)
        let observerCount = shard.centers[position].needs.observerCount
        shard.apply(command, to: position, into: &effects)
        noteApplied(&effects, at: position, observerCount: observerCount)
    }

    /// Notes the changes of a command in a center with its count of observers before.
    ///
    /// Effects that do not change are not copied.
    @inline(__always)
    private mutating func noteApplied(
        _ effects: inout Effects, at position: Int, observerCount: Int
    ) {
        if !effects.changes.isEmpty, keepsChanges { hosted[position].keep(effects) }
        if isWitnessed { bearWitness(at: position) }
        observerGrowth = shard.centers[position].needs.observerCount - observerCount
        // Many may register, or write values, in one turn: each counts for the next.
        guard observerGrowth != 0 || effects.hasValues else { return }
        noteKept(at: position, ifChangedBy: Self.leastKeptChange)
    }

    private mutating func beginWitness(at position: Int) {
        hosted[position].page = witness?.takePage(for: shard.centers[position])
        hosted[position].witnessedThrough = shard.centers[position].sequence
    }

    /// Records the dispatched numbers of a command, before a delivery leaves.
    private mutating func bearWitness(at position: Int) {
        let sequence = shard.centers[position].sequence
        guard sequence != hosted[position].witnessedThrough, let page = hosted[position].page
        else { return }
        witness?.note(
            shard.centers[position], above: hosted[position].witnessedThrough, on: page)
        hosted[position].witnessedThrough = sequence
    }

    // MARK: Commands that a sequencer takes

    /// Whether commands are given to a sequencer, and not applied at once.
    var hasSequencer: Bool { sequencer != nil }

    /// Whether commands are under way.
    var isWaiting: Bool { sequencer?.isWaiting ?? false }

    /// Submits a command for the center at a position, and returns its name.
    mutating func hand(_ command: Command, for position: Int) -> CommandID {
        hosted[position].time = command.time
        hosted[position].ownWork.formUnion(OwnWork(command.action))
        return hand(
            .tell(center: shard.centers[position].name, command.action), at: command.time)
    }

    /// Submits a command to the sequencer.
    mutating func hand(_ action: ShardCommand.Action, at time: CommandTime) -> CommandID {
        guard let sequencer else { return nextCommand }
        let id = sequencer.submit(action, at: time)
        underWay.add(id, action)
        return id
    }

    /// Takes a command back from the sequencer.
    ///
    /// - Returns: nil for one that this loop has not submitted.
    mutating func takeBack(_ id: CommandID) -> CommandsUnderWay.Command? {
        guard let command = underWay.remove(id) else { return nil }
        if let position = command.center.flatMap({ self.position(of: $0) }) {
            hosted[position].ownWork.subtract(command.work)
        }
        return command
    }

    /// Takes the next event of the sequencer, and records the changes of the shard's centers.
    mutating func next(
        at time: CommandTime, _ totals: borrowing CenterTotals, into effects: inout Effects
    ) -> SequencerEvent? {
        observerGrowth = 0
        let event = sequencer?.next(&shard, into: &effects)
        if case .restored? = event { takeRestored(at: time, totals) }
        guard case .step(let step)? = event, let position = step.center else { return event }
        switch step.result {
        case .told:
            touch(position)
            hosted[position].time = time
            noteApplied(&effects, at: position, observerCount: hosted[position].observerCount)
            hosted[position].observerCount += observerGrowth
        case .made:
            madeIsNew = hosted.count < shard.count
            if madeIsNew { host(position, at: time) }
        case .ended: endedIsStored = noteEnd(at: position, totals)
        case .noCenter, .inUse, .began, .lifeEnded, .done, .used, .refused: break
        }
        return event
    }

    /// Forgets the commands under way: the log will not return them.
    mutating func forgetUnderWay() {
        underWay = CommandsUnderWay()
        for position in hosted.indices { hosted[position].ownWork = [] }  // Bound: centers
    }

    /// Starts the records of the centers anew, after a snapshot replaced the shard.
    mutating func takeRestored(at time: CommandTime, _ totals: borrowing CenterTotals) {
        var end = ended.take() ?? TurnEnd()
        for position in hosted.indices {  // Bound: centers
            note(CenterNeeds(), at: position, &end)
            hosted[position].add(ClientCounts(), to: totals)
            hosted[position].add(CenterTally(), to: totals)
        }
        ended = end
        keptGrowth.add(KeptMemory() - keptGrowth.total)
        hosted = []
        touched = []
        defaultPosition = nil
        forgetUnderWay()
        for position in 0..<shard.count {  // Bound: centers
            host(position, at: time)
            touch(position)
        }
    }

    /// Makes the log check its deadlines.
    func tickLog() { log?.tick(shard) }

    /// Hands the log the work of the turn.
    func endTurnOfLog() { log?.endTurn(shard) }

    /// The index up to which the log was applied; nil without a log.
    var logIndex: UInt64? { log == nil ? nil : shard.logIndex }

    /// The name of a connection for centers.
    @inline(__always)
    func name(of connection: ConnectionNumber) -> ConnectionName {
        ConnectionName(node: log?.seat ?? 0, number: connection.rawValue)
    }

    /// A command that counts only while a connection is a client's; no such one in a lower level.
    func action(
        _ action: Command.Action, ofClient client: UInt64?, on connection: ConnectionNumber
    ) -> Command.Action {
        guard let client, log == nil || level >= Shard.levelThree else { return action }
        return .onConnection(
            ClientConnection(client: client, connection: name(of: connection)), action)
    }

    /// Whether a command of the loop's own work for a center is not applied yet.
    func isDoing(_ work: OwnWork, at position: Int) -> Bool {
        hosted[position].ownWork.contains(work)
    }

    // MARK: Posts, and the centers of a turn

    /// The identifier of the next post to a center, with its place among them (decision 45).
    @inline(__always)
    mutating func nextNotificationID(at position: Int, _ outbox: inout Outbox) -> NotificationID {
        defer { hosted[position].postCount += 1 }
        return NotificationID(
            milliseconds: outbox.loop.wallNow.milliseconds, place: hosted[position].postCount,
            random: outbox.random.next())
    }

    /// Marks the center at a position for the end of the turn.
    mutating func touch(_ position: Int) {
        guard !hosted[position].isTouched else { return }
        hosted[position].isTouched = true
        touched.append(position)
    }
}
