import BelfryCenter

// The effects of time, in the order in which they are due.

extension Model {
    private enum Due {
        case lease(client: UInt64)
        case expiry(sequence: UInt64)
        case pace(place: Int)
        case wait(place: Int)
    }

    /// Performs due work, the earliest first, up to a limit.
    ///
    /// The queue comes when nothing else is left, and then the keys.
    mutating func passTime(workLimit: Int) {
        modes.removeAll { $0.endsAt <= now }
        var work = 0
        while let due = firstDue(), work == 0 || work < workLimit || !isWork(due) {
            work += meet(due)
        }
        if firstDue() != nil { return }
        for entry in queue where entry.expiresAt <= now { setFate(of: entry.id, .expired) }
        queue.removeAll { $0.expiresAt <= now }
        for index in queue.indices where queue[index].promotesAt <= now {
            queue[index].style = .asap
            queue[index].promotesAt = .max
        }
        for _ in 0..<max(1, (workLimit - min(work, workLimit)) / 16) {
            guard let first = keys.first, first.forgottenAt <= now else { break }
            keys.removeFirst()
        }
    }

    /// Whether there is something to do: an interval may be over for a client that waits no more.
    private func isWork(_ due: Due) -> Bool {
        guard case .pace(let place) = due else { return true }
        let client = self.place(ofClient: paceDeadlines[place].client)
        return client.map { clients[$0].isPaced } ?? false
    }

    /// Does what is due, and counts its work: 16 for all that ends, 1 for a delivery.
    private mutating func meet(_ due: Due) -> Int {
        var work = 0
        switch due {
        case .lease(let id):
            let watcherCount = observers.count {
                $0.name == [UInt8]("belfry.client.left")
                    || $0.name == [UInt8]("belfry.observer.expired")
            }
            for observer in observers where observer.client == id && leaseEnd(of: observer) <= now {
                let kept = clients.flatMap { $0.held + $0.owed }
                work += 16 * (1 + kept.count { $0.observer == observer.serial }) + watcherCount
                remove(observer.serial, by: .broker, reason: .expired)
                reports.append(
                    Report(
                        name: "belfry.observer.expired", object: "o\(observer.serial)",
                        userInfo: #"{"observer":"o\#(observer.serial)","client":"c\#(id)"}"#))
            }
            leaveIfEmpty(id, "expired")
        case .expiry(let sequence):
            for place in clients.indices {
                while let index = clients[place].held.firstIndex(where: {
                    $0.note.sequence == sequence
                }) {
                    drop(heldAt: index, of: place, .expired)
                    work += 16
                }
            }
        case .pace(let place):
            let id = paceDeadlines.remove(at: place).client
            if let place = self.place(ofClient: id), clients[place].isPaced {
                let deliveryCount = out.deliveries.count
                settle(place)
                work = 16 + out.deliveries.count - deliveryCount
            }
        case .wait(let place): work = 16 + endWaiting(at: place)
        }
        return work
    }

    /// The first due work.
    ///
    /// At one time leases come first, then expired notifications, intervals, and waiting posters,
    /// each by its number.
    private func firstDue() -> Due? {
        var first: (order: (Int64, Int, UInt64), due: Due)?
        func consider(_ time: Int64, _ kind: Int, _ number: UInt64, _ due: Due) {
            if time <= now, (time, kind, number) < first?.order ?? (.max, 0, 0) {
                first = ((time, kind, number), due)
            }
        }
        for observer in observers {
            consider(leaseEnd(of: observer), 0, observer.client, .lease(client: observer.client))
        }
        for client in clients {
            for held in client.held {
                let sequence = held.note.sequence
                consider(held.note.expiresAt, 1, sequence, .expiry(sequence: sequence))
            }
        }
        for (place, deadline) in paceDeadlines.enumerated() {
            consider(deadline.time, 2, deadline.client, .pace(place: place))
        }
        for place in waiting.indices {
            consider(waiting[place].deadline, 3, UInt64(place), .wait(place: place))
        }
        return first?.due
    }

    func leaseEnd(of observer: Observer) -> Int64 {
        guard let lease = observer.terms.lease, let place = place(ofClient: observer.client) else {
            return .max
        }
        if clients[place].isMailbox {
            return observer.mailbox.reader == nil ? observer.mailbox.lookedAt + lease : .max
        }
        return clients[place].isConnected ? .max : clients[place].disconnectedSince + lease
    }

    /// When something is due next.
    var nextDeadline: Int64? {
        var next = Int64.max
        for observer in observers { next = min(next, leaseEnd(of: observer)) }
        for client in clients {
            for held in client.held { next = min(next, held.note.expiresAt) }
        }
        for deadline in paceDeadlines { next = min(next, deadline.time) }
        for waiting in waiting { next = min(next, waiting.deadline) }
        for mode in modes { next = min(next, mode.endsAt) }
        for entry in queue { next = min(next, entry.expiresAt, entry.promotesAt) }
        return next == .max ? nil : next
    }

    /// All centers keep too much of a kind: the oldest of this one are forgotten.
    mutating func trim(_ kind: KeptKind, to count: Int) {
        switch kind {
        // Names without observers are only in reports, which the model does not make.
        case .observers, .queue, .held, .channels, .archives: break
        case .replay: ring.removeFirst(max(0, ring.count - count))
        case .fates:
            fates.removeFirst(max(0, fates.count - count))
            // Intervals that end first are forgotten, and all that end with them (rule D20).
            let ends = paces.map(\.until).filter { $0 > now }.sorted()
            if ends.count > count {
                let last = ends[ends.count - count - 1]
                paces.removeAll { $0.until <= last }
            }
        case .tombstones: tombstones.removeFirst(max(0, tombstones.count - count))
        case .keys:
            let limit = min(count, limits.keyLimit)
            keys.removeFirst(max(0, keys.count - limit))
        }
    }

    /// An owner has too much of a kind: an eighth of it goes, the oldest first.
    mutating func trim(_ kind: KeptKind, of owner: Owner) {
        switch kind {
        case .held:
            for place in clients.indices
            where Owner(ofPrincipal: clients[place].principal) == owner {
                let count = (clients[place].held.count + 7) / 8
                for _ in 0..<count { drop(heldAt: 0, of: place, .overflow) }
            }
        case .keys:
            let count = keys.count { Owner(ofPrincipal: $0.key.principal) == owner }
            for _ in 0..<(count + 7) / 8 {
                guard
                    let place = keys.firstIndex(where: {
                        Owner(ofPrincipal: $0.key.principal) == owner
                    })
                else { break }
                keys.remove(at: place)
            }
        case .observers, .channels, .replay, .fates, .tombstones, .queue, .archives: break
        }
    }

    /// All centers hold too much: the oldest go first.
    mutating func trimHeld(to byteCount: Int) {
        while true {
            // Each notification counts once for all its holders.
            var sequences: [UInt64: Int] = [:]
            for client in clients {
                for held in client.held + client.owed {
                    sequences[held.note.sequence] = held.note.byteCount
                }
            }
            let sum = sequences.values.reduce(0, +)
            let oldest = clients.flatMap(\.held).map(\.note.sequence).min()
            guard sum > byteCount, let oldest else { return }
            for place in clients.indices {
                while let index = clients[place].held.firstIndex(where: {
                    $0.note.sequence == oldest
                }) { drop(heldAt: index, of: place, .overflow) }
            }
        }
    }
}

extension Owner {
    /// The owner of a principal's objects: in a simulation each has one address.
    init(ofPrincipal principal: [UInt8]) {
        self.init(number: principal.first.map { UInt32($0) } ?? 0)
    }
}
