import BelfryCenter
import BelfryHistory

// What happens because time has passed, in the order in which it is due.

extension Model {
    private enum Due {
        case lease(client: UInt64)
        case expiry(sequence: UInt64)
        case pace(place: Int)
        case wait(place: Int)
    }

    mutating func passTime() {
        while let due = firstDue() {
            switch due {
            case .lease(let id):
                for observer in observers
                where observer.client == id && leaseEnd(of: observer) <= now {
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
                    }) { drop(heldAt: index, of: place, .expired) }
                }
            case .pace(let place):
                let id = paceDeadlines.remove(at: place).client
                if let place = self.place(ofClient: id), clients[place].isPaced { settle(place) }
            case .wait(let place): endWaiting(at: place)
            }
        }
        trimKeys()
        modes.removeAll { $0.endsAt <= now }
        for entry in queue where entry.expiresAt <= now { setFate(of: entry.id, .expired) }
        queue.removeAll { $0.expiresAt <= now }
        for index in queue.indices where queue[index].promotesAt <= now {
            queue[index].style = .asap
            queue[index].promotesAt = .max
        }
    }

    private func firstDue() -> Due? {
        var first: (time: Int64, due: Due)?
        func consider(_ time: Int64, _ due: Due) {
            if time <= now, time < first?.time ?? .max { first = (time, due) }
        }
        for observer in observers {
            consider(leaseEnd(of: observer), .lease(client: observer.client))
        }
        for client in clients {
            for held in client.held {
                consider(held.note.expiresAt, .expiry(sequence: held.note.sequence))
            }
        }
        for (place, deadline) in paceDeadlines.enumerated() {
            consider(deadline.time, .pace(place: place))
        }
        for place in waiting.indices { consider(waiting[place].deadline, .wait(place: place)) }
        return first?.due
    }

    func leaseEnd(of observer: Observer) -> Int64 {
        guard let lease = observer.terms.lease, let place = place(ofClient: observer.client) else {
            return .max
        }
        if clients[place].isMailbox {
            return observer.mailbox.reader == 0 ? observer.mailbox.lookedAt + lease : .max
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
        // Names that nobody observes are only told in reports, which the model does not make.
        case .observers, .queue, .held, .channels: break
        case .replay: ring.removeFirst(max(0, ring.count - count))
        case .fates: fates.removeFirst(max(0, fates.count - count))
        case .tombstones: tombstones.removeFirst(max(0, tombstones.count - count))
        case .keys:
            let limit = min(count, limits.keyLimit)
            while let first = keys.first, keys.count > limit || first.forgottenAt <= now {
                keys.removeFirst()
            }
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
        case .observers, .channels, .replay, .fates, .tombstones, .queue: break
        }
    }

    /// All centers hold too much: the oldest go first.
    mutating func trimHeld(to byteCount: Int) {
        while true {
            // Each notification counts once, whoever holds it.
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
    /// Who counts for what a principal makes: in a simulation each has one address.
    init(ofPrincipal principal: [UInt8]) {
        self.init(number: principal.first.map { UInt32($0) } ?? 0)
    }
}
