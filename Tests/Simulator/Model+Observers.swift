import BelfryCenter
import BelfryHistory

// Clients and observers come and go (rules C8 to C11, O1 to O10).

extension Model {
    /// Does what a command says, and tells what that brings about.
    mutating func apply(_ command: Command) -> Prediction {
        now = command.time.monotonicNanoseconds
        wall = command.time.wallMilliseconds
        out = Prediction()
        terms = PostTerms()
        isPosting = false
        reportCountBefore = reports.count
        perform(command.action, command.id)
        guard case .plain(.refused(let refusal)) = out.outcome else {
            if queue.count <= limits.queueEntryLimit / 2 { hasReportedOverflow = false }
            if !reports.isEmpty { postReports(of: command.id) }
            if case .terminate = command.action {
                for place in clients.indices
                where clients[place].isConnected && !clients[place].isMailbox {
                    noteWritten(of: place)
                }
            }
            return out
        }
        if case .queueFull = refusal { reportOverflow() }
        return out
    }

    mutating func refuse(_ refusal: Refusal) {
        reports.removeLast(reports.count - reportCountBefore)
        out = Prediction()
        out.outcome = .plain(.refused(refusal))
    }

    /// Whether a connection is that of a client, or one that reads its mailbox.
    private func isThere(_ id: UInt64, on connection: ConnectionName) -> Bool {
        if observers.contains(where: { $0.client == id && $0.mailbox.reader == connection }) {
            return true
        }
        return clients.contains { $0.id == id && $0.isConnected && $0.connection == connection }
    }

    private mutating func perform(_ action: Command.Action, _ id: CommandID) {
        switch action {
        case .configure(let limits): configure(limits)
        case .connect(let client, let observers, let since): connect(client, observers, since)
        case .disconnect(let client, let connection, _, _, _): disconnect(client, connection)
        case .resume(let resumption): resume(resumption)
        case .onConnection(let place, let action):
            guard isThere(place.client, on: place.connection) else { return refuse(.unknownClient) }
            perform(action, id)
        case .within(_, let action): perform(action, id)
        case .setSuspended(let client, let isAsked): setSuspended(client, isAsked)
        case .becomeSlow(let client): becomeSlow(client)
        case .drain(let client): drain(client)
        case .post(let post, let terms):
            self.terms = terms
            isPosting = true
            self.post([post], id)
        case .postBatch(let posts, let terms):
            self.terms = terms
            isPosting = true
            post(posts, id)
        case .acknowledge(let client, let delivery, let response):
            let (observer, sequence) = (delivery.observer, delivery.sequence)
            acknowledge(client: client, observer: observer, sequence: sequence, response)
        case .addObserver(let observer, let client, let since):
            guard canRegister(1, client: client), mayLast(observer, client: client),
                hasRoom(for: [observer])
            else { return }
            register([observer], client: client, since: since)
        case .removeObserver(let serial, let remover): removeObserver(serial, by: remover)
        case .ask, .withdraw, .leaveAsk, .answer, .setValue, .mergeValue, .removeValue,
            .showAnnounced, .putArchive, .removeArchive, .forget:
            preconditionFailure("asks, values and archives have worlds of their own")
        case .removeObservers(let client, let filter):
            removeObservers(of: client, filter)
        case .removeClient(let client, let remover): removeClient(client, by: remover)
        case .readMailbox(let observer, let through, let wait):
            readMailbox(observer, through: through, wait: wait)
        case .attachStream(let observer, let connection):
            attachReader(observer, connection, isStream: true)
        case .detachReader(let observer, let connection): detachReader(observer, connection)
        case .dequeue(let match): dequeue(match)
        case .dequeueEntry(let entry, let scope): dequeueEntry(entry, scope)
        case .enterMode(let entry): enterMode(entry)
        case .leaveMode(let serial): leaveMode(serial)
        case .endTurn(let workLimit): endTurn(workLimit: workLimit)
        case .terminate:
            if !isTerminating { reports.append(Report(name: "belfry.center.willTerminate")) }
            isTerminating = true
            if turnGoesOn { endTurn(workLimit: .max) }
            endTurn(workLimit: .max)
        case .idle: idle()
        case .passTime(let workLimit): passTime(workLimit: workLimit)
        case .trimHeld(let byteCount): trimHeld(to: byteCount)
        case .trim(let kind, let count): trim(kind, to: count)
        case .trimOwned(let kind, let owner): trim(kind, of: owner)
        }
    }

    /// Whether the lease of an observer is not over already, where its client is away (rule O7).
    private mutating func mayLast(_ observer: ObserverRegistration, client: UInt64) -> Bool {
        guard let place = place(ofClient: client), let lease = observer.terms.lease,
            !clients[place].isConnected, !clients[place].isMailbox,
            clients[place].disconnectedSince + lease <= now
        else { return true }
        let away = now - clients[place].disconnectedSince
        refuse(.leaseIsOver(awayMilliseconds: away / 1_000_000))
        return false
    }

    private mutating func configure(_ limits: CenterLimits) {
        self.limits = limits
        trimRing()
        trimFates()
        while tombstones.count > limits.tombstoneLimit { tombstones.removeFirst() }
    }

    // MARK: Coming

    private mutating func connect(
        _ registration: ClientRegistration, _ registrations: [ObserverRegistration],
        _ since: UInt64?
    ) {
        guard registrations.count <= limits.clientObserverLimit else {
            return refuse(.tooManyObservers(limit: limits.clientObserverLimit))
        }
        guard hasRoom(for: registrations) else { return }
        var client = Client(
            id: registration.id, transport: registration.transport,
            connection: registration.connection, sessionHash: registration.sessionHash,
            principal: registration.principal, connectedAt: wall, stateSince: wall)
        if client.isMailbox {
            // Until the first look the mailbox has no reader.
            client.isConnected = false
            client.disconnectedSince = now
        }
        clients.append(client)
        let words: [Transport: String] = [
            .webSocket: "websocket", .events: "events", .mailbox: "mailbox",
        ]
        report("connected", client: client.id, #","transport":"\#(words[client.transport] ?? "")""#)
        register(registrations, client: client.id, since: since)
    }

    private mutating func canRegister(_ count: Int, client: UInt64) -> Bool {
        guard place(ofClient: client) != nil else {
            refuse(.unknownClient)
            return false
        }
        guard observers(ofClient: client).count + count <= limits.clientObserverLimit else {
            refuse(.tooManyObservers(limit: limits.clientObserverLimit))
            return false
        }
        return true
    }

    private mutating func register(
        _ registrations: [ObserverRegistration], client: UInt64, since: UInt64?
    ) {
        for registration in registrations {
            var observer = Observer(
                serial: registration.serial, client: client, tokenHash: registration.tokenHash,
                name: registration.name, object: registration.object,
                role: registration.role, filter: HistoryFilter(registration.role.filter),
                selector: registration.selector, terms: registration.terms, since: sequence,
                createdAt: wall)
            observer.mailbox.lookedAt = now
            observers.append(observer)
            if isLasting(observers.count - 1) { out.promises = true }
        }
        let new = Array(observers.indices.suffix(registrations.count))
        if let since, since < sequence, !new.isEmpty { replay(since: since, to: new, client) }
        out.outcome = .registered(
            registrations.compactMap { registration in
                place(ofObserver: registration.serial).map { row(ofObserver: $0) }
            })
    }

    private mutating func replay(since: UInt64, to new: [Int], _ client: UInt64) {
        guard let place = place(ofClient: client) else { return }
        let firstKept = ring.first?.sequence ?? sequence + 1
        for observer in new { observers[observer].askedSince = since }
        for observer in new where since + 1 < firstKept {
            lose(
                Loss(reason: .unknown, count: nil, first: since + 1, last: firstKept - 1),
                at: observer)
        }
        var replayed: [Held] = []
        for note in ring where note.sequence > since && note.expiresAt > now {
            for observer in new where observers[observer].matches(note) {
                var held = Held(observer: observers[observer].serial, note: note)
                held.isRedelivered = true
                held.isReplayed = true
                replayed.append(held)
            }
        }
        hold(replayed, at: place)
        settle(place)
    }

    // MARK: Going

    private mutating func removeObserver(_ serial: UInt64, by remover: Remover) {
        guard let observer = place(ofObserver: serial) else {
            if let known = tombstones.last(where: { $0.serial == serial }) {
                return refuse(.observerRemoved(known.tombstone))
            }
            return refuse(.unknownObserver)
        }
        let owner = clients[client(of: observer)]
        let tombstone = remove(serial, by: remover, reason: .removed)
        out.outcome = .plain(.removed(1))
        // Rule O9: the owner hears of it unless it asked for it itself.
        if remover != .client(owner.id), owner.isConnected, !owner.isMailbox, let tombstone {
            out.notices.append(
                .removed(
                    connection: owner.connection, transport: owner.transport,
                    observer: serial, tombstone))
        }
        afterRemoval(from: owner.id)
    }

    private mutating func removeObservers(of client: UInt64, _ filter: ObserverFilter) {
        guard place(ofClient: client) != nil else { return refuse(.unknownClient) }
        out.outcome = .plain(.removed(0))
        // Rule O10: with no criterion nothing goes.
        if filter.isEmpty { return }
        let (name, object) = (filter.name, filter.object)
        let terms = HistoryFilter(filter.terms)
        // Rule O3: the filter is compared, so a wildcard is no such name.
        let gone = observers.filter {
            $0.client == client && (name == nil || $0.name == name)
                && (object == nil || $0.object == object)
                && terms?.isPart(of: $0.filter) ?? true
        }
        for observer in gone { remove(observer.serial, by: .client(client), reason: .removed) }
        out.outcome = .plain(.removed(gone.count))
        if !gone.isEmpty { afterRemoval(from: client) }
    }

    private mutating func afterRemoval(from client: UInt64) {
        guard let place = place(ofClient: client) else { return }
        if leaveIfEmpty(client, "removed") { return }
        if !clients[place].isMailbox { settle(place) }
    }

    /// A client without a connection is there as long as it has an observer.
    @discardableResult
    mutating func leaveIfEmpty(_ client: UInt64, _ reason: String) -> Bool {
        guard let place = place(ofClient: client),
            !observers.contains(where: { $0.client == client }),
            !clients[place].isConnected || clients[place].isMailbox
        else { return false }
        reportLeft(client, reason)
        clients.remove(at: place)
        return true
    }

    private mutating func removeClient(_ client: UInt64, by remover: Remover) {
        guard let place = place(ofClient: client) else { return refuse(.unknownClient) }
        let serials = observers.filter { $0.client == client }.map(\.serial)
        for serial in serials { remove(serial, by: remover, reason: .clientRemoved) }
        modes.removeAll { $0.client == client }
        if clients[place].isConnected, !clients[place].isMailbox {
            out.notices.append(
                .clientRemoved(
                    connection: clients[place].connection,
                    transport: clients[place].transport))
        }
        clients.remove(at: place)
        reportLeft(client, "removed")
        out.outcome = .plain(.removed(serials.count))
    }

    /// Removes an observer with what is held for it; a tombstone remains (law 4).
    @discardableResult
    mutating func remove(
        _ serial: UInt64, by remover: Remover, reason: RemovalReason
    ) -> Tombstone? {
        guard let observer = place(ofObserver: serial) else { return nil }
        let place = client(of: observer)
        for held in clients[place].held where held.observer == serial {
            let countedAs = held.countedAs
            guard countedAs == .held || countedAs == .coalesced else { continue }
            recount(held, .dropped) { receipt in
                if countedAs == .held { receipt.held -= 1 } else { receipt.coalesced -= 1 }
                receipt.dropped += 1
            }
        }
        clients[place].held.removeAll { $0.observer == serial }
        while let index = clients[place].owed.firstIndex(where: { $0.observer == serial }) {
            var held = clients[place].owed.remove(at: index)
            noteLessOwed(at: place, observer: serial)
            let isCounted = held.countedAs == .delivered
            endWait(for: &held, outcome: .disconnected) { receipt in
                if isCounted { receipt.pending -= 1 }
            }
        }
        let gone = observers[observer]
        if let reader = gone.mailbox.reader {
            out.notices.append(
                .readerReplaced(connection: reader, isStream: gone.mailbox.isStream))
        }
        observers.remove(at: observer)
        let id = gone.client
        if clients[place].isMailbox, clients[place].isConnected,
            !observers.contains(where: { $0.client == id && $0.mailbox.reader != nil })
        {
            change(place) { $0.isConnected = false }
            clients[place].disconnectedSince = now
        }
        let tombstone = Tombstone(
            tokenHash: gone.tokenHash, removedAt: wall, removedBy: remover, reason: reason,
            name: gone.name, object: gone.object, terms: gone.role.filter)
        tombstones.append((serial, tombstone))
        while tombstones.count > limits.tombstoneLimit { tombstones.removeFirst() }
        return tombstone
    }

    // MARK: Rows

    func row(ofObserver place: Int) -> SeenObserver {
        let observer = observers[place]
        let client = clients[client(of: place)]
        return SeenObserver(
            serial: observer.serial, client: client.id, transport: client.transport,
            name: observer.name, object: observer.object, role: observer.role,
            selector: observer.selector,
            terms: observer.terms, since: observer.since, createdAt: observer.createdAt,
            state: client.state, stateSince: client.stateSince, principal: client.principal,
            delivered: observer.delivered, held: heldCount(of: place),
            coalesced: observer.coalesced, dropped: observer.dropped,
            lastDeliveredAt: observer.lastDeliveredAt, tokenHash: observer.tokenHash)
    }

    func row(ofClient place: Int) -> SeenClient {
        let client = clients[place]
        return SeenClient(
            id: client.id, transport: client.transport, connection: client.connection,
            state: client.state, stateSince: client.stateSince, principal: client.principal,
            observerCount: observers.count { $0.client == client.id }, held: client.held.count,
            connectedAt: client.connectedAt, sessionHash: client.sessionHash)
    }
}
