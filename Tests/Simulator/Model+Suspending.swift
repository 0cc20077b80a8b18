import BelfryCenter

// Suspension (law 5): a client asked for it, is disconnected, or is too slow. On the way back gaps
// come first, then what was held in the order of sequence numbers, and nothing overtakes it.

extension Model {
    /// About what a frame has besides name, object and userInfo; a flush counts it.
    static let frameByteCount = 128

    mutating func setSuspended(_ id: UInt64, _ isAsked: Bool) {
        guard let place = place(ofClient: id) else { return refuse(.unknownClient) }
        guard clients[place].isAsked != isAsked else { return }
        change(place) { $0.isAsked = isAsked }
        if isAsked { clients[place].wasAsked = true }
        settle(place)
    }

    mutating func becomeSlow(_ id: UInt64) {
        guard let place = place(ofClient: id) else { return refuse(.unknownClient) }
        guard clients[place].isConnected else { return }
        change(place) { $0.isSlow = true }
    }

    mutating func drain(_ id: UInt64) {
        guard let place = place(ofClient: id) else { return refuse(.unknownClient) }
        change(place) { $0.isSlow = false }
        settle(place)
    }

    /// Whether an observer owes as many answers as it may.
    func owesTooMuch(_ observer: Int) -> Bool {
        owedCount(of: observer) >= limits.unacknowledgedLimit
    }

    /// Whether the observers of a client owe together as much as may be held for it.
    func clientOwesTooMuch(_ place: Int) -> Bool {
        let owed = clients[place].owed
        return owed.count >= limits.clientHeldCountLimit
            || owed.reduce(0) { $0 + $1.note.byteCount } >= limits.clientHeldByteLimit
    }

    mutating func becomeOwing(_ observer: Int) {
        let place = client(of: observer)
        if owesTooMuch(observer) {
            observers[observer].owes = true
        } else {
            clients[place].owesTooMuch = true
        }
        change(place) { $0.isOwing = true }
    }

    /// Less is owed than before.
    mutating func noteLessOwed(at place: Int, observer serial: UInt64) {
        if let observer = self.place(ofObserver: serial), !owesTooMuch(observer) {
            observers[observer].owes = false
        }
        if !clientOwesTooMuch(place) { clients[place].owesTooMuch = false }
    }

    /// Changes why a client is suspended; the time of its state counts from then.
    mutating func change(_ place: Int, _ body: (inout Client) -> Void) {
        func reasons(_ client: Client) -> [Bool] {
            [!client.isConnected, client.isAsked, client.isSlow, client.isOwing]
        }
        let before = reasons(clients[place])
        body(&clients[place])
        let after = reasons(clients[place])
        guard after != before else { return }
        clients[place].stateSince = wall
        reportChange(of: place, from: before, to: after)
    }

    /// Something that held a client back has gone.
    mutating func settle(_ place: Int) {
        let id = clients[place].id
        if clients[place].isMailbox { streamOn(client: id) } else { flush(place) }
    }

    /// Writes what a client is held, as far as it may have it.
    mutating func flush(_ place: Int) {
        clients[place].isFlushing = false
        clients[place].isPaced = false
        guard clients[place].isConnected, !clients[place].isSlow, !owesStill(place) else { return }
        writeStep(place)
        if clients[place].isOwing, !owesStill(place) { change(place) { $0.isOwing = false } }
        if !clients[place].isAsked { tellLosses(of: place) }
        guard clients[place].isFlushing else { return }
        out.notices.append(
            .flushGoesOn(
                client: clients[place].id, connection: clients[place].connection))
    }

    /// Whether a client that owed too much has not come to rest.
    private func owesStill(_ place: Int) -> Bool {
        let id = clients[place].id
        return clients[place].owesTooMuch
            || observers.contains { $0.client == id && $0.owes }
    }

    /// One step of a flush: it ends with what may not be written now, or after so many bytes.
    private mutating func writeStep(_ place: Int) {
        var byteCount = 0
        while let first = clients[place].held.first {
            let note = first.note
            if clients[place].isAsked, note.sequence > clients[place].immediateThrough { break }
            if note.expiresAt <= now {
                drop(heldAt: 0, of: place, .expired)
                continue
            }
            if byteCount >= limits.flushByteLimit {
                clients[place].isFlushing = true
                return
            }
            guard let observer = self.place(ofObserver: first.observer) else { return }
            if let until = paceEnd(of: note, for: observer), until > now {
                clients[place].isPaced = true
                paceDeadlines.append((until, clients[place].id))
                return
            }
            if observers[observer].terms.acknowledges,
                owesTooMuch(observer) || clientOwesTooMuch(place)
            {
                becomeOwing(observer)
                return
            }
            startInterval(note, for: observer)
            byteCount += note.byteCount + Self.frameByteCount
            writeFirstHeld(of: place, for: observer)
            // A client that owes too much is slow until it owes less than it may.
            if observers[observer].terms.acknowledges, clients[place].isOwing,
                owesTooMuch(observer) || clientOwesTooMuch(place)
            {
                becomeOwing(observer)
            }
        }
        clients[place].immediateThrough = 0
    }

    private mutating func writeFirstHeld(of place: Int, for observer: Int) {
        var held = clients[place].held.removeFirst()
        let acknowledges = observers[observer].terms.acknowledges
        write(held.note, to: observer, isRedelivered: held.isRedelivered)
        let countedAs = held.countedAs
        let outcome = acknowledges ? ReportRow.Outcome.pending : .delivered
        recount(held, outcome) { receipt in
            switch countedAs {
            case .held:
                receipt.held -= 1
                receipt.delivered += 1
            case .coalesced:
                receipt.coalesced -= 1
                receipt.delivered += 1
            case .delivered, nil: break
            }
            if acknowledges, countedAs != nil { receipt.pending += 1 }
        }
        guard acknowledges else { return }
        held.isReplaceable = false
        if held.countedAs != nil { held.countedAs = .delivered }
        clients[place].owed.append(held)
    }

    /// One gap an observer and reason; each loss is told once.
    mutating func tellLosses(of place: Int) {
        clients[place].wasAsked = false
        guard !clients[place].isMailbox else { return }
        for observer in observers(ofClient: clients[place].id) {
            for loss in observers[observer].losses {
                out.notices.append(
                    .gap(
                        connection: clients[place].connection,
                        transport: clients[place].transport, gap(loss, of: observer)))
            }
            observers[observer].losses = []
        }
    }

    func gap(_ loss: Loss, of observer: Int) -> Gap {
        Gap(
            observer: observers[observer].serial, selector: observers[observer].selector,
            lostCount: loss.count, firstSequence: loss.first, lastSequence: loss.last,
            reason: loss.reason)
    }

    // MARK: Connections end and come back

    mutating func disconnect(_ id: UInt64, _ connection: ConnectionName) {
        guard let place = place(ofClient: id), clients[place].connection == connection,
            clients[place].isConnected, !clients[place].isMailbox
        else { return }
        endConnection(of: place)
        if !observers.contains(where: { $0.client == id }) {
            clients.removeAll { $0.id == id }
            reportLeft(id, "disconnected")
            return
        }
        guard let place = self.place(ofClient: id) else { return }
        change(place) { client in
            client.isConnected = false
            client.isSlow = false
            client.isOwing = false
        }
        clients[place].isFlushing = false
        clients[place].isPaced = false
        clients[place].disconnectedSince = now
    }

    /// Ends a connection: its modes and observers end, and the arrival of its frames is in doubt.
    mutating func endConnection(of place: Int) {
        let id = clients[place].id
        modes.removeAll { $0.client == id && $0.endsAt == .max }
        holdOwed(of: place)
        for observer in observers where observer.client == id && observer.terms.endsWithConnection {
            remove(observer.serial, by: .broker, reason: .connectionClosed)
        }
        noteWritten(of: place)
    }

    /// Notes the highest written number of a client; some observers may have lost it on the line.
    mutating func noteWritten(of place: Int) {
        let written = observers.filter { $0.client == clients[place].id }.map(\.writtenThrough)
        let last = written.max() ?? 0
        let isShared = last > 0 && written.count { $0 == last } > 1
        clients[place].lastWritten = LastWritten(
            sequence: last, isShared: isShared && !isTerminating)
    }

    /// Holds unacknowledged deliveries again, in their places, for redelivery (rule D14).
    private mutating func holdOwed(of place: Int) {
        while !clients[place].owed.isEmpty {
            var held = clients[place].owed.removeFirst()
            if let observer = self.place(ofObserver: held.observer) {
                observers[observer].owes = false
            }
            let isCounted = held.countedAs == .delivered
            endWait(for: &held, outcome: .disconnected) { receipt in
                if isCounted { receipt.pending -= 1 }
            }
            held.isRedelivered = true
            clients[place].held.append(held)
        }
        clients[place].owesTooMuch = false
        sortHeld(of: place)
    }

    static func isBefore(_ left: Held, _ right: Held) -> Bool {
        (left.note.sequence, left.observer) < (right.note.sequence, right.observer)
    }

    mutating func sortHeld(of place: Int) {
        clients[place].held.sort { Self.isBefore($0, $1) }
    }

    mutating func resume(_ resumption: Resumption) {
        guard place(ofClient: resumption.newcomer) != nil else { return refuse(.unknownClient) }
        guard !observers.contains(where: { $0.client == resumption.newcomer }),
            resumption.newcomer != resumption.client
        else { return refuse(.resumeTooLate) }
        guard let old = place(ofClient: resumption.client) else { return refuse(.unknownClient) }
        guard clients[old].transport == .webSocket else { return refuse(.noMailbox) }
        if clients[old].isConnected {
            out.notices.append(
                .takenOver(
                    connection: clients[old].connection, transport: .webSocket))
            endConnection(of: old)
        }
        guard let newcomer = place(ofClient: resumption.newcomer) else { return }
        let connection = clients[newcomer].connection
        endConnection(of: newcomer)
        clients.removeAll { $0.id == resumption.newcomer }
        reportLeft(resumption.newcomer, "resumed")
        guard let place = place(ofClient: resumption.client) else { return }
        let heldCount = clients[place].held.count
        clients[place].connection = connection
        change(place) { client in
            client.isConnected = true
            client.isSlow = false
            client.isOwing = false
        }
        clients[place].isFlushing = false
        clients[place].isPaced = false
        if let after = resumption.after { replay(above: after, to: place) }
        clients[place].lastWritten = nil
        let rows = observers(ofClient: resumption.client).map { row(ofObserver: $0) }
        flush(place)
        out.outcome = .resumed(row(ofClient: place), rows, heldCount: heldCount)
    }

    /// Replays notifications of the ring that are not held; those that it lacks are unknown.
    private mutating func replay(above after: UInt64, to place: Int) {
        guard after <= sequence else { return }
        let firstKept = ring.first?.sequence ?? sequence + 1
        let serials = observers(ofClient: clients[place].id)
        // It has seen the first frame of the number itself; the others are in doubt.
        let written = serials.filter { observers[$0].writtenThrough >= after }
        let shared = ring.first { $0.sequence == after }.map { note in
            written.filter { observers[$0].matches(note) && observers[$0].replaysAbove < after }
        }
        let heldBefore = clients[place].held
        var replayed: [Held] = []
        for observer in serials {
            let serial = observers[observer].serial
            // What is not acknowledged is held, unless a kill was before the store had it.
            let acknowledges = observers[observer].terms.acknowledges
            let isInDoubt = observers[observer].losses.contains {
                $0.reason == .unknown && $0.count == nil && $0.first <= after && after <= $0.last
            }
            forgetUnknown(through: after, at: observer, ofClient: place)
            let hasAgain =
                (!acknowledges || isInDoubt)
                && (shared?.dropFirst().contains(observer) ?? false)
            let missed = ring.filter { note in
                (note.sequence > after || note.sequence == after && hasAgain)
                    && observers[observer].matches(note)
                    && observers[observer].replaysAbove < note.sequence
                    && !heldBefore.contains {
                        $0.observer == serial && $0.note.sequence == note.sequence
                    }
            }
            let lowest = hasAgain ? after : after + 1
            makeGood(missed, at: observer) { $0 >= lowest && $0 >= firstKept }
            for note in missed where note.expiresAt > now {
                var held = Held(observer: serial, note: note)
                held.isRedelivered = true
                held.isReplayed = true
                replayed.append(held)
            }
            let hasAll =
                clients[place].lastWritten.map {
                    after > $0.sequence || (after == $0.sequence && !$0.isShared)
                } ?? false
            let start = max(
                observer == written.first || hasAll ? after + 1 : after,
                observers[observer].replaysAbove + 1)
            let most = acknowledges ? isInDoubt ? after : 0 : .max
            let end = min(observers[observer].writtenThrough, firstKept - 1, most)
            if written.contains(observer), start <= end {
                lose(Loss(reason: .unknown, count: nil, first: start, last: end), at: observer)
            }
        }
        hold(replayed, at: place)
    }

    /// Holds what comes out of the ring; what there is no room for beside what is held is lost, the
    /// oldest first.
    mutating func hold(_ replayed: [Held], at place: Int) {
        var replayed = replayed.sorted { Self.isBefore($0, $1) }
        let countRoom = limits.clientHeldCountLimit - clients[place].held.count
        let byteRoom = limits.clientHeldByteLimit - heldByteCount(ofClient: place)
        while let first = replayed.first,
            replayed.count > countRoom
                || replayed.reduce(0, { $0 + $1.note.byteCount }) > byteRoom
        {
            replayed.removeFirst()
            guard let observer = self.place(ofObserver: first.observer) else { continue }
            observers[observer].dropped += 1
            lose(first.note.sequence, .overflow, at: observer)
        }
        clients[place].held += replayed
        sortHeld(of: place)
    }

    /// Takes back a loss if all of it comes again.
    ///
    /// Otherwise the rest of the loss is unknown once a part comes again: that part may have been
    /// delivered before, unless nothing was.
    private mutating func makeGood(
        _ missed: [Note], at observer: Int, isKept: (UInt64) -> Bool
    ) {
        var losses: [Loss] = []
        for loss in observers[observer].losses {
            let notes = missed.filter { loss.first <= $0.sequence && $0.sequence <= loss.last }
            let tooOld = notes.filter { $0.expiresAt <= now }.map(\.sequence)
            if isKept(loss.first), tooOld.isEmpty { continue }
            var left = loss
            if notes.count > tooOld.count {
                let isWhole = loss.count.map { UInt64($0) == loss.last - loss.first + 1 }
                let again = notes.count - tooOld.count
                left.count = isWhole == true ? loss.count.map { $0 - again } : nil
                while isKept(left.last), !tooOld.contains(left.last) { left.last -= 1 }
            }
            losses.append(left)
        }
        observers[observer].losses = losses
    }
}
