import BelfryCenter
import BelfryHistory

// The answers of programs, and the tickets that they use: each must take effect once.

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

    /// Notes a returned client in the log: notifications that it has not seen may come again.
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

    /// Asks for a ticket, or shows one at a broker, and perhaps again at another one.
    func useTicket() {
        guard let process = dice.pick(nodes)?.process else { return }
        if lastTickets.isEmpty || dice.oneIn(3) {
            lastNumber += 1
            let number = lastNumber
            submit(
                .makeTicket(
                    Self.hash(ofTicket: number), principal: [UInt8]("p\(number % 3)".utf8),
                    shown: Self.shown(byTicket: number), share: 1_000),
                process, for: .makeTicket(number))
            lastTickets.append(number)
            tickets[number] = ClusterTicket()
        } else if let number = dice.pick(Array(lastTickets.suffix(4))) {
            tickets[number]?.useCount += 1
            if tickets[number]?.goodUntil == nil { tickets[number]?.isTooEarly = true }
            submit(
                .useTicket(Self.hash(ofTicket: number), until: .max), process,
                for: .ticket(number))
        }
    }

    private static func hash(ofTicket number: UInt64) -> SecretHash {
        SecretHash(high: number, low: 3)
    }

    private static func shown(byTicket number: UInt64) -> [UInt8] { [UInt8]("key \(number)".utf8) }

    /// Notes a new ticket.
    func noteTicket(
        _ number: UInt64, _ result: Shard.Result, _ process: ClusterProcess
    ) throws(Violation) {
        if isRewound { return }
        guard result == .done else { throw fail("ticket \(number) is not made: \(result)") }
        count("tickets made")
        tickets[number]?.goodUntil = process.shard.logTime + TicketTerms.lifetime
    }

    /// A ticket opens one connection, whichever broker is asked.
    func noteUse(
        of number: UInt64, _ result: Shard.Result, _ process: ClusterProcess
    ) throws(Violation) {
        guard !isRewound, let ticket = tickets[number] else { return }
        guard case .used(let shown) = result else {
            guard ticket.useCount == 1, !ticket.isTooEarly, let end = ticket.goodUntil,
                process.shard.logTime < end
            else { return }
            throw fail("ticket \(number) is good, and is refused")
        }
        count("tickets used")
        if ticket.isUsed { throw fail("ticket \(number) is used twice") }
        if shown != Self.shown(byTicket: number) {
            throw fail("ticket \(number) stands for somebody else")
        }
        tickets[number]?.isUsed = true
    }
}

/// The knowledge about a ticket.
struct ClusterTicket {
    /// The end of its validity, by the time of the log, once it was handed out.
    var goodUntil: Int64?
    /// How often it was shown.
    var useCount = 0
    /// Whether it was shown before it was handed out.
    var isTooEarly = false
    var isUsed = false
}
