import BelfryCenter
import BelfryLoop
import BelfryStore
import BelfrySystem

/// The centers of one loop: a shard, and the loop's own record of each center.
struct CenterTable: ~Copyable {
    private(set) var shard: Shard
    /// The records, by the positions of the shard.
    private(set) var hosted: [HostedCenter] = []
    /// The position of the default center, on the loop that has it.
    private(set) var defaultPosition: Int?
    /// The centers that got a command in this turn.
    private(set) var touched: [Int] = []
    /// The number of centers that wait for an idle moment.
    private(set) var idleCount = 0
    private let keepsChanges: Bool
    /// The growth of the number of observers by the last command.
    private(set) var observerGrowth = 0
    /// The growth of the centers' memory that is not accounted for yet.
    var keptGrowth = KeptGrowth()
    /// Whether a command has named an owner: before that no memory is counted by owner.
    var hasOwners = false
    /// The changes of centers that ended in this turn.
    private var ended: TurnEnd?
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

    // MARK: What centers keep

    /// The identifier of the next post to a center, with its place among them (decision 45).
    @inline(__always)
    mutating func nextNotificationID(at position: Int, _ outbox: inout Outbox) -> NotificationID {
        defer { hosted[position].postCount += 1 }
        return NotificationID(
            milliseconds: outbox.loop.wallNow.milliseconds, place: hosted[position].postCount,
            random: outbox.random.next())
    }

    /// Counts the memory of a center again, if it has changed by some bytes.
    mutating func noteKept(at position: Int, ifChangedBy byteCount: Int = 0) {
        takeOwned(at: position)
        guard let growth = shard.noteKept(at: position, ifChangedBy: byteCount) else { return }
        keptGrowth.add(growth)
        let owner = hosted[position].owner
        if owner != .none {
            var more = Holdings()
            more.memory = growth.ofCenter
            keptGrowth.add([owner: more])
        }
    }

    /// Counts the memory of all centers again.
    mutating func noteAllKept() {
        for position in hosted.indices { noteKept(at: position) }  // Bound: centers
    }

    /// The change in bytes, about, past which a center's memory is counted again.
    static let leastKeptChange = 4 << 10

    /// Takes the growth of a center's memory by owner.
    @inline(__always)
    private mutating func takeOwned(at position: Int) {
        if hasOwners { keptGrowth.add(shard.takeOwnedGrowth(at: position)) }
    }

    /// Counts a center, or with -1 its end, for its owner, with its own memory.
    private mutating func countCenter(_ sign: Int, at position: Int) {
        countCenter(sign, of: shard.centers[position], at: position)
    }

    private mutating func countCenter(
        _ sign: Int, of center: borrowing NotificationCenter, at position: Int
    ) {
        var more = Holdings()
        let kept = center.keptMemory.ofCenter
        more.memory = sign > 0 ? kept : KeptMemory() - kept
        more.centerCount = sign
        keptGrowth.add([hosted[position].owner: more])
    }

    /// Assigns the restored contents of a center to owners.
    mutating func assignOwners(at position: Int, _ ownerOf: (_ principal: [UInt8]) -> Owner) {
        shard.assignOwners(at: position, ownerOf)
        takeOwned(at: position)
    }

    /// The memory of an empty center: itself, and its tables at their smallest.
    static let centerByteCount = 3 << 10

    /// Marks the center at a position for the end of the turn.
    mutating func touch(_ position: Int) {
        guard !hosted[position].isTouched else { return }
        hosted[position].isTouched = true
        touched.append(position)
    }
}

// MARK: - The end of a turn

extension CenterTable {
    /// The changes of a turn in the centers that got a command.
    struct TurnEnd {
        /// The changes to store, in the order in which they happened in each center.
        var changes: [StoreChange] = []
        /// The growth of held bytes.
        var heldGrowth = 0
        /// The growth of queued bytes.
        var queueGrowth = 0
        /// The growth of the number of held notifications.
        var heldCountGrowth = 0
        /// The losses of observers in the turn.
        var losses: Losses?
        /// The growth of the number of queue entries.
        var entryGrowth = 0
        /// The first deadline of these centers.
        var deadline = Int64.max
    }

    /// Forgets the touched centers, but for those with another end, and returns the turn's changes.
    mutating func endTurn(at time: CommandTime, _ totals: borrowing CenterTotals) -> TurnEnd {
        var end = TurnEnd()
        if let earlier = ended.take() { end = earlier }
        // Commands after the end of the turn leave with the next one.
        var others: [Int] = []
        for position in touched {  // Bound: centers
            hosted[position].isTouched = false
            noteKept(at: position, ifChangedBy: Self.leastKeptChange)
            addTally(at: position, to: totals)
            let needs = shard.centers[position].needs
            note(needs, at: position, &end)
            if shard.centers.span[position].losses.total != hosted[position].knownLosses.total {
                note(shard.centers.span[position].losses, at: position, &end)
            }
            end.deadline = min(end.deadline, needs.nextDeadline(at: time))
            // A log ends turns by its own entries.
            if needs.turnEnd, log == nil { others.append(position) }
            if !keepsChanges { continue }
            let changes = hosted[position].endOfTurn()
            if changes.isEmpty { continue }
            let name = shard.centers[position].name
            end.changes.append(.center(name: name, changes: changes))
        }
        touched.removeAll(keepingCapacity: true)
        for position in others { touch(position) }  // Bound: centers
        return end
    }

    /// Adds the growth of clients, asks, timers and values since the last turn to the totals.
    ///
    /// Without the span the center would be copied.
    @inline(__always)
    private mutating func addTally(at position: Int, to totals: borrowing CenterTotals) {
        let changeCount = shard.centers.span[position].clientChangeCount
        if changeCount != hosted[position].knownClients.changeCount {
            hosted[position].add(shard.centers.span[position].clientCounts, to: totals)
        }
        if shard.centers.span[position].hasTally {
            hosted[position].add(shard.centers.span[position].tally, to: totals)
        }
    }

    private mutating func note(_ needs: CenterNeeds, at position: Int, _ end: inout TurnEnd) {
        let known = hosted[position].known
        end.heldGrowth += needs.heldByteCount - known.heldByteCount
        end.queueGrowth += needs.queueByteCount - known.queueByteCount
        end.entryGrowth += needs.queueCount - known.queueCount
        end.heldCountGrowth += needs.heldCount - known.heldCount
        if needs.idle != known.idle { idleCount += needs.idle ? 1 : -1 }
        hosted[position].known = needs
    }

    private mutating func note(_ losses: Losses, at position: Int, _ end: inout TurnEnd) {
        end.losses = end.losses ?? Losses()
        end.losses?.add(losses, since: hosted[position].knownLosses)
        hosted[position].knownLosses = losses
    }
}
