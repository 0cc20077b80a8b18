import BelfryCenter

/// How much of each kind one principal may have, and one address (decision 70).
///
/// It is one reference, as the loop that has it is large enough.
final class ShareLimits: Sendable {
    /// Nil where one may have all.
    let principal: ShareLimit?
    let address: ShareLimit?
    /// How many connections there may be in all.
    let connectionLimit: Int
    /// The smaller of both, of what waits for full sockets and of what has not fully arrived.
    let leastUnsent: Int
    let leastUnfinished: Int

    init(_ configuration: ServerConfiguration, connectionLimit: Int) {
        self.connectionLimit = connectionLimit
        func limit(_ percent: Int) -> ShareLimit? {
            percent < 100
                ? ShareLimit(percent: percent, configuration, connectionLimit: connectionLimit)
                : nil
        }
        principal = limit(configuration.principalShare)
        address = limit(configuration.addressShare)
        let all = ShareLimit(percent: 100, configuration, connectionLimit: connectionLimit)
        leastUnsent = min((principal ?? all).unsentByteCount, (address ?? all).unsentByteCount)
        leastUnfinished = min(
            (principal ?? all).unfinishedByteCount, (address ?? all).unfinishedByteCount)
    }

    /// What an asker may have; nil where that is all.
    subscript(asker: Asker) -> ShareLimit? {
        switch asker {
        case .principal: principal
        case .address: address
        }
    }
}

extension ServerConfiguration {
    /// How many bytes all texts of a kind may have.
    fileprivate func byteLimit(of kind: TextKind) -> Int {
        switch kind {
        case .queue: queueByteLimit
        case .timers: timerByteLimit
        case .values: valueByteLimit
        case .asks: askByteLimit
        }
    }
}

/// A part of what the broker may have of each kind.
struct ShareLimit {
    /// So many hundredths.
    let percent: Int
    /// Of what is kept.
    let holdings: Holdings
    /// Of the connections.
    let seats: SeatTable.Seats
    /// Of the tickets that are not used.
    let ticketCount: Int
    /// Of what waits for full sockets of one loop, in bytes.
    let unsentByteCount: Int
    /// Of what has not fully arrived on one loop, in bytes.
    let unfinishedByteCount: Int

    init(percent: Int, _ configuration: ServerConfiguration, connectionLimit: Int) {
        self.percent = percent
        func part(_ limit: Int) -> Int {
            max(1, limit / 100 * percent + limit % 100 * percent / 100)
        }
        var holdings = Holdings()
        for kind in KeptKind.allCases {
            holdings.memory[kind] = part(configuration[keyPath: MemoryKind(kind).limit])
        }
        // Texts have limits of their own, and they are a part of what is kept.
        holdings.memory[.held] = min(holdings.memory[.held], part(configuration.heldByteLimit))
        for kind in TextKind.allCases {
            holdings.texts[kind] = (
                part(configuration.byteLimit(of: kind)), part(configuration.memory.queue)
            )
        }
        holdings.observerCount = part(configuration.observerLimit)
        let centerCount = configuration.memory.centers / CenterTable.centerByteCount
        holdings.centerCount = part(min(configuration.centerLimit, centerCount))
        self.holdings = holdings
        seats = SeatTable.Seats(
            count: part(connectionLimit), byteCount: part(configuration.memory.connections))
        ticketCount = part(TicketTerms.limit)
        unsentByteCount = part(configuration.unsentByteLimit / configuration.loopCount)
        unfinishedByteCount = part(configuration.unfinishedByteLimit / configuration.loopCount)
    }
}
