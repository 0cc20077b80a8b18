import BelfryCenter

/// The memory account of a start: rows taken from the store, and rows without room (decision 124).
///
/// A state can be larger than the memory: a broker with more memory made it, or a version that
/// counted less. A start takes the oldest rows of each kind, up to twice its limit. The rows that
/// it leaves out stay in the store, for a start with more memory.
struct RestoredMemory {
    /// A kind of row that a start can do without.
    enum Row: String, CaseIterable {
        case clients, observers, tombstones, notifications, queued, timers, asks, values, keys
    }

    /// The limits of all kinds.
    private let limits: KeptMemory
    private var kept = KeptMemory()
    /// The kinds of rows that have no more room.
    private var full: Set<Row> = []
    private(set) var leftOut: [Row: Int] = [:]

    init(limits: KeptMemory) {
        self.limits = limits
    }

    /// Starts over, when the store is read again.
    mutating func begin() { self = RestoredMemory(limits: limits) }

    /// Adds the growth of a center.
    mutating func add(_ growth: KeptMemory) { kept += growth }

    /// Counts a row that is left out.
    mutating func leaveOut(_ change: Change) {
        if let row = Row(change) { leftOut[row, default: 0] += 1 }
    }

    /// Whether there is room for a row.
    ///
    /// A row that others belong to is never younger than one that is left out.
    mutating func hasRoom(for change: Change) -> Bool {
        guard let row = Row(change) else { return true }
        guard full.contains(row) || !hasRoom(for: row, change) else { return true }
        full.insert(row)
        return false
    }

    private func hasRoom(for row: Row, _ change: Change) -> Bool {
        switch row {
        // Their observers come behind them.
        case .clients: isBelow(.observers, quarters: 2)
        case .observers:
            // Places of values may take three quarters: values, timers and the queue come behind.
            isBelow(.observers) && (!change.isOfValue || isBelow(.queue, quarters: 3))
        case .tombstones: isBelow(.tombstones)
        case .notifications: isBelow(.held)
        case .queued, .timers, .asks, .values: isBelow(.queue)
        case .keys: isBelow(.keys)
        }
    }

    private func isBelow(_ kind: KeptKind, quarters: Int = 4) -> Bool {
        kept[kind] < limits[kind] / 2 * quarters
    }
}

extension RestoredMemory.Row {
    /// Maps the kind of a row; nil for one that belongs to another one.
    fileprivate init?(_ change: Change) {
        switch change {
        case .client: self = .clients
        case .observer: self = .observers
        case .observerRemoved: self = .tombstones
        case .notification: self = .notifications
        case .queued: self = .queued
        case .timer: self = .timers
        case .ask: self = .asks
        case .value: self = .values
        case .key: self = .keys
        // The bounds of archives hold for all that they keep.
        case .archive, .archiveRemoved, .archivedKind, .archivedKindForgotten, .kept, .letGo:
            return nil
        case .held, .action, .gap, .center, .sequenceReserved, .clientRemoved,
            .notificationReleased, .released, .actionReleased, .dequeued, .timerEnded,
            .keyForgotten, .askForgotten, .valueRemoved:
            return nil
        }
    }
}

extension Change {
    /// Whether the change is an observer of a value.
    fileprivate var isOfValue: Bool {
        if case .observer(let record) = self { record.role.value != nil } else { false }
    }
}

/// The losses of a center by the rows that a start has left out.
///
/// An observer that is left out misses all posts meanwhile, and a start that restores it must give
/// it a gap.
struct LeftOutOfCenter {
    /// The last number that the center may have used before.
    let sequence: UInt64
    /// The first number that each observer that is left out lacks.
    private(set) var firsts: [UInt64: UInt64] = [:]
    /// The first notification that is left out, if any; all later ones are left out, too.
    private var firstNotification = UInt64.max
    private var clients: Set<UInt64> = []

    init(sequence: UInt64) {
        self.sequence = sequence
    }

    /// Notes a row that is left out.
    mutating func note(_ row: Change) {
        switch row {
        case .client(let record): clients.insert(record.id)
        case .observer(let record):
            // One of a value has the present one with its return (rule V10).
            if record.role.value == nil { firsts[record.serial] = sequence + 1 }
        case .notification(let record):
            firstNotification = min(firstNotification, record.notification.sequence)
        default: break
        }
    }

    /// Whether a row is an observer of a client that is left out.
    func lacksClient(of row: Change) -> Bool {
        if case .observer(let record) = row { clients.contains(record.client) } else { false }
    }

    /// Returns the row that takes the place of a row that belongs to others.
    ///
    /// A holder of a notification that is left out gets a gap.
    mutating func replacement(for row: Change) -> Change {
        switch row {
        case .held(let observer, let sequence) where sequence >= firstNotification:
            return .gap(observer: observer, Self.loss(of: sequence))
        case .action(let record) where record.sequence >= firstNotification:
            return .gap(observer: record.responder, Self.loss(of: record.sequence))
        case .gap(let observer, let gap) where gap.reason == .unknown:
            if let first = firsts[observer] { firsts[observer] = min(first, gap.first) }
            return row
        default: return row
        }
    }

    private static func loss(of sequence: UInt64) -> GapRecord {
        GapRecord(reason: .overflow, count: 1, first: sequence, last: sequence)
    }

    /// The changes to store: gaps of observers that are left out, without an end.
    var gaps: [Change] {
        firsts.sorted { $0.key < $1.key }.map { observer, first in
            .gap(
                observer: observer,
                GapRecord(reason: .unknown, count: nil, first: first, last: GapRecord.openEnd))
        }
    }
}
