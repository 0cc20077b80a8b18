import BelfryCenter

/// The commands of this broker that the log has not shown: they wait, or are in entries under way.
struct OutgoingEntries {
    /// Which life of the broker runs, or begins; 0 before the first.
    var life: UInt64 = 0
    /// The number of the life in the names of connections and commands; 0 while none runs.
    var seat: UInt32 = 0
    private(set) var waiting = CommandQueue()
    /// The entries under way, by their numbers.
    private(set) var underWay: [PendingEntry] = []
    private var lastNumber: UInt64 = 0
    private var lastCounter: UInt64 = 0
    /// The last entry whose effects were handed to the connections; entries report no later one.
    private var handed: AppliedMark
    /// The last entry that entries report.
    ///
    /// It does not advance while an end of a connection waits for a later entry: that connection
    /// was not written the effects since.
    private var reported: AppliedMark
    /// Whether the log has had commands since this broker last reported how far it is.
    private var hasUnreported = false
    private var lastAppendAt: Int64 = 0

    init(behind mark: AppliedMark) {
        handed = mark
        reported = mark
    }

    var isEmpty: Bool { waiting.isEmpty && underWay.isEmpty }

    /// The name of a command of this life.
    func id(of counter: UInt64) -> CommandID {
        CommandID(node: seat, incarnation: life, counter: counter)
    }

    /// Whether the log waits for a report of this broker, which has written nothing meanwhile.
    func mustReport(at now: Int64) -> Bool {
        hasUnreported && now - lastAppendAt >= ClusterOptions.beatInterval
    }

    // MARK: Lives

    /// Begins a life, all of whose entries come behind a mark.
    ///
    /// - Returns: the commands of its first entry.
    mutating func beginLife(
        _ life: UInt64, _ actions: [ShardCommand.Action], behind mark: AppliedMark
    ) -> [Entry.Numbered] {
        self.life = life
        restart(behind: mark)
        dropEntries()
        lastNumber = 0
        lastCounter = UInt64(actions.count)
        return actions.enumerated().map {
            Entry.Numbered(counter: UInt64($0.offset) + 1, action: $0.element)
        }
    }

    /// Reports a mark, and nothing before it, from now on.
    mutating func restart(behind mark: AppliedMark) {
        handed = mark
        reported = mark
    }

    /// Drops all commands, and the number of the life that has ended.
    mutating func endLife() {
        dropEntries()
        waiting = CommandQueue()
        seat = 0
    }

    // MARK: Commands

    /// Gives an action the number that the next command has.
    func numbered(_ action: ShardCommand.Action) -> Entry.Numbered {
        Entry.Numbered(counter: lastCounter + 1, action: action)
    }

    /// Adds the next command.
    ///
    /// - Returns: its name.
    @discardableResult
    mutating func enqueue(_ command: Entry.Numbered, at now: Int64) -> CommandID {
        lastCounter = command.counter
        waiting.append(command, at: now)
        return id(of: lastCounter)
    }

    /// Removes waiting commands that may be refused, submitted by this time.
    mutating func removeRefusable(submittedBy time: Int64 = .max) -> [Entry.Numbered] {
        waiting.removeRefusable(submittedBy: time)
    }

    /// Records that the effects of all entries up to a mark were handed to the connections.
    mutating func recordHanded(_ mark: AppliedMark) { handed = mark }

    /// Records that an entry with commands was applied.
    mutating func requireReport() { hasUnreported = true }

    // MARK: Entries

    /// Drops the entries of a life that could not begin.
    mutating func dropEntries() { underWay = [] }

    /// Removes the commands of the next entry; nil without any, and while enough are under way.
    mutating func dequeueEntry(_ options: ClusterOptions) -> [Entry.Numbered]? {
        guard underWay.count < ClusterOptions.entryLimit, !waiting.isEmpty else { return nil }
        let commands = waiting.dequeueEntry(options)
        if !waiting.mustHappen { reported = handed }
        return commands
    }

    /// Adds the next entry of the life to those under way.
    ///
    /// - Returns: its place among them.
    mutating func begin(
        _ commands: [Entry.Numbered], node: [UInt8], wallNow: Int64, at now: Int64
    ) -> Int {
        lastNumber += 1
        hasUnreported = false
        underWay.append(
            PendingEntry(
                Entry(
                    node: node, life: life, number: lastNumber,
                    appliedIndex: reported.index, chain: reported.chain,
                    elapsed: UInt64(max(0, now - reported.appliedAt)) / 1_000_000,
                    wallMilliseconds: wallNow, commands: commands)))
        return underWay.count - 1
    }

    /// Records that an entry is appended now, for the first time or again.
    ///
    /// - Returns: its bytes, and the name of the attempt.
    mutating func recordAppend(at place: Int, at now: Int64) -> (code: [UInt8], name: EntryName) {
        let code = underWay[place].recordAppend(at: now)
        lastAppendAt = now
        let entry = underWay[place]
        return (code, EntryName(life: life, number: entry.number, attempt: entry.attempt))
    }

    /// Gives up the entries whose outcome was open for too long, and appends them still.
    ///
    /// - Returns: their commands.
    mutating func giveUpOverdue(at now: Int64) -> [Entry.Numbered] {
        var commands: [Entry.Numbered] = []
        for place in underWay.indices
        where !underWay[place].isGivenUp
            && now - underWay[place].firstAppendedAt >= ClusterOptions.unknownAfter
        {
            underWay[place].isGivenUp = true
            commands += underWay[place].commands
        }
        return commands
    }

    /// Releases an entry that the log has shown, and those before it.
    ///
    /// - Returns: whether the next one must be appended anew, since it came before this one.
    mutating func release(through place: Int) -> Bool {
        underWay.removeFirst(place + 1)
        guard let next = underWay.first, next.appendedAt == nil else { return false }
        underWay[0].attempt += 1
        return true
    }

    /// Lets an entry that the log has shown too early wait for the one before it.
    mutating func postpone(at place: Int) { underWay[place].appendedAt = nil }

    /// Whether an entry of this attempt was appended that the log has not shown.
    func awaits(_ name: EntryName) -> Bool {
        place(of: name).map { underWay[$0].appendedAt != nil } ?? false
    }

    /// Keeps of an entry that has no room in the log only the commands that must happen.
    ///
    /// - Returns: the commands that fail, and how; nil where that was reported before.
    mutating func refuse(
        _ name: EntryName, at now: Int64
    ) -> (commands: [Entry.Numbered], failure: CommandFailure)? {
        guard let place = place(of: name) else { return nil }
        // The log is not stalled: it has no room.
        underWay[place].firstAppendedAt = now
        // An attempt before this one may be in the log.
        let isKnown = underWay[place].appendCount == 1
        let refused = underWay[place].isGivenUp ? nil : underWay[place].commands
        if isKnown {
            // Its number must be in the log, or no later one counts: it is appended again with the
            // commands that must happen.
            underWay[place].keepWhatMustHappen()
        } else {
            underWay[place].isGivenUp = true
        }
        return refused.map { ($0, isKnown ? .unavailable(.full) : .unknownOutcome) }
    }

    private func place(of name: EntryName) -> Int? {
        guard name.life == life else { return nil }
        return underWay.firstIndex { $0.number == name.number && $0.attempt == name.attempt }
    }
}
