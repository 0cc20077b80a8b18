/// Goes through a history and notes what it shows, by observer, client and notification.
///
/// It was written from the promises alone (Rules.md, Protocol.md), and knows no center.
final class HistoryChecker {
    /// A client, as far as it can be seen.
    final class Client {
        let id: UInt64
        let isMailbox: Bool
        var connection: UInt64?
        /// When the connection became its own.
        var connectedMoment = 0
        /// Nil when a crash may have undone what was asked.
        var isAsked: Bool? = false
        var askedCommand = 0
        /// How often it asked for another state, and is not answered yet.
        var doubtCount = 0
        var isSlow = false
        var accounts: [ObserverAccount] = []
        /// The last frame that came unmarked.
        var last: (sequence: UInt64, observer: UInt64) = (0, 0)
        var hasReplayed = false
        /// The same in an earlier life: its held deliveries count like all others (decision 61).
        var hadReplayed = false
        var awaySince: Int64?
        /// How many crashes there had been by then.
        var crashCountBefore = 0
        /// The same at the earliest: a crash may have undone that it came back meanwhile.
        var awaySinceEarliest: Int64?
        /// The absences that are over, each with its last command, as far as a crash may undo them.
        var endedAbsences: [(since: Int64, command: Int)] = []

        init(id: UInt64, connection: UInt64, isMailbox: Bool) {
            self.id = id
            self.connection = isMailbox ? nil : connection
            self.isMailbox = isMailbox
        }

        func endDoubt() { doubtCount = max(0, doubtCount - 1) }

        /// Suspended, for all that an outsider can be sure of (law 5).
        var isSurelySuspended: Bool {
            if doubtCount > 0 { return false }
            return isMailbox
                ? !accounts.contains { $0.isAlive && $0.reader != nil }
                : connection == nil || isSlow || isAsked == true
        }
    }

    var accounts: [UInt64: ObserverAccount] = [:]
    /// Those that are alive, by the name of their filter.
    var byName: [[UInt8]?: [ObserverAccount]] = [:]
    var clients: [UInt64: Client] = [:]
    /// In the order of their numbers.
    var notes: [DispatchedNote] = []
    var lastOfID: [[UInt8]: DispatchedNote] = [:]
    /// Their answer has not come, or a turn may still be walking their observers.
    var openNotes: [DispatchedNote] = []
    var posts: [[UInt8]: HistoryPost] = [:]
    /// The answers to posts that wait, or that others represent.
    var queueAnswers: [[UInt8]: HistoryReceipt.State] = [:]
    var queue = QueueAccount()

    let isSynchronous: Bool
    var limits = HistoryLimits()
    /// The numbers that were given last; they never go back (law 4).
    var lastObserver: UInt64 = 0
    var lastSequence: UInt64 = 0
    var command = 0
    var time: Int64 = 0
    /// The time of the moment before, which may be one of an earlier life.
    var earlier: Int64 = 0
    var moment = 0
    var committed = 0
    var life = 0
    /// How many ends were not in order since the state began.
    var crashCount = 0
    /// The next listings show with what a life begins.
    var isAfterRestart = false
    var lastTrim = 0
    /// The command by which all due work was done: ends at one time come in shares (decision 69).
    var passedCommand = 0

    init(isSynchronous: Bool) { self.isSynchronous = isSynchronous }

    func take(_ moment: History.Moment) throws(HistoryFault) {
        command = moment.command
        earlier = time
        time = moment.time
        self.moment += 1
        switch moment.event {
        case .connected, .disconnected, .resumed, .attached, .detached, .suspended, .slow,
            .doubtful:
            try takeClient(moment.event)
        case .registered(let observer): try register(observer)
        case .removed(let removal): expect(removal)
        case .leaving(let observer): accounts[observer]?.isLeaving = true
        case .gone(let observer): accounts[observer].map(end)
        case .listed(let rows): try list(rows)
        case .posted(let post): try hand(post)
        case .dispatched(let notification): try dispatch(notification)
        case .answered(let receipt, let isFinal): try answer(receipt, isFinal: isFinal)
        case .looked(let id, let receipt): try look(id, receipt)
        case .wrote(let frame): try write(frame)
        case .told(let gap): try tell(gap)
        case .acknowledged(let observer, let sequence, let isRefused, let isSure):
            acknowledge(observer, sequence, isRefused, isSure)
        case .lookedInto(let observer, let through): lookInto(observer, through)
        case .page(let observer, let notifications, let gaps):
            try show(observer, notifications, gaps)
        case .mode(let mode): queue.mode = mode
        case .queue(let ids): try queue.restore(ids, committed: committed)
        case .drains(let drain): try queue.begin(drain, command: command, at: time)
        case .passed(let isWhole):
            guard isWhole else { return }
            passedCommand = command
            queue.passedTime = time
        case .rests: try rest()
        case .trimmed: lastTrim = self.moment
        case .limits(let limits): take(limits)
        case .committed(let command): committed = max(committed, command)
        case .restarted(let isOrderly, let hasState):
            try restart(isOrderly: isOrderly, hasState: hasState)
        }
    }

    /// The end: everything that was to come has come, or will be told.
    func finish() throws(HistoryFault) {
        for serial in accounts.keys.sorted() {
            guard let account = accounts[serial], account.isAlive else { continue }
            try account.settle(life: life, isLive: isLive(account))
        }
    }

    /// Whether an observer was told all that it lost, for all that an outsider knows.
    func isLive(_ account: ObserverAccount) -> Bool {
        guard let client = clients[account.observer.client] else { return false }
        if client.isMailbox { return true }
        return client.connection != nil && !client.isSlow && client.isAsked == false
    }

    /// Whether an observer may wait for an interval: losses of its client are reported behind it.
    func isPaced(_ account: ObserverAccount) -> Bool {
        clients[account.observer.client]?.accounts.contains { $0.isAlive && $0.observer.isPaced }
            ?? false
    }

    /// Whether an observer's client may owe too many answers, and so be slow.
    ///
    /// Its losses are reported when it owes less.
    func mayOwe(_ account: ObserverAccount) -> Bool {
        clients[account.observer.client]?.accounts.contains { other in
            other.isAlive && other.observer.acknowledges
                && other.dues.contains { $0.writeCount > 0 && !$0.isAcknowledged }
        } ?? false
    }

    private func take(_ limits: HistoryLimits) {
        // Losses under an earlier limit may be reported under a later one.
        self.limits.clientHeldCount = min(self.limits.clientHeldCount, limits.clientHeldCount)
        self.limits.clientHeldByteCount = min(
            self.limits.clientHeldByteCount, limits.clientHeldByteCount)
        queue.commonModes = limits.commonModes
    }

    private func rest() throws(HistoryFault) {
        try queue.rest()
        for note in openNotes where !note.isUnanswered { note.isOpen = false }
        openNotes.removeAll { !$0.isOpen }
    }

    // MARK: Clients

    private func takeClient(_ event: HistoryEvent) throws(HistoryFault) {
        switch event {
        case .connected(let id, let connection, let isMailbox):
            clients[id] = Client(id: id, connection: connection, isMailbox: isMailbox)
        case .disconnected(let id, let connection):
            guard let client = clients[id], client.connection == connection else { return }
            end(client)
        case .resumed(let id, let newcomer, let connection, let after):
            clients[newcomer] = nil
            guard let client = clients[id] else { throw HistoryFault("c\(id) is nobody's client") }
            end(client)
            client.connection = connection
            client.connectedMoment = moment
            client.endedAbsences.removeAll { $0.command <= committed }
            if let since = client.awaySinceEarliest ?? client.awaySince {
                client.endedAbsences.append((since, command))
            }
            client.awaySince = nil
            client.awaySinceEarliest = nil
            client.endDoubt()
            guard let after else { return }
            client.hasReplayed = true
            let isClaim = !client.accounts.contains { $0.hasCome(from: after) }
            for account in client.accounts where account.isAlive {
                account.replays.append(
                    ObserverAccount.Replay(
                        moment: moment, time: time, after: after, claimedIn: isClaim ? life : nil))
                account.replayedAbove.append(after)
            }
        case .attached(let serial, let connection, let isStream):
            guard let account = accounts[serial] else { return }
            account.reader = connection
            account.lookedAt = time
            if isStream { account.lastSequence = 0 }
        case .detached(let serial, let connection):
            guard let account = accounts[serial], account.reader == connection else { return }
            account.reader = nil
            account.lookedAt = time
        case .suspended(let id, let isAsked):
            clients[id]?.isAsked = isAsked
            clients[id]?.askedCommand = command
            clients[id]?.endDoubt()
        case .doubtful(let id): clients[id]?.doubtCount += 1
        case .slow(let id, let isSlow):
            guard let client = clients[id] else { return }
            client.isSlow = isSlow && (client.isMailbox || client.connection != nil)
        default: return
        }
    }

    private func end(_ client: Client) {
        guard client.connection != nil else { return }
        client.awaySince = time
        client.crashCountBefore = crashCount
        client.connection = nil
        client.isSlow = false
        for account in client.accounts where account.observer.endsWithConnection {
            expectEnd(of: account)
        }
    }

    // MARK: Observers

    private func register(_ observer: HistoryObserver) throws(HistoryFault) {
        guard observer.serial > lastObserver else {
            throw HistoryFault("law 4: \(observer.shown) is used again")
        }
        lastObserver = observer.serial
        guard let client = clients[observer.client] else {
            throw HistoryFault("\(observer.shown) belongs to no client")
        }
        let account = ObserverAccount(observer, command: command, isMailbox: client.isMailbox)
        account.lookedAt = time
        accounts[observer.serial] = account
        client.accounts.append(account)
        byName[observer.name, default: []].append(account)
        guard let above = observer.replayedAbove, above < observer.since else { return }
        // Deliveries from the ring are marked; the rest of it is reported as unknown.
        for note in notes[place(ofNoteFrom: above + 1)...]
        where note.sequence <= observer.since && account.matches(note.content) {
            var due = ObserverAccount.Due(note: note)
            due.isOptional = note.expiresAt != nil
            account.dues.append(due)
        }
    }

    private func expect(_ removal: HistoryRemoval) {
        switch removal {
        case .observer(let serial): accounts[serial].map(expectEnd)
        case .client(let id): clients[id]?.accounts.forEach(expectEnd)
        case .filter(let client, let name, let object, let filter):
            for account in clients[client]?.accounts ?? []
            where (name == nil || account.observer.name == name)
                && (object == nil || account.observer.object == object)
                && filter?.isPart(of: account.observer.filter) ?? true
            { expectEnd(of: account) }
        }
    }

    private func expectEnd(of account: ObserverAccount) {
        guard account.isAlive else { return }
        account.isToGo = true
    }

    private func list(_ rows: [HistoryRow]) throws(HistoryFault) {
        let isRestored = isAfterRestart
        isAfterRestart = false
        var there: Set<UInt64> = []
        for row in rows {
            there.insert(row.serial)
            guard let account = accounts[row.serial] else {
                throw HistoryFault("o\(row.serial) was never registered")
            }
            account.heldCount = row.heldCount
            if account.isAlive, !account.isToGo { continue }
            guard isRestored, account.removedCommand > committed || account.isAlive else {
                throw HistoryFault("law 4: \(account.observer.shown) is there, and was removed")
            }
            revive(account)
        }
        let ended = byName.values.joined().filter { !there.contains($0.observer.serial) }
        for account in ended.sorted(by: { $0.observer.serial < $1.observer.serial }) {
            if isRestored {
                guard account.command > committed || account.observer.endsWithConnection else {
                    throw HistoryFault("\(account.observer.shown) is lost, and was answered")
                }
            } else if !account.isToGo {
                try checkLease(of: account)
            }
            end(account)
        }
        if !isRestored, command == passedCommand { try checkNobodyOutlives() }
    }

    private func end(_ account: ObserverAccount) {
        account.isAlive = false
        account.isToGo = false
        account.removedCommand = command
        byName[account.observer.name]?.removeAll { $0 === account }
        for note in openNotes where !account.isLeaving {
            guard account.place(of: note.sequence) != nil else { continue }
            note.mustMatch -= 1
            note.mayMatch += 1
        }
        for due in account.dues.reversed().prefix(64) { due.note.isClouded = true }
        for due in account.dues where due.writeCount == 0 { due.note.isClouded = true }
    }

    /// Restores an observer whose removal a crash has undone before it was answered.
    private func revive(_ account: ObserverAccount) {
        account.isToGo = false
        guard !account.isAlive else { return }
        account.isAlive = true
        byName[account.observer.name, default: []].append(account)
    }

    // MARK: Leases (rule O7)

    /// Each crash may lose up to a minute of what was noted of an absence.
    private func slack(of account: ObserverAccount) -> Int64 {
        let before = account.isMailbox ? 0 : clients[account.observer.client]?.crashCountBefore ?? 0
        return Int64(crashCount - before) * 60_000_000_000
    }

    private func leaseEnd(of account: ObserverAccount, isEarliest: Bool = false) -> Int64? {
        guard let lease = account.observer.lease, let client = clients[account.observer.client]
        else { return nil }
        if account.isMailbox { return account.reader == nil ? account.lookedAt + lease : nil }
        let since = isEarliest ? client.awaySinceEarliest ?? client.awaySince : client.awaySince
        return since.map { $0 + lease }
    }

    private func checkLease(of account: ObserverAccount) throws(HistoryFault) {
        if account.isMailbox, crashCount > 0 { return }
        guard let end = leaseEnd(of: account, isEarliest: true), end <= time else {
            throw HistoryFault("\(account.observer.shown) is gone, and nobody removed it")
        }
    }

    private func checkNobodyOutlives() throws(HistoryFault) {
        for account in byName.values.joined() {
            if let end = leaseEnd(of: account), end + slack(of: account) < time {
                throw HistoryFault("\(account.observer.shown) outlives its lease")
            }
        }
    }
}
