internal import BelfryCenter

/// All tables of the main file, with the statements that change them.
struct StoreRows {
    var settings: SettingRows
    private var centers: CenterRows
    private var clients: ClientRows
    private var observers: ObserverRows
    private var tombstones: TombstoneRows
    /// Whether tombstones were added since they were trimmed.
    private var hasNewTombstones = false
    private var notifications: NotificationRows
    private var actions: ActionRows
    private var gaps: GapRows
    private var queue: QueueRows
    private var timers: TimerRows
    private var asks: AskRows
    private var values: ValueRows
    private var keys: KeyRows
    private let pageCounter: Statement
    private let freePageCounter: Statement

    init(_ connection: borrowing Connection) throws(StoreError) {
        settings = try SettingRows(connection)
        centers = try CenterRows(connection)
        clients = try ClientRows(connection)
        observers = try ObserverRows(connection)
        tombstones = try TombstoneRows(connection)
        notifications = try NotificationRows(connection)
        actions = try ActionRows(connection)
        gaps = try GapRows(connection)
        queue = try QueueRows(connection)
        timers = try TimerRows(connection)
        asks = try AskRows(connection)
        values = try ValueRows(connection)
        keys = try KeyRows(connection)
        pageCounter = try connection.prepare("PRAGMA page_count")
        freePageCounter = try connection.prepare("PRAGMA freelist_count")
    }

    /// How many pages of the main file are in use.
    func usedPageCount() throws(StoreError) -> Int {
        Int(clamping: try pageCounter.integer() ?? 0) - (try freePageCount())
    }

    /// How many pages of the main file are free.
    func freePageCount() throws(StoreError) -> Int {
        Int(clamping: try freePageCounter.integer() ?? 0)
    }

    /// Forgets what a transaction that failed may have taught.
    mutating func forgetTransaction() {
        centers.forgetNumbers()
    }

    /// Forgets the oldest tombstones past the limit, if there are new ones.
    mutating func trimTombstones(to limit: Int) throws(StoreError) {
        guard hasNewTombstones else { return }
        try tombstones.trim(to: limit)
        hasNewTombstones = false
    }

    // MARK: Changes

    /// Writes one change; `StoreImage.apply` does the same to an image.
    mutating func apply(_ change: StoreChange) throws(StoreError) {
        switch change {
        case .center(let name, let changes): try apply(changes, name: name)
        case .centerEnded(let name):
            guard let number = try centers.end(name) else { return }
            try settings.raise(.centersEnded, to: UInt64(number))
        case .observersReserved(let serial):
            try settings.raise(.observersReserved, to: serial)
        case .clientsReserved(let id): try settings.raise(.clientsReserved, to: id)
        case .modesReserved(let serial): try settings.raise(.modesReserved, to: serial)
        case .lifeBegan(let incarnation):
            try settings.set(.incarnation, to: incarnation)
            try settings.set(.endedInOrder, to: 0)
        case .epochsRenewed: try settings.set(.isCopied, to: 0)
        case .cleanEnd: try settings.set(.endedInOrder, to: 1)
        }
    }

    /// Writes changes of one center, whose number is looked up once.
    private mutating func apply(_ changes: [Change], name: [UInt8]) throws(StoreError) {
        var number: Int64?
        for change in changes {
            if case .center(let record) = change {
                try centers.put(record, name: name)
                continue
            }
            let center = if let number { number } else { try centers.number(of: name) }
            number = center
            try apply(change, center: center)
        }
    }

    private mutating func apply(_ change: Change, center: Int64) throws(StoreError) {
        switch change {
        case .center: preconditionFailure("the record of a center is put by its name")
        case .sequenceReserved(let sequence):
            try centers.reserve(through: sequence, center: center)
        case .client(let record): try clients.put(record, center: center)
        case .clientRemoved(let id):
            try gaps.removeAll(ofClient: id, center: center)
            try observers.removeAll(ofClient: id, center: center)
            try clients.remove(id, center: center)
        case .observer(let record): try observers.put(record, center: center)
        case .observerRemoved(let serial, let tombstone):
            try gaps.removeAll(ofObserver: serial, center: center)
            try observers.remove(serial, center: center)
            try tombstones.add(tombstone, serial: serial, center: center)
            hasNewTombstones = true
        case .notification(let record): try notifications.put(record, center: center)
        case .notificationReleased(let sequence):
            try notifications.remove(sequence, center: center)
            try actions.removeAll(of: sequence, center: center)
        case .held(let observer, let sequence):
            try notifications.hold(sequence, observer: observer, center: center)
        case .released(let observer, let sequence):
            try notifications.release(sequence, observer: observer, center: center)
        case .action(let record): try actions.put(record, center: center)
        case .actionReleased(let row, let sequence):
            try actions.remove(row, sequence, center: center)
        case .gap(let observer, let gap): try gaps.put(gap, observer: observer, center: center)
        case .queued(let record): try queue.put(record, center: center)
        case .dequeued(let id): try queue.remove(id, center: center)
        case .timer(let record): try timers.put(record, center: center)
        case .timerEnded(let id): try timers.remove(id, center: center)
        case .ask(let record): try asks.put(record, center: center)
        case .askForgotten(let id): try asks.remove(id, center: center)
        case .value(let record): try values.put(record, center: center)
        case .valueRemoved(let object): try values.remove(object, center: center)
        case .key(let record): try keys.put(record, center: center)
        case .keyForgotten(let principal, let text):
            try keys.remove(principal: principal, text: text, center: center)
        }
    }

    // MARK: Loading

    /// Loads all tables, and checks that no row has changed since it was written.
    ///
    /// - Throws: `.damaged(.changedRows)` with the counts of changed rows; the loaded pieces are
    ///   worth nothing then.
    func load(
        from connection: borrowing Connection, isComplete: Bool, _ limits: StoreLimits,
        _ tell: (consuming StoredPiece) -> Void
    ) throws(StoreError) {
        do throws(StoreError) {
            try loadChecking(from: connection, isComplete: isComplete, limits, tell)
            try RowCheck.checkIndexes(connection)
        } catch {
            guard case .damaged(.changedRows) = error else { throw error }
            throw .damaged(.changedRows(try RowCheck.changedRows(connection)))
        }
    }

    /// Loads the large tables, and checks each row until the first one that has changed.
    private func loadChecking(
        from connection: borrowing Connection, isComplete: Bool, _ limits: StoreLimits,
        _ tell: (consuming StoredPiece) -> Void
    ) throws(StoreError) {
        tell(.broker(try facts(isComplete: isComplete)))
        var clients = try RowWalk(.client, in: connection, read: ClientRows.read)
        var observers = try RowWalk(.observer, in: connection, read: ObserverRows.read)
        var kept = try RowWalk(.notification, in: connection, read: NotificationRows.read)
        var held = try RowWalk(.held, in: connection, read: NotificationRows.readHeld)
        var acted = try RowWalk(.action, in: connection, read: ActionRows.read)
        var lost = try RowWalk(.gap, in: connection, read: GapRows.read)
        var values = try RowWalk(.value, in: connection, read: ValueRows.read)
        // They are few, and lie in the order of all centers.
        let stones = try tombstones.load(byteLimit: limits.tombstoneByteLimit)
        for (number, center) in try centers.load(isComplete: isComplete) {
            tell(.center(center))
            try clients.visit(number) { tell(.row(.client($0))) }
            try observers.visit(number) { tell(.row(.observer($0))) }
            for (serial, tombstone) in stones[number] ?? [] {
                tell(.row(.observerRemoved(serial: serial, tombstone)))
            }
            try kept.visit(number) { tell(.row(.notification($0))) }
            try held.visit(number) { row in
                tell(.row(.held(observer: row.observer, sequence: row.sequence)))
            }
            try acted.visit(number) { tell(.row(.action($0))) }
            try lost.visit(number) { tell(.row(.gap(observer: $0.observer, $0.gap))) }
            try queue.load(center: number) { tell(.row(.queued($0))) }
            try timers.load(center: number) { tell(.row(.timer($0))) }
            try asks.load(center: number) { tell(.row(.ask($0))) }
            try values.visit(number) { tell(.row(.value($0))) }
            try keys.load(center: number) { tell(.row(.key($0))) }
        }
        try clients.finish()
        try observers.finish()
        try kept.finish()
        try held.finish()
        try acted.finish()
        try lost.finish()
        try values.finish()
    }

    /// The facts of all centers.
    private func facts(isComplete: Bool) throws(StoreError) -> StoreImage {
        var facts = StoreImage()
        facts.observersReserved = try settings.value(of: .observersReserved)
        facts.clientsReserved = try settings.value(of: .clientsReserved)
        facts.modesReserved = try settings.value(of: .modesReserved)
        facts.incarnation = try settings.value(of: .incarnation)
        facts.isCopied = try settings.value(of: .isCopied) != 0
        facts.isComplete = isComplete
        return facts
    }
}
