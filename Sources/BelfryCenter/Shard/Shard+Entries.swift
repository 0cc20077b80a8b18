// The entries of a log, which several brokers apply: one entry is one turn.

extension Shard {
    /// The index of the last entry.
    public var logIndex: UInt64 { log.index }
    /// The time of the log, in nanoseconds.
    public var logTime: Int64 { log.time }
    /// The digest of all entries and their results: equal logs give equal ones.
    public var chain: UInt64 { log.chain }
    /// The level of the present rules.
    public var level: UInt64 { log.level }

    /// The revision of the present limits; 0 where no broker has set any.
    public var limitsRevision: UInt64 { log.limitsRevision }

    /// Whether the log has this ticket, unused.
    public func hasTicket(_ hash: SecretHash) -> Bool { log.tickets.has(hash) }

    // MARK: An entry begins

    /// Begins with the next entry of the log.
    ///
    /// An entry that counts is applied by ``step(into:)``, step by step, until there is none.
    ///
    /// - Returns: The reason why it changes nothing, if there is one.
    /// - Throws: The fault after which nothing can be applied any more.
    public mutating func begin(_ entry: Entry) throws(Fault) -> Skip? {
        precondition(log.work == nil, "an entry is over before the next begins")
        let index = log.index + 1
        if let skip = try reason(toSkip: entry, at: index) {
            log.index = index
            note(entry, counts: false)
            return skip
        }
        moveTime(by: entry, at: index)
        log.index = index
        let time = CommandTime(
            wallMilliseconds: entry.wallMilliseconds, monotonicNanoseconds: log.time)
        var departures: [EntryWork.Departure] = []
        if case .nodeUp(let level) = entry.commands.first?.action {
            let isFirst = !log.nodes.nodes.contains { $0.isUp && $0.name != entry.node }
            // A second process under one name ends the life of the first.
            if let place = log.nodes.place(of: entry.node) { departures = endLife(at: place) }
            log.nodes.begin(entry.life, of: entry.node, level: level)
            if isFirst, log.level >= Self.levelTwo { tellStart() }
        }
        guard let place = log.nodes.place(of: entry.node) else {
            preconditionFailure("a life that counts has begun")
        }
        log.nodes[place].lastNumber = entry.number
        log.nodes[place].appliedIndex = max(log.nodes[place].appliedIndex, entry.appliedIndex)
        var work = EntryWork(entry: entry, seat: log.nodes[place].seat, time: time)
        work.departures = departures
        if log.dueAt <= log.time { work.due = takeDue(at: time) }
        log.work = work
        return nil
    }

    private func reason(toSkip entry: Entry, at index: UInt64) throws(Fault) -> Skip? {
        guard entry.appliedIndex < index else { throw .otherPast(index: index) }
        guard let mark = log.past[entry.appliedIndex] else { return .isTooLate }
        guard mark.chain == entry.chain else { throw .otherPast(index: index) }
        if case .nodeUp(let level) = entry.commands.first?.action {
            guard level >= log.level else { return .isTooOld(level: log.level) }
            if let reason = log.nodes.reason(against: entry.life, of: entry.node) { return reason }
            return entry.number == 1 ? nil : .outOfOrder
        }
        guard let place = log.nodes.place(of: entry.node), log.nodes[place].isUp,
            log.nodes[place].life == entry.life
        else { return .lifeIsOver }
        return entry.number == log.nodes[place].lastNumber + 1 ? nil : .outOfOrder
    }

    /// Moves the time of the log by the writer's time since an earlier entry that it had applied.
    ///
    /// A writer that was away reports a long time since an old entry: that must not move time for
    /// the others.
    private mutating func moveTime(by entry: Entry, at index: UInt64) {
        guard let mark = log.past[entry.appliedIndex],
            entry.elapsed <= Self.believedElapsed || entry.appliedIndex + 1 == index
        else { return }
        let elapsed = Int64(clamping: entry.elapsed)
        let (nanoseconds, isTooLong) = elapsed.multipliedReportingOverflow(by: 1_000_000)
        let (time, isOver) = mark.time.addingReportingOverflow(nanoseconds)
        if !isTooLong, !isOver { log.time = max(log.time, time) }
    }

    /// The longest time, in milliseconds, that is accepted where other entries are between.
    private static let believedElapsed: UInt64 = 100

    /// Ends the life of the broker at a place; returns the connections that end with it.
    private mutating func endLife(at place: Int) -> [EntryWork.Departure] {
        guard log.nodes[place].isUp else { return [] }
        log.nodes[place].isUp = false
        let seat = log.nodes[place].seat
        let end: ConnectionEnd = log.level >= Self.levelThree ? .brokerLeft : .broken
        var departures: [EntryWork.Departure] = []
        for position in 0..<count {  // Bound: lost broker
            for action in centers[position].departures(from: seat, end) {  // Bound: lost broker
                departures.append(
                    EntryWork.Departure(
                        center: position, action: action,
                        appliedIndex: log.nodes[place].appliedIndex))
            }
        }
        return departures.reversed()
    }

    /// Takes the centers that are due by now, the first last; the others may be due later.
    private mutating func takeDue(at time: CommandTime) -> [Int] {
        var due: [Int] = []
        log.dueAt = .max
        for position in 0..<count {  // Bound: centers
            if centers[position].needs.isDue(at: time) {
                due.append(position)
            } else {
                log.dueAt = min(log.dueAt, centers[position].needs.nextDeadline(at: time))
            }
        }
        return due.reversed()
    }

    // MARK: Its steps

    /// Does the next step of the entry that was begun; its results are in `effects`.
    ///
    /// - Returns: nil at the end of the entry.
    public mutating func step(into effects: inout Effects) -> Step? {
        guard var work = log.work.take() else { return nil }
        if let step = step(&work, into: &effects) {
            log.work = work
            return step
        }
        finish(work)
        return nil
    }

    private mutating func step(_ work: inout EntryWork, into effects: inout Effects) -> Step? {
        if let position = work.due.popLast() {
            return tellOwn(.passTime(workLimit: Self.workLimit), position, &work, &effects)
        }
        // No center moves meanwhile: the next command of the entry waits.
        if let departure = work.departures.popLast() {
            let action = withWritten(departure)
            return tellOwn(action, departure.center, &work, &effects)
        }
        if work.command < work.entry.commands.count {
            defer { work.command += 1 }
            return perform(work.entry.commands[work.command], &work, &effects)
        }
        // Every broker handles them in one order: that of their positions.
        if work.ends == nil {
            work.ends = log.touched.filter { centers[$0].needs.turnEnd }.sorted(by: >)
        }
        guard let position = work.ends?.popLast() else { return nil }
        return tellOwn(.endTurn(workLimit: Self.workLimit), position, &work, &effects)
    }

    /// The limit of a center's own work in one entry, in deliveries, about.
    private static let workLimit = 2_048

    /// Gives a center a command that no broker wrote.
    private mutating func tellOwn(
        _ action: Command.Action, _ position: Int, _ work: inout EntryWork,
        _ effects: inout Effects
    ) -> Step {
        work.ownCount += 1
        let id = CommandID(node: 0, incarnation: log.index, counter: work.ownCount)
        tell(Command(id: id, time: work.time, action: action), position, &effects)
        return Step(id: nil, center: position, number: 0, result: .told)
    }

    private mutating func tell(
        _ command: borrowing Command, _ position: Int, _ effects: inout Effects
    ) {
        log.marks.begin(at: position, sequence: centers[position].sequence)
        apply(command, to: position, into: &effects)
        log.marks.note(effects, at: position, of: log.index)
        log.touched.insert(position)
    }

    private mutating func perform(
        _ command: Entry.Numbered, _ work: inout EntryWork, _ effects: inout Effects
    ) -> Step {
        let id = CommandID(
            node: work.seat, incarnation: work.entry.life, counter: command.counter)
        var made: (center: Int?, number: UInt64) = (nil, 0)
        effects.reset()
        let result: Result
        switch command.action {
        case .tell(let name, let action):
            guard let position = position(of: name) else {
                result = .noCenter
                break
            }
            made.center = position
            // The center may have got work since that broker found it idle.
            if case .idle = action, work.entry.appliedIndex + 1 != log.index {
                result = .done
                break
            }
            var numbered = Command(id: id, time: work.time, action: action)
            made.number = numbered.action.takeNumbers(from: &log.numbers)
            numbered.action = withWritten(numbered.action, at: position, work)
            tell(numbered, position, &effects)
            result = .told
        case .makeCenter(let name, let epoch):
            if position(of: name) == nil { log.marks.addCenter() }
            made.center = makeCenter(name, epoch: epoch)
            result = .made
        case .endCenter(let name):
            made.center = position(of: name)
            result = end(name)
        case .nodeUp: result = work.command == 0 ? .began(seat: work.seat) : .refused
        case .nodeDown(let name, let life):
            var hasEnded = false
            if let place = log.nodes.place(of: name), log.nodes[place].life == life {
                hasEnded = log.nodes[place].isUp
                work.departures = endLife(at: place)
                if log.level >= Self.levelTwo, !log.nodes.nodes.contains(where: \.isUp) {
                    work.departures = forAllCenters(.terminate) + work.departures
                }
            }
            result = hasEnded ? .lifeEnded(name) : .done
        case .level(let level, let key):
            result = log.nodes.knows(level) ? .done : .refused
            if result == .done { raise(to: level, key) }
        case .configure(let limits, let revision):
            result = revision > log.limitsRevision ? .done : .refused
            if result == .done { configure(limits, revision, &work) }
        case .makeTicket(let hash, let principal, let shown, let share):
            let isKept = log.tickets.insert(
                hash, for: principal, holder: shown,
                placeCount: TicketTerms.placeCount(ofByteCount: shown.count), share: share,
                now: log.time)
            result = isKept ? .done : .refused
        case .useTicket(let hash, let end):
            let shown = log.time < end ? log.tickets.take(hash, now: log.time) : nil
            result = shown.map { .used(shown: $0) } ?? .refused
        case .nothing: result = .done
        }
        return Step(id: id, center: made.center, number: made.number, result: result)
    }

    /// Sets other limits of all centers, each in a step of its own.
    private mutating func configure(
        _ limits: CenterLimits, _ revision: UInt64, _ work: inout EntryWork
    ) {
        self.limits = limits
        log.limitsRevision = revision
        work.departures += forAllCenters(.configure(limits))
    }

    /// Makes steps that give each center a command, the first center last.
    private func forAllCenters(_ action: Command.Action) -> [EntryWork.Departure] {
        (0..<count).reversed().map {
            EntryWork.Departure(center: $0, action: action, appliedIndex: 0)
        }
    }

    /// Notes the start of the first broker: each center reports it when the turn ends.
    private mutating func tellStart() {
        for position in 0..<count {  // Bound: centers
            centers[position].noteStart()
            log.touched.insert(position)
        }
    }

    private mutating func end(_ name: [UInt8]) -> Result {
        guard let position = position(of: name) else { return .noCenter }
        guard centers[position].use.isNone else { return .inUse }
        endCenter(at: position)
        log.marks.removeCenter(at: position)
        log.touched.remove(position)
        // The last center has moved to its position.
        if log.touched.remove(count) != nil { log.touched.insert(position) }
        return .ended
    }

    // MARK: An entry is over

    private mutating func finish(_ work: EntryWork) {
        var others: Set<Int> = []
        for position in log.touched {  // Bound: centers
            log.dueAt = min(log.dueAt, centers[position].needs.nextDeadline(at: work.time))
            if centers[position].needs.turnEnd { others.insert(position) }
        }
        for position in log.touched.sorted() {  // Bound: centers
            log.marks.end(at: position, sequence: centers[position].sequence, of: log.index)
        }
        log.marks.endEntry(appliedByAll: log.nodes.indexAppliedByAll ?? log.index)
        note(work.entry, counts: true)
        log.touched = others
    }

    /// Adds the results of an entry to the digest, as far as each center's summary has them.
    private mutating func note(_ entry: Entry, counts: Bool) {
        var digest = StateDigest()
        digest.add(log.chain)
        digest.add(log.index)
        digest.add(entry.node)
        digest.add(entry.life)
        digest.add(entry.number)
        digest.add(counts)
        if counts {
            digest.add(log.time)
            digest.add(count)
            for position in log.touched.sorted() {  // Bound: centers
                let needs = centers[position].needs
                digest.add(position)
                digest.add(centers[position].sequence)
                digest.add(needs.observerCount)
                digest.add(needs.heldByteCount)
                digest.add(needs.queueByteCount)
            }
        }
        log.chain = digest.finish()
        log.past.append(LogPast.Mark(time: log.time, chain: log.chain))
    }
}

extension Shard {
    /// Finds the centers of a restored shard that have work of their own.
    mutating func findWork() {
        let time = CommandTime(wallMilliseconds: 0, monotonicNanoseconds: log.time)
        for position in 0..<count {  // Bound: centers
            let needs = centers[position].needs
            log.dueAt = min(log.dueAt, needs.nextDeadline(at: time))
            if needs.turnEnd { log.touched.insert(position) }
        }
    }

    /// A digest of the whole state: equal states have equal ones.
    public func digest() -> UInt64 {
        var digest = StateDigest()
        digest.add(log.index)
        digest.add(log.time)
        digest.add(log.level)
        digest.add(log.limitsRevision)
        digest.add(log.chain)
        digest.add(count)
        for position in 0..<count { digest.add(centers[position].digest()) }  // Bound: snapshot
        return digest.finish()
    }
}
