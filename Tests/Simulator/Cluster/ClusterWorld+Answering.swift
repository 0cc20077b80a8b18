import BelfryCenter
import BelfryHistory

// What programs answer, and the tickets that they use: what has happened once must not happen again.

extension ClusterWorld {
    // MARK: Acknowledgements

    /// A program has read a notification that it must acknowledge.
    func noteAsked(
        _ sequence: UInt64, of observer: UInt64, at askedAt: UInt64, _ place: Int
    ) {
        if let index = truth.accounts[observer]?.acknowledgedAt[sequence], index < askedAt {
            problem =
                problem ?? fail("o\(observer) has \(sequence) again, which it has acknowledged")
        }
        truth.accounts[observer]?.here.insert(sequence)
        programs[place].owed.append((DeliveryName(observer: observer, sequence: sequence), askedAt))
    }

    /// A program answers some of what it has read, in any order.
    func answer(_ place: Int) {
        guard let at = programs[place].place, programs[place].isReady,
            let client = programs[place].client, let process = nodes[at.node].process
        else { return }
        programs[place].owed = programs[place].owed.filter { delivery, askedAt in
            guard dice.oneIn(3) else { return true }
            let result = submit(
                .tell(
                    center: programs[place].center,
                    .acknowledge(client: client, delivery, .result([]))), process)
            guard case .success(let id) = result else { return true }
            acknowledgements[id] = (delivery, askedAt)
            truth.accounts[delivery.observer]?.answered.insert(delivery.sequence)
            return false
        }
    }

    /// The log has an answer: it counts if its connection is still that of its client.
    func noteAcknowledgement(_ id: CommandID, at index: UInt64) {
        guard let (delivery, askedAt) = acknowledgements[id],
            let program = truth.accounts[delivery.observer]?.program,
            programs[program].resumedAt <= askedAt
        else { return }
        count("acknowledgements")
        tell("o\(delivery.observer) has acknowledged \(delivery.sequence), asked at \(askedAt)")
        truth.accounts[delivery.observer]?.acknowledgedAt[delivery.sequence] = index
    }

    /// The log has a connection of a client that was there before: what that says not to have seen may come again.
    func noteResume(_ id: CommandID, at index: UInt64) {
        guard let (place, after) = resumes[id] else { return }
        programs[place].resumedAt = index
        // It is late: the program has seen more meanwhile, at another broker.
        guard let after, after < programs[place].lastSeen else { return }
        for (serial, account) in truth.accounts where account.program == place {
            truth.accounts[serial]?.acknowledgedAt = account.acknowledgedAt.filter {
                $0.key <= after
            }
        }
    }

    // MARK: Tickets

    /// Somebody uses a ticket at one broker, and perhaps at another one again.
    func useTicket() {
        guard let process = dice.pick(nodes)?.process else { return }
        if tickets.isEmpty || dice.oneIn(3) {
            lastNumber += 1
            tickets.append((lastNumber, process.shard.logTime + 60_000_000_000))
        }
        guard let (number, until) = dice.pick(Array(tickets.suffix(4))) else { return }
        submit(
            .useTicket(SecretHash(high: number, low: 3), until: until), process,
            for: .ticket(number))
    }

    /// A ticket opens one connection, whichever broker is asked.
    func noteUse(of ticket: UInt64, _ result: Shard.Result) throws(Violation) {
        guard !isRewound, result == .done else { return }
        count("tickets used")
        guard usedTickets.insert(ticket).inserted else {
            throw fail("ticket \(ticket) is used twice")
        }
    }
}
