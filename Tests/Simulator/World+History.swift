import BelfryCenter
import BelfryHistory

// The visible effects of each command: the history that is checked when a seed is over. It reads
// nothing of the center but the answers, frames and looks of its clients.

extension World {
    /// Notes what a command asked for and what got a number by it, before its frames are written.
    func noteBegin(_ command: Command) {
        history.begin(command: Int(commandCount), at: now)
        if case .refused = effects.outcome { return }
        noteClients(command.action)
        switch command.action {
        case .post(let post, let terms): notePosts([post], terms)
        case .postBatch(let posts, let terms): notePosts(posts, terms)
        case .endTurn(let workLimit): history.note(.drains(workLimit == .max ? .turn : .share))
        case .idle: history.note(.drains(.idle))
        case .passTime(let workLimit): history.note(.passed(isWhole: workLimit == .max))
        case .terminate: history.note(.drains(.stop))
        case .trimHeld, .trimOwned(.held, _): history.note(.trimmed)
        case .configure(let limits): note(limits)
        default: break
        }
        for notification in effects.notifications { note(notification) }
    }

    private func note(_ notification: Notification) {
        history.note(
            .dispatched(
                HistoryNotification(
                    id: text(of: notification.id), sequence: notification.sequence,
                    content: HistoryContent(notification.content))))
    }

    private func noteClients(_ action: Command.Action) {
        switch action {
        case .onConnection(_, let action), .within(_, let action): noteClients(action)
        case .connect(let client, _, let since):
            history.note(
                .connected(
                    client: client.id, connection: client.connection.number,
                    isMailbox: client.transport == .mailbox))
            noteRegistered(since)
        case .addObserver(_, _, let since): noteRegistered(since)
        case .disconnect(let client, let connection, _, _, _):
            history.note(.disconnected(client: client, connection: connection.number))
        case .resume(let resumption):
            history.note(
                .resumed(
                    client: resumption.client, newcomer: resumption.newcomer,
                    connection: lastConnection, after: resumption.after))
        case .setSuspended(let client, let isSuspended):
            history.note(.suspended(client: client, isSuspended))
        case .becomeSlow(let client): history.note(.slow(client: client, true))
        case .drain(let client): history.note(.slow(client: client, false))
        case .readMailbox(let observer, let through, let wait):
            history.note(.lookedInto(observer: observer, through: through))
            guard let wait, case .waiting = effects.outcome else { break }
            history.note(.attached(observer: observer, connection: wait.number, isStream: false))
        case .attachStream(let observer, let connection):
            history.note(
                .attached(observer: observer, connection: connection.number, isStream: true))
        case .detachReader(let observer, let connection):
            history.note(.detached(observer: observer, connection: connection.number))
        case .acknowledge(_, let delivery, let response):
            let (observer, sequence) = (delivery.observer, delivery.sequence)
            history.note(
                .acknowledged(
                    observer: observer, sequence: sequence, isRefused: response.refusal != nil,
                    isSure: answersWhatIsOwed))
        default: break
        }
    }

    private func noteRegistered(_ since: UInt64?) {
        guard case .registered(let rows) = effects.outcome else { return }
        for row in rows {
            var observer = HistoryObserver(
                serial: row.serial, client: row.client, name: row.name, object: row.object,
                selector: row.selector, behavior: .init(row.terms.suspensionBehavior),
                since: row.since)
            observer.filter = HistoryFilter(row.role.filter)
            observer.acknowledges = row.terms.acknowledges
            observer.endsWithConnection = row.terms.endsWithConnection
            observer.isPaced = row.terms.minInterval > 0
            observer.holdLimit = row.terms.holdLimit
            observer.lease = row.terms.lease
            observer.replayedAbove = since
            history.note(.registered(observer))
        }
    }

    private func notePosts(_ posts: [Post], _ terms: PostTerms) {
        if case .replayed = effects.outcome { return }
        if effects.receipts.count < posts.count { return }
        for (place, post) in posts.enumerated() {
            var seen = HistoryPost(id: text(of: post.id), content: HistoryContent(post.content))
            seen.isInBatch = posts.count > 1
            seen.isUnscoped = (terms.details?.scope ?? .everything) == .everything
            if let options = post.options {
                switch options.style {
                case nil: seen.style = .plain
                case .now: seen.style = .now
                case .asap: seen.style = .asap
                case .idle: seen.style = .idle
                }
                seen.coalescesName = options.coalescing.contains(.onName)
                seen.coalescesSender = options.coalescing.contains(.onSender)
                seen.keepsLatest = options.keepsLatest
                seen.isImmediate = options.isImmediate
                seen.modes = options.modes
                seen.maxDelay = options.maxDelay
                seen.timeToLive = options.timeToLive
                if options.isQueued { waitingIDs.append(post.id) }
            }
            history.note(.posted(seen))
            // In a batch, immediate and queued posts alternate.
            let receipt = effects.receipts[place]
            if receipt.state != .posted {
                history.note(.answered(HistoryReceipt(receipt, text(of:)), isFinal: true))
            } else if let notification = effects.notifications.first(where: { $0.id == post.id }) {
                note(notification)
            }
        }
    }

    func note(_ limits: CenterLimits) {
        var seen = HistoryLimits()
        seen.clientHeldCount = limits.clientHeldCountLimit
        seen.clientHeldByteCount = limits.clientHeldByteLimit
        seen.commonModes = limits.commonModes
        history.note(.limits(seen))
    }

    // MARK: Frames

    /// Notes a delivery as its bytes say it.
    func note(_ frame: Frame?, _ delivery: Delivery) {
        guard let frame else { return }
        let content = HistoryContent(
            name: frame.name, object: frame.object, userInfo: frame.userInfo)
        history.note(
            .wrote(
                HistoryFrame(
                    connection: delivery.connection.number, observer: delivery.observer,
                    selector: delivery.transport == .webSocket ? frame.method : nil,
                    notification: HistoryNotification(
                        id: frame.id, sequence: frame.sequence, content: content),
                    isRedelivered: frame.isRedelivered)))
    }

    /// Notes a gap as its bytes say it.
    func noteGap(_ frame: Frame?) {
        guard let frame, frame.method == [UInt8]("belfry.gap"), let observer = frame.observer,
            let reason = frame.reason.flatMap({ HistoryGap.Reason($0.shown) })
        else { return }
        history.note(
            .told(
                HistoryGap(
                    observer: MemberScanner.number(Array(observer.dropFirst())), reason: reason,
                    lost: frame.lost.flatMap { Int($0.shown) },
                    first: frame.firstSequence.map { MemberScanner.number($0) } ?? 0,
                    last: frame.lastSequence.map { MemberScanner.number($0) } ?? 0)))
    }

    func note(_ page: MailboxPage, of serial: UInt64) {
        history.note(
            .page(
                observer: serial,
                notifications: page.elements.map { entry in
                    (text(of: entry.notification.id), entry.notification.sequence)
                },
                gaps: page.gaps.map { gap in
                    HistoryGap(
                        observer: gap.observer, reason: .init(gap.reason), lost: gap.lostCount,
                        first: gap.firstSequence, last: gap.lastSequence)
                }))
    }

    // MARK: Answers and looks

    /// Notes what was answered, and looks at what a command may have changed.
    func noteEnd(_ command: Command) {
        var mayRemove = false
        if case .refused = effects.outcome {
        } else {
            noteAnswers(command.action)
            switch command.action {
            case .removeObserver(let serial, _):
                history.note(.removed(.observer(serial)))
                mayRemove = true
            case .removeObservers(let client, let filter):
                if !filter.isEmpty {
                    history.note(
                        .removed(
                            .filter(
                                client: client, name: filter.name, object: filter.object,
                                HistoryFilter(filter.terms))))
                }
                mayRemove = true
            case .removeClient(let client, _):
                history.note(.removed(.client(client)))
                mayRemove = true
            case .disconnect, .resume, .passTime: mayRemove = true
            default: break
            }
        }
        if mayRemove { noteList() }
        noteQueue()
    }

    private func noteAnswers(_ action: Command.Action) {
        for completion in effects.completions {
            for receipt in completion.receipts {
                history.note(.answered(HistoryReceipt(receipt, text(of:)), isFinal: true))
            }
        }
        let count: Int
        switch action {
        case .post: count = 1
        case .postBatch(let posts, _): count = posts.count
        default: return
        }
        var isFinal = true
        switch effects.outcome {
        case .replayed: return
        case .waiting: isFinal = false
        default: break
        }
        if effects.receipts.count < count { return }
        for receipt in effects.receipts.prefix(count) where receipt.state == .posted {
            history.note(.answered(HistoryReceipt(receipt, text(of:)), isFinal: isFinal))
        }
    }

    /// Lists all observers.
    func noteList() {
        var query = ObserverQuery()
        query.limit = 1_000
        let rows = center.observers(matching: query) { _, _ in true }.rows
        history.note(.listed(rows.map { HistoryRow(serial: $0.serial, heldCount: $0.held) }))
    }

    /// Looks at the mode, and at the fates of all that waited in the queue.
    private func noteQueue() {
        if center.modes.current != seenMode {
            seenMode = center.modes.current
            history.note(.mode(seenMode))
        }
        if waitingIDs.isEmpty { return }
        var isForgotten = false
        waitingIDs.removeAll { id in
            let receipt = center.receipt(of: id, at: time)
            if receipt?.state == .queued { return false }
            if let receipt {
                history.note(.looked(text(of: id), HistoryReceipt(receipt, text(of:))))
            } else {
                isForgotten = true
            }
            return receipt != nil
        }
        guard isForgotten else { return }
        let queued = Set(queuedIDs)
        waitingIDs.removeAll { id in
            if queued.contains(id) { return false }
            history.note(.looked(text(of: id), nil))
            return true
        }
    }

    /// The identifiers in the queue.
    var queuedIDs: [NotificationID] {
        center.queue(matching: ObserverQuery(limit: 1_000) { $0.isWaiting = false }) { _, _ in true
        }.rows.map(\.id)
    }

    /// The observers that there are.
    var serials: [UInt64] {
        var query = ObserverQuery()
        query.limit = 1_000
        return center.observers(matching: query) { _, _ in true }.rows.map(\.serial)
    }

    /// Looks at the fates of the last posts.
    func noteLooks() {
        history.begin(command: Int(commandCount), at: now)
        for id in recentIDs {
            guard let receipt = center.receipt(of: id, at: time) else { continue }
            history.note(.looked(text(of: id), HistoryReceipt(receipt, text(of:))))
        }
    }

    func noteCommit(through command: Int) { history.note(.committed(through: command)) }

    /// The next life has begun; what it begins with is looked at.
    func noteRestart(isComplete: Bool, hasState: Bool) {
        if isComplete { noteCommit(through: Int(commandCount)) }
        history.begin(command: Int(commandCount), at: now)
        history.note(.restarted(isOrderly: isComplete, hasState: hasState))
        noteList()
        let queued = queuedIDs
        history.note(.queue(queued.map(text(of:))))
        waitingIDs = queued
        seenMode = Mode.default
        note(profile.limits)
    }
}
