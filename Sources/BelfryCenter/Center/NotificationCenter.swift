/// A notification center: observers, one order of notifications, and a bounded memory of the past.
///
/// It is a pure machine. It changes only through ``apply(_:at:into:)``; it reads no clock, makes no
/// random number, and names connections by number. The same commands in the same order give the
/// same state and the same effects on every machine, in a simulator and after a restart.
///
/// The path of one post: count it for its channel, find the buckets, assign the sequence number,
/// walk the matching observers in registration order, write one ``Delivery`` for each, keep the
/// notification for replay and its receipt as its fate.
public struct NotificationCenter: Sendable {
    /// The name of the center, as it appears in URLs.
    public let name: [UInt8]
    /// The index of the last command that was applied.
    public internal(set) var appliedIndex: UInt64 = 0
    /// The limits that it keeps.
    public internal(set) var limits: CenterLimits
    /// The commands that it needs from its host, as of the last command.
    public internal(set) var needs = CenterNeeds()
    /// The counts of asks, timers and values.
    public internal(set) var tally = CenterTally()
    /// Whether the store has the center.
    public internal(set) var isStored = false
    /// Whether it got the command to stop.
    var isTerminating = false
    /// The monotonic time of the last command.
    var lastTime: Int64 = 0
    /// The time of the last command on the wall clock, in milliseconds since 1970.
    var lastWallTime: Int64 = 0

    var registry: ObserverRegistry
    var history: History
    var backlog = Backlog()
    var schedule: Schedule
    var asks: Asks
    var values: ValueTable
    /// The archives of the center; commands that do not use them copy none of their tables.
    var archiveBox: Boxed<Archives>
    var memory = CenterMemory()
    /// The notification that is being dispatched.
    var dispatching = Dispatching()
    /// The reports that the center posts when the command is done.
    var reports: [Report] = []

    /// Makes a center that has nothing.
    ///
    /// - Parameters:
    ///   - name: The name as it appears in URLs.
    ///   - epoch: text that no other life of this center has.
    ///   - limits: the limits to keep until a `configure` command changes them.
    ///   - seed: The secret of this process for its hash tables; it is never shown.
    public init(name: [UInt8], epoch: [UInt8], limits: CenterLimits, seed: HashSeed) {
        self.name = name
        self.limits = limits
        registry = ObserverRegistry(limits: limits, seed: seed)
        history = History(epoch: epoch, limits: limits, seed: seed)
        schedule = Schedule(limits: limits, seed: seed)
        asks = Asks(seed: seed)
        values = ValueTable(seed: seed)
        archiveBox = Boxed(Archives(limits: limits, seed: seed))
    }

    /// The archives of the center, to look at.
    public var archives: Archives { _read { yield archiveBox.value } }

    /// Changes the center, and writes the results into `effects`.
    ///
    /// A command that is refused changes nothing but the applied index.
    ///
    /// - Parameters:
    ///   - command: The command.
    ///   - index: The place of the command in the log; each is one above the one before.
    ///   - effects: The effects, emptied first; their storage is used again.
    public mutating func apply(
        _ command: borrowing Command, at index: UInt64, into effects: inout Effects
    ) {
        precondition(index == appliedIndex + 1, "commands are applied in the order of their log")
        appliedIndex = index
        lastTime = command.time.monotonicNanoseconds
        lastWallTime = command.time.wallMilliseconds
        effects.reset()
        dispatching.keptMark = HeldTable.none
        dispatching.walkLookCount = 0
        let reportCount = reports.count
        if !archiveBox.value.isConfigured {
            archiveBox.value.configure(limits, registry.index.channels, history, at: command.time)
        }
        do throws(Refusal) {
            try perform(command.action, command.id, at: command.time, into: &effects)
            if registry.watch.hasGonePrefixes { registry.noteGonePrefixes() }
            if asks.isUsed, !asks.open.sequel.isEmpty { restartWalks(at: command.time, &effects) }
            if !reports.isEmpty {
                postReports(
                    of: command.id, isEnd: command.action.isEnd, at: command.time, into: &effects)
                if asks.isUsed, !asks.open.sequel.isEmpty {
                    restartWalks(at: command.time, &effects)
                }
            }
            if archiveBox.value.isUsed {
                // Bound: effects
                for sequence in archiveBox.value.takeEnded() { history.replay.erase(sequence) }
                // Bound: effects
                for change in archiveBox.value.takeChanges() { tell(change, &effects) }
            }
            if case .terminate = command.action {
                tellEnd(at: command.time, &effects)
                if isStored { reserveExactly(&effects) }
            }
        } catch {
            effects.reset()
            effects.outcome = .refused(error)
            reports.removeLast(reports.count - reportCount)
            if case .queueFull = error { reportOverflow() }
        }
        if !backlog.paces.isEmpty {
            backlog.paces.forgetOver(at: lastTime, limit: PaceTable.shareOfCommand)
        }
        noteNeeds()
    }

    /// Reports once that the queue is full; it is posted with the end of the turn.
    private mutating func reportOverflow() {
        guard !schedule.hasReportedOverflow else { return }
        schedule.hasReportedOverflow = true
        reports.append(.queueOverflowed(count: schedule.queue.count))
    }

    /// The text of a selector that a delivery names.
    public func selector(_ selector: UInt32) -> [UInt8] { registry.selectors.text(of: selector) }

    private mutating func perform(
        _ action: borrowing Command.Action, _ id: CommandID, at time: CommandTime,
        into effects: inout Effects
    ) throws(Refusal) {
        switch action {
        case .configure(let limits): configure(limits, at: time, &effects)
        case .connect(let client, let registrations, let since):
            try connect(client, registrations, since: since, at: time, into: &effects)
        case .disconnect(let client, let connection, let end, _, let written):
            disconnect(client, connection, end, written, at: time, &effects)
        case .resume(let resumption): try resume(resumption, at: time, &effects)
        case .onConnection(let place, let action):
            guard isThere(place) else { throw .unknownClient }
            try perform(action, id, at: time, into: &effects)
        case .within(let cover, let action):
            try cover.check(action, in: self)
            try perform(action, id, at: time, into: &effects)
        case .setSuspended(let client, let isSuspended):
            try setSuspended(client, isSuspended, at: time, &effects)
        case .becomeSlow(let client): try becomeSlow(client, at: time, &effects)
        case .drain(let client): try drain(client, at: time, &effects)
        case .post(let post, let terms):
            if post.options == nil, terms.details == nil, terms.canStore || !limits.isDurable {
                try postPlainly(post, terms, id, at: time, &effects)
            } else {
                try self.post(post, terms, id, at: time, &effects)
            }
        case .postBatch(let posts, let terms): try post(posts, terms, id, at: time, &effects)
        case .acknowledge(let client, let delivery, let response):
            acknowledge(delivery, of: client, response, at: time, &effects)
        case .ask(let ask, let terms): try self.ask(ask, terms, id, at: time, &effects)
        case .withdraw(let id): try withdraw(id, at: time, &effects)
        case .leaveAsk(let id, let command): leaveAsk(id, command, at: time, &effects)
        case .answer(let id, let observer, let response, let principal):
            try answer(id, by: observer, response, of: principal, at: time, &effects)
        case .showAnnounced(let number): showAnnounced(through: number, at: time, &effects)
        case .setValue(let write, let value, let lifetime):
            try setValue(write, value, lifetime, at: time, &effects)
        case .mergeValue(let write, let patch): try mergeValue(write, patch, at: time, &effects)
        case .removeValue(let write): try removeValue(write, at: time, &effects)
        case .addObserver(let registration, let client, let since):
            let rows = try register([registration], client: client, since: since, time, &effects)
            effects.outcome = .registered(rows)
        case .removeObserver(let serial, let remover):
            try removeObserver(serial, by: remover, at: time, into: &effects)
        case .removeObservers(let client, let filter):
            try removeObservers(of: client, filter, at: time, into: &effects)
        case .removeClient(let client, let remover):
            try removeClient(client, by: remover, at: time, &effects)
        case .readMailbox(let observer, let through, let wait):
            try readMailbox(observer, through: through, wait: wait, at: time, &effects)
        case .attachStream(let observer, let connection):
            try attachReader(observer, connection, isStream: true, at: time, &effects)
        case .detachReader(let observer, let reader): detachReader(observer, reader, at: time)
        case .dequeue(let match): dequeue(match, at: time, &effects)
        case .dequeueEntry(let entry, let scope): try dequeue(entry, scope, at: time, &effects)
        case .enterMode(let entry): try enter(entry, at: time)
        case .leaveMode(let serial): try leaveMode(serial)
        case .endTurn(let workLimit): endTurn(workLimit: workLimit, at: time, &effects)
        case .idle: postIdle(at: time, &effects)
        case .passTime(let workLimit): passTime(workLimit: workLimit, at: time, &effects)
        case .terminate: terminate(at: time, &effects)
        case .trimHeld(let byteCount): trimHeld(to: byteCount, &effects)
        case .trim(let kind, let count): trim(kind, to: count, at: time, &effects)
        case .trimOwned(let kind, let owner): trim(kind, of: owner, at: time, &effects)
        case .putArchive, .removeArchive, .forget:
            try changeArchives(action, at: time, &effects)
        }
        schedule.endOverflow(below: limits.queueEntryLimit / 2)
    }

    /// Sets other limits.
    ///
    /// A restored center reserves its first numbers by this, and uses none before that is
    /// committed.
    private mutating func configure(
        _ limits: CenterLimits, at time: CommandTime, _ effects: inout Effects
    ) {
        if limits.isDurable, isStored, history.sequence >= history.sequenceReserveAt {
            reserveMoreSequence(&effects)
        }
        self.limits = limits
        archiveBox.value.configure(limits, registry.index.channels, history, at: time)
        registry.index.configure(unobservedNameLimit: limits.unobservedNameLimit)
        registry.tombstones.trim(to: limits.tombstoneLimit)
        history.replay.configure(limits)
        history.fates.configure(limits, at: time.monotonicNanoseconds)
        forgetAsks(asks.fates.trim(to: limits), &effects)
        schedule.queue.setCommonModes(limits.commonModes)
    }
}

// MARK: - Chains of causes

extension NotificationCenter {
    /// The epoch, which distinguishes the sequence numbers of this life from those of others.
    public var epoch: [UInt8] { history.epoch }
    /// The sequence number of the last notification that was dispatched.
    public var sequence: UInt64 { history.sequence }
    /// The losses of its observers; they count for this process alone, and decide nothing.
    public var losses: Losses { backlog.losses }
    /// The memory that it keeps, as of the last ``noteKept(ifChangedBy:)``.
    public var keptMemory: KeptMemory { memory.kept }

    /// The lengths of the chains of `causedBy` that end at each post.
    func depths(of posts: [Post]) throws(Refusal) -> [Int] {
        // All are decided before the first is dispatched; a cause may be in the same batch.
        let hasCauses = posts.contains { $0.causedBy != nil }
        var depths: [Int] = []
        depths.reserveCapacity(posts.count)
        var inBatch: [NotificationID: Int] = [:]
        for place in posts.indices {  // Bound: batch
            let depth = try depth(
                causedBy: posts[place].causedBy, place: place, inBatch: inBatch)
            depths.append(depth)
            if hasCauses { inBatch[posts[place].id] = depth }
        }
        return depths
    }

    /// The length of the chain of `causedBy` that ends at a post or an ask (rules C12 and R14).
    func depth(
        causedBy cause: NotificationID?, place: Int? = nil, inBatch: [NotificationID: Int] = [:]
    ) throws(Refusal) -> Int {
        guard let cause else { return 1 }
        let depth = (inBatch[cause] ?? depth(of: cause) ?? 1) + 1
        guard depth <= limits.causedByDepthLimit else {
            throw .causedByTooDeep(limit: limits.causedByDepthLimit, post: place)
        }
        return depth
    }

    /// The length of the chain that ends at a post, a timer or an ask, if it is known.
    private func depth(of id: NotificationID) -> Int? {
        if let depth = history.fates.depth(of: id) { return depth }
        if schedule.usesTimers, let slot = schedule.timers.slot(of: id) {
            return Int(schedule.timers[slot].depth)
        }
        if let slot = asks.open.slot(of: id) { return asks.open[slot].depth }
        return asks.fates[id]?.depth
    }
}
