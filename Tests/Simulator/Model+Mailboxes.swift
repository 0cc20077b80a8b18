import BelfryCenter
import BelfryHistory

// Mailboxes: everything is kept until a reader acknowledges it. They are disconnected unless a poll
// or a stream waits.

extension Model {
    /// Files a notification at an observer of a mailbox.
    mutating func file(
        _ note: Note, for observer: Int, isImmediate: Bool
    ) -> ReportRow.Outcome {
        let place = client(of: observer)
        let serial = observers[observer].serial
        let behavior = observers[observer].terms.suspensionBehavior
        let isSuspended = clients[place].isSuspended
        if isSuspended, behavior == .drop, !isImmediate {
            observers[observer].dropped += 1
            lose(note.sequence, .dropped, at: observer)
            return .dropped
        }
        let outcome = hold(
            note, for: observer,
            isReplaceable: isSuspended && behavior == .coalesce && !isImmediate)
        guard !isSuspended, let reader = observers[observer].mailbox.reader, outcome != .dropped
        else { return outcome }
        if observers[observer].mailbox.isStream {
            // Deliveries that wait for room go first, when there is room.
            let streamed = observers[observer].mailbox.streamedThrough
            let isNext = !clients[place].held.dropLast().contains {
                $0.observer == serial && $0.note.sequence > streamed
            }
            if isNext { streamOn(observer) }
            let index = clients[place].held.lastIndex {
                $0.observer == serial && $0.note.sequence == note.sequence
            }
            guard let index, clients[place].held[index].wasShown else { return outcome }
            return .delivered
        }
        // For the account it is on its way; the mailbox keeps it until it is acknowledged.
        out.notices.append(.mailboxFilled(connection: reader, observer: serial))
        clients[place].held[clients[place].held.count - 1].countedAs = .delivered
        clients[place].held[clients[place].held.count - 1].wasShown = true
        observers[observer].delivered += 1
        observers[observer].lastDeliveredAt = wall
        return .delivered
    }

    private mutating func mailboxPlace(_ serial: UInt64) -> Int? {
        guard let observer = place(ofObserver: serial) else {
            if let known = tombstones.last(where: { $0.serial == serial }) {
                refuse(.observerRemoved(known.tombstone))
            } else {
                refuse(.unknownObserver)
            }
            return nil
        }
        guard clients[client(of: observer)].isMailbox else {
            refuse(.noMailbox)
            return nil
        }
        return observer
    }

    mutating func readMailbox(_ serial: UInt64, through: UInt64?, wait: ConnectionName?) {
        lookInto(serial, through: through)
        guard let wait, let page = mailbox(of: serial, after: through ?? 0, limit: 1),
            page.sequences.isEmpty, page.gaps.isEmpty
        else { return }
        attachReader(serial, wait, isStream: false)
        out.outcome = .plain(.waiting)
    }

    private mutating func lookInto(_ serial: UInt64, through: UInt64?) {
        guard let observer = mailboxPlace(serial) else { return }
        let place = client(of: observer)
        observers[observer].mailbox.lookedAt = now
        let mailbox = observers[observer].mailbox
        let start = through ?? mailbox.acknowledgedThrough
        if mailbox.forgottenThrough > start {
            // Deliveries that were shown, not acknowledged and dropped since are requested again.
            observers[observer].mailbox.forgottenThrough = 0
            lose(
                Loss(
                    reason: .overflow, count: nil, first: start + 1,
                    last: mailbox.forgottenThrough), at: observer)
        }
        guard let through, through > mailbox.acknowledgedThrough else { return }
        observers[observer].mailbox.acknowledgedThrough = min(through, sequence)
        let read = clients[place].held.filter {
            $0.observer == serial && $0.note.sequence <= through
        }
        clients[place].held.removeAll { $0.observer == serial && $0.note.sequence <= through }
        for held in read {
            let countedAs = held.countedAs
            let isCounted = countedAs == .delivered || countedAs == nil && held.wasShown
            if isCounted { continue }
            observers[observer].delivered += 1
            observers[observer].lastDeliveredAt = wall
            // Deliveries out of a store have no account any more (rule C19).
            if countedAs == nil { continue }
            recount(held, .delivered) { receipt in
                if countedAs == .held { receipt.held -= 1 } else { receipt.coalesced -= 1 }
                receipt.delivered += 1
            }
        }
        observers[observer].losses.removeAll { $0.last <= through }
    }

    // MARK: Readers

    /// A poll or a stream waits from now on; an earlier one must go.
    mutating func attachReader(_ serial: UInt64, _ connection: ConnectionName, isStream: Bool) {
        guard let observer = mailboxPlace(serial) else { return }
        let mailbox = observers[observer].mailbox
        if let reader = mailbox.reader {
            out.notices.append(
                .readerReplaced(connection: reader, isStream: mailbox.isStream))
            endStream(of: observer)
        }
        observers[observer].mailbox.reader = connection
        observers[observer].mailbox.isStream = isStream
        observers[observer].mailbox.lookedAt = now
        change(client(of: observer)) { $0.isConnected = true }
        guard isStream else { return }
        observers[observer].mailbox.streamedThrough = 0
        observers[observer].mailbox.hasNewLoss = true
        streamOn(observer)
    }

    mutating func detachReader(_ serial: UInt64, _ connection: ConnectionName) {
        guard let observer = place(ofObserver: serial),
            observers[observer].mailbox.reader == connection
        else { return }
        endStream(of: observer)
        observers[observer].mailbox.reader = nil
        observers[observer].mailbox.lookedAt = now
        let place = client(of: observer)
        let id = clients[place].id
        guard !observers.contains(where: { $0.client == id && $0.mailbox.reader != nil }) else {
            return
        }
        change(place) { client in
            client.isConnected = false
            client.isSlow = false
        }
        clients[place].disconnectedSince = now
    }

    /// Ends a stream; deliveries that its reader did not acknowledge will come again.
    private mutating func endStream(of observer: Int) {
        guard observers[observer].mailbox.isStream else { return }
        let serial = observers[observer].serial
        let place = client(of: observer)
        for index in clients[place].held.indices where clients[place].held[index].observer == serial
        {
            guard clients[place].held[index].wasShown else { break }
            clients[place].held[index].isRedelivered = true
        }
    }

    mutating func streamOn(client id: UInt64) {
        for observer in observers(ofClient: id)
        where observers[observer].mailbox.reader != nil && observers[observer].mailbox.isStream {
            streamOn(observer)
        }
    }

    /// Sends a stream what it was not sent, up to so many bytes.
    private mutating func streamOn(_ observer: Int) {
        let place = client(of: observer)
        guard !clients[place].isSuspended, let reader = observers[observer].mailbox.reader else {
            return
        }
        let serial = observers[observer].serial
        if observers[observer].mailbox.hasNewLoss {
            observers[observer].mailbox.hasNewLoss = false
            for loss in observers[observer].losses {
                out.notices.append(
                    .gap(
                        connection: reader, transport: .events,
                        gap(loss, of: observer)))
            }
        }
        var byteCount = 0
        for index in clients[place].held.indices
        where clients[place].held[index].observer == serial
            && clients[place].held[index].note.sequence
                > observers[observer].mailbox.streamedThrough
        {
            let held = clients[place].held[index]
            if byteCount >= limits.flushByteLimit {
                out.notices.append(
                    .flushGoesOn(
                        client: clients[place].id, connection: reader))
                return
            }
            byteCount += held.note.byteCount + Self.frameByteCount
            observers[observer].mailbox.streamedThrough = held.note.sequence
            observers[observer].delivered += 1
            observers[observer].lastDeliveredAt = wall
            out.deliveries.append(
                PredictedDelivery(
                    connection: reader, observer: serial,
                    note: held.note, selector: observers[observer].selector, transport: .events,
                    form: .named, isRedelivered: held.isRedelivered))
            clients[place].held[index].wasShown = true
            guard held.countedAs == .held || held.countedAs == .coalesced else { continue }
            clients[place].held[index].countedAs = .delivered
            // The one that is dispatched just now is counted by its outcome.
            if current?.receipt.sequence == held.note.sequence { continue }
            recount(held, .delivered) { receipt in
                if held.countedAs == .held { receipt.held -= 1 } else { receipt.coalesced -= 1 }
                receipt.delivered += 1
            }
        }
    }

    /// The page that a reader is shown.
    func mailbox(of serial: UInt64, after: UInt64, limit: Int) -> SeenPage? {
        guard let observer = place(ofObserver: serial),
            clients[client(of: observer)].isMailbox
        else { return nil }
        var page = SeenPage()
        page.next = after
        let all = clients[client(of: observer)].held.filter {
            $0.observer == serial && $0.note.sequence > after
        }
        for held in all.prefix(max(limit, 1)) {
            page.sequences.append(held.note.sequence)
            page.redelivered.append(held.isRedelivered)
            page.next = held.note.sequence
        }
        page.gaps = observers[observer].losses.map { gap($0, of: observer) }
        if all.count <= max(limit, 1) {
            for gap in page.gaps { page.next = max(page.next, gap.lastSequence) }
        }
        return page
    }
}
