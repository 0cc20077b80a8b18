import BelfryCenter

/// The limits of one principal, and of one address, for each kind (decision 70).
///
/// It is a class to be one reference: the loop that has it is large enough.
final class ShareLimits: Sendable {
    /// The limits of a principal and of an address; nil where one may have all.
    let principal: ShareLimit?
    let address: ShareLimit?
    /// The most connections in all.
    let connectionLimit: Int
    /// The smaller of both limits, for unsent output and for unfinished input.
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

    /// The limits of an asker; nil where it may have all.
    subscript(asker: Asker) -> ShareLimit? {
        switch asker {
        case .principal: principal
        case .address: address
        }
    }
}

extension ServerConfiguration {
    /// The most bytes of all texts of a kind.
    fileprivate func byteLimit(of kind: TextKind) -> Int {
        switch kind {
        case .queue: queueByteLimit
        case .timers: timerByteLimit
        case .values: valueByteLimit
        case .asks: askByteLimit
        }
    }
}

/// A percentage of the broker's limit for each kind.
struct ShareLimit {
    /// The percentage.
    let percent: Int
    /// The share of the memory that centers keep.
    let holdings: Holdings
    /// The share of the connections.
    let seats: SeatTable.Seats
    /// The share of the unused tickets.
    let ticketCount: Int
    /// The share of the unsent output of one loop, in bytes.
    let unsentByteCount: Int
    /// The share of the unfinished input of one loop, in bytes.
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
        // Texts have limits of their own, and are a part of what centers keep.
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
