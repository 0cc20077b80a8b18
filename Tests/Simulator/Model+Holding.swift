import BelfryCenter
import BelfryHistory

// The way of a notification: its number, its observers in registration order, and for each of them
// a delivery, a place among what is held, or a loss that is counted (rules D3 to D10).

extension Model {
    /// A posted notification, before it has a number.
    struct Posting {
        let id: NotificationID
        var name: [UInt8]
        var object: [UInt8]?
        var userInfo: [UInt8]?
        let causedBy: NotificationID?
        var depth = 1
        var isImmediate = false
        var expiresAt = Int64.max
        var isRestored = false
        var dequeued: UInt32 = 0
    }

    /// Gives a notification its number, and all matching observers the notification.
    mutating func dispatch(_ posting: Posting) {
        sequence += 1
        let note = Note(
            id: posting.id, sequence: sequence, postedAt: wall, causedBy: posting.causedBy,
            name: posting.name, object: posting.object, userInfo: posting.userInfo,
            expiresAt: posting.expiresAt, isRestored: posting.isRestored)
        var account = Account(receipt: Receipt(id: note.id, sequence: sequence))
        account.receipt.dequeued = posting.dequeued
        current = account
        for serial in observers.filter({ $0.matches(note) }).map(\.serial) {
            guard let observer = place(ofObserver: serial) else { continue }
            let outcome = give(note, to: observer, isImmediate: posting.isImmediate)
            if outcome != .delivered || observers[observer].terms.acknowledges,
                isLasting(observer), outcome != .dropped
            {
                out.promises = true
            }
            count(outcome, of: serial)
        }
        guard let account = current else { return }
        current = nil
        out.receipts.append(account.receipt)
        if terms.reportsObservers { out.reports.append(account.rows) }
        remember(account.receipt, depth: posting.depth)
        ring.append(note)
        trimRing()
    }

    /// Law 3: every observer that matches is counted once.
    private mutating func count(_ outcome: ReportRow.Outcome, of serial: UInt64) {
        current?.receipt.matched += 1
        switch outcome {
        case .delivered: current?.receipt.delivered += 1
        case .pending:
            current?.receipt.delivered += 1
            current?.receipt.pending += 1
        case .held: current?.receipt.held += 1
        case .coalesced: current?.receipt.coalesced += 1
        case .dropped, .unhandled: current?.receipt.dropped += 1
        case .acknowledged, .answered, .resultOmitted, .refused, .disconnected: break
        }
        current?.rows.append(ReportRow(observer: serial, outcome: outcome))
    }

    /// Gives a notification to one observer, and notes the outcome.
    private mutating func give(
        _ note: Note, to observer: Int, isImmediate: Bool
    ) -> ReportRow.Outcome {
        let place = client(of: observer)
        let behavior = observers[observer].terms.suspensionBehavior
        let isImmediate = isImmediate || behavior == .deliverImmediately
        if clients[place].isMailbox { return file(note, for: observer, isImmediate: isImmediate) }
        if clients[place].isLive { return send(note, to: observer) }
        if !clients[place].isSuspended {
            // Nothing overtakes what is still being written.
            return hold(note, for: observer, isReplaceable: false)
        }
        if isImmediate {
            // Rule D10: what cannot be written now is written as soon as it can be.
            clients[place].immediateThrough = note.sequence
            let isOnlyAsked =
                clients[place].isConnected && !clients[place].isSlow && !clients[place].isOwing
                && !clients[place].isFlushing && !clients[place].isPaced
            guard isOnlyAsked else { return hold(note, for: observer, isReplaceable: false) }
            // Rule D8: first all that is held, in order.
            flush(place)
            let outcome =
                clients[place].held.isEmpty
                ? send(note, to: observer) : hold(note, for: observer, isReplaceable: false)
            if outcome == .held || outcome == .coalesced {
                clients[place].immediateThrough = note.sequence
            }
            return outcome
        }
        switch behavior {
        case .drop:
            observers[observer].dropped += 1
            lose(note.sequence, .dropped, at: observer)
            return .dropped
        case .coalesce: return hold(note, for: observer, isReplaceable: true)
        case .hold, .deliverImmediately: return hold(note, for: observer, isReplaceable: false)
        }
    }

    /// Sends to a client that may get it now.
    private mutating func send(_ note: Note, to observer: Int) -> ReportRow.Outcome {
        let place = client(of: observer)
        let terms = observers[observer].terms
        if let until = paceEnd(of: note, for: observer), until > now {
            clients[place].isPaced = true
            paceDeadlines.append((until, clients[place].id))
            return hold(note, for: observer, isReplaceable: true)
        }
        if terms.acknowledges, owesTooMuch(observer) || clientOwesTooMuch(place) {
            becomeOwing(observer)
            return hold(note, for: observer, isReplaceable: false)
        }
        startInterval(note, for: observer)
        write(note, to: observer, isRedelivered: note.isRestored)
        guard terms.acknowledges else { return .delivered }
        var held = Held(observer: observers[observer].serial, note: note, countedAs: .delivered)
        held.isRedelivered = note.isRestored
        if self.terms.wait > 0, observers[observer].missedDeadlines < limits.missedDeadlineLimit {
            held.isAwaited = true
        }
        clients[place].owed.append(held)
        return .pending
    }

    /// Puts a delivery on its way.
    mutating func write(_ note: Note, to observer: Int, isRedelivered: Bool) {
        let client = clients[client(of: observer)]
        observers[observer].delivered += 1
        observers[observer].lastDeliveredAt = wall
        observers[observer].writtenThrough = max(observers[observer].writtenThrough, note.sequence)
        out.deliveries.append(
            PredictedDelivery(
                connection: client.connection, observer: observers[observer].serial,
                note: note, selector: observers[observer].selector, transport: client.transport,
                form: observers[observer].terms.acknowledges ? .acknowledged : .shared,
                isRedelivered: isRedelivered))
    }

    /// Keeps a notification; a replaceable one takes the place of the one before it (rule D6).
    mutating func hold(
        _ note: Note, for observer: Int, isReplaceable: Bool
    ) -> ReportRow.Outcome {
        let place = client(of: observer)
        let serial = observers[observer].serial
        // With a `minInterval` the last of a kind wins, whatever the behaviour.
        let isReplaceable = isReplaceable || observers[observer].terms.minInterval > 0
        var held = Held(observer: serial, note: note)
        held.isRedelivered = note.isRestored
        held.isReplaceable = isReplaceable
        var outcome = ReportRow.Outcome.held
        let older = clients[place].held.firstIndex {
            $0.observer == serial && $0.isReplaceable && $0.note.isKind(of: note)
        }
        if isReplaceable, let older {
            outcome = .coalesced
            observers[observer].coalesced += 1
            drop(heldAt: older, of: place, .coalesced)
        }
        clients[place].held.append(held)
        keepLimits(of: observer)
        // It may itself be what there was no room for.
        guard let last = clients[place].held.last, last.note === note, last.observer == serial
        else {
            return .dropped
        }
        clients[place].held[clients[place].held.count - 1].countedAs =
            outcome == .held ? .held : .coalesced
        return outcome
    }

    /// The oldest go when more is held than may be (rule D7).
    func heldByteCount(ofClient place: Int) -> Int {
        let client = clients[place]
        return client.held.reduce(0) { $0 + $1.note.byteCount }
    }

    mutating func keepLimits(of observer: Int) {
        let place = client(of: observer)
        let serial = observers[observer].serial
        while limitedCount(of: observer) > observers[observer].terms.holdLimit {
            let oldest = clients[place].held.firstIndex {
                $0.observer == serial && !$0.isReplayed
            }
            guard let oldest else { break }
            drop(heldAt: oldest, of: place, .overflow)
        }
        while clients[place].held.count > limits.clientHeldCountLimit {
            drop(heldAt: 0, of: place, .overflow)
        }
        while heldByteCount(ofClient: place) > limits.clientHeldByteLimit,
            !clients[place].held.isEmpty
        {
            drop(heldAt: 0, of: place, .overflow)
        }
    }

    /// Loses what is held: its account changes, and a gap will tell it (law 3).
    mutating func drop(heldAt index: Int, of place: Int, _ reason: Gap.Reason) {
        let held = clients[place].held.remove(at: index)
        guard let observer = self.place(ofObserver: held.observer) else { return }
        if held.wasShown {
            observers[observer].mailbox.forgottenThrough = max(
                observers[observer].mailbox.forgottenThrough, held.note.sequence)
        } else {
            if reason != .coalesced { observers[observer].dropped += 1 }
            lose(held.note.sequence, reason, at: observer)
        }
        let row: ReportRow.Outcome? = held.countedAs == nil ? nil : .dropped
        switch held.countedAs {
        case .held:
            recount(held, row) {
                $0.held -= 1
                $0.dropped += 1
            }
        case .coalesced:
            recount(held, row) {
                $0.coalesced -= 1
                $0.dropped += 1
            }
        case .delivered, nil: break
        }
    }

    mutating func lose(_ sequence: UInt64, _ reason: Gap.Reason, at observer: Int) {
        lose(Loss(reason: reason, count: 1, first: sequence, last: sequence), at: observer)
    }

    mutating func lose(_ loss: Loss, at observer: Int) {
        observers[observer].mailbox.hasNewLoss = true
        let known = observers[observer].losses.firstIndex { $0.reason == loss.reason }
        guard let known else {
            observers[observer].losses.append(loss)
            return
        }
        var sum = observers[observer].losses[known]
        sum.first = min(sum.first, loss.first)
        sum.last = max(sum.last, loss.last)
        if let count = sum.count, let more = loss.count {
            sum.count = count + more
        } else {
            sum.count = nil
        }
        observers[observer].losses[known] = sum
    }

    /// Something else has become of a notification: its account says so wherever it is kept.
    mutating func recount(
        _ held: Held, _ outcome: ReportRow.Outcome?, _ change: (inout Receipt) -> Void
    ) {
        let id = held.note.id
        func setRow(_ rows: inout [ReportRow]) {
            guard let outcome else { return }
            for place in rows.indices where rows[place].observer == held.observer {
                rows[place].outcome = outcome
            }
        }
        if current?.receipt.id == id, current?.receipt.sequence == held.note.sequence {
            if var account = current {
                change(&account.receipt)
                setRow(&account.rows)
                current = account
            }
            return
        }
        // An answer that has not gone out has the state at the time when it goes.
        for place in out.receipts.indices where isPosting && out.receipts[place].id == id {
            change(&out.receipts[place])
            if place < out.reports.count { setRow(&out.reports[place]) }
        }
        for place in fates.indices.reversed() where fates[place].receipt.id == id {
            change(&fates[place].receipt)
            break
        }
        for place in waiting.indices {
            for index in waiting[place].receipts.indices
            where waiting[place].receipts[index].id == id
                && waiting[place].receipts[index].sequence != 0
            {
                // One that was queued says so until the end.
                change(&waiting[place].receipts[index])
                if index < waiting[place].reports.count { setRow(&waiting[place].reports[index]) }
            }
        }
    }

    // MARK: Intervals

    /// When the observer's `minInterval` after the last one of its kind is over.
    func paceEnd(of note: Note, for observer: Int) -> Int64? {
        guard observers[observer].terms.minInterval > 0 else { return nil }
        let serial = observers[observer].serial
        return paces.first { $0.observer == serial && $0.note.isKind(of: note) }?.until
    }

    mutating func startInterval(_ note: Note, for observer: Int) {
        guard observers[observer].terms.minInterval > 0 else { return }
        let serial = observers[observer].serial
        paces.removeAll { $0.observer == serial && $0.note.isKind(of: note) }
        paces.append(
            Pace(observer: serial, note: note, until: now + observers[observer].terms.minInterval))
    }

    // MARK: Memory

    /// Remembers the outcome of a post for a while.
    mutating func remember(_ receipt: Receipt, depth: Int) {
        fates.append(
            Fate(
                receipt: receipt, depth: depth, forgottenAt: now + lifetime(of: limits.fateLifetime)
            ))
        trimFates()
    }

    mutating func trimFates() {
        while let first = fates.first,
            fates.count > limits.fateLimit || first.forgottenAt <= now
        { fates.removeFirst() }
    }

    mutating func trimRing() {
        while !ring.isEmpty,
            ring.count > limits.replayCountLimit
                || ring.reduce(0, { $0 + $1.byteCount }) > limits.replayByteLimit
        { ring.removeFirst() }
    }

    func lifetime(of duration: Duration) -> Int64 { duration.components.seconds * 1_000_000_000 }

    /// Forgets unknown losses up to the number that its client saw in the life before.
    ///
    /// They were reported then, unless the client has asked for suspension since.
    mutating func forgetUnknown(
        through after: UInt64, at observer: Int, ofClient place: Int
    ) {
        guard after <= restoredThrough, !clients[place].wasAsked else { return }
        for index in observers[observer].losses.indices.reversed() {
            let loss = observers[observer].losses[index]
            guard loss.reason == .unknown, loss.count == nil, loss.last <= restoredThrough,
                loss.first <= after
            else { continue }
            if after < loss.last {
                observers[observer].losses[index].first = after + 1
            } else {
                observers[observer].losses.remove(at: index)
            }
        }
    }
}
