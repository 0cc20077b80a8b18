internal import BelfryCenter

/// All tables of the main file, with the statements that change them.
struct StoreRows {
    var settings: SettingRows
    private var centers: CenterRows
    private let clients: RowTable
    private let observers: RowTable
    private let tombstones: TombstoneRows
    /// Whether tombstones were added since they were trimmed.
    private var hasNewTombstones = false
    private let notifications: RowTable
    private let held: RowTable
    private let actions: RowTable
    private let gaps: RowTable
    /// Removes the gaps of all observers of a client, which are there still.
    private let clientGapRemover: Statement
    private let queue: RowTable
    private let timers: RowTable
    private let asks: RowTable
    private let values: RowTable
    private let keys: RowTable
    private let archives: ArchiveTables
    private var record = RecordWriter()
    private let pageCounter: Statement
    private let freePageCounter: Statement

    init(_ connection: borrowing Connection) throws(StoreError) {
        settings = try SettingRows(connection)
        centers = try CenterRows(connection)
        clients = try RowTable(.client, connection)
        observers = try RowTable(.observer, connection)
        tombstones = try TombstoneRows(connection)
        notifications = try RowTable(.notification, connection)
        held = try RowTable(.held, connection)
        actions = try RowTable(.action, connection)
        gaps = try RowTable(.gap, connection)
        clientGapRemover = try connection.prepare(
            """
            DELETE FROM gap WHERE center = ?1 AND observer IN
                (SELECT serial FROM observer WHERE center = ?1 AND client = ?2)
            """)
        queue = try RowTable(.queue, connection)
        timers = try RowTable(.timer, connection)
        asks = try RowTable(.ask, connection)
        values = try RowTable(.value, connection)
        keys = try RowTable(.key, connection)
        archives = ArchiveTables(
            terms: try RowTable(.archive, connection), kinds: try RowTable(.archived, connection),
            kept: try RowTable(.kept, connection))
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
        case .client(let client):
            try put(change, in: clients, center: center) { $0.bind(client.id) }
        case .clientRemoved(let id):
            clientGapRemover.bind(center)
            clientGapRemover.bind(id)
            try clientGapRemover.run()
            try observers.removeGroup(id, center: center)
            try clients.remove(center: center) { $0.bind(id) }
        case .observer(let observer):
            try put(change, in: observers, center: center) {
                $0.bind(observer.serial, observer.client)
            }
        case .observerRemoved(let serial, _):
            try gaps.removeGroup(serial, center: center)
            try observers.remove(center: center) { $0.bind(serial) }
            record.write(change)
            try tombstones.add(record.bytes, center: center)
            hasNewTombstones = true
        case .notification(let kept):
            let sequence = kept.notification.sequence
            try put(change, in: notifications, center: center) { $0.bind(sequence) }
        case .notificationReleased(let sequence):
            // Its holders go with it, also those of removed observers and responders.
            try notifications.remove(center: center) { $0.bind(sequence) }
            try held.removeGroup(sequence, center: center)
            try actions.removeGroup(sequence, center: center)
        case .held(let observer, let sequence):
            try held.put(center: center) { $0.bind(sequence, observer) }
        case .released(let observer, let sequence):
            try held.remove(center: center) { $0.bind(sequence, observer) }
        case .action(let action):
            try put(change, in: actions, center: center) { $0.bind(action.sequence, action.row) }
        case .actionReleased(let row, let sequence):
            try actions.remove(center: center) { $0.bind(sequence, row) }
        case .gap(let observer, let gap) where gap.count == 0:
            try gaps.remove(center: center) { $0.bind(observer, UInt64(gap.reason.rawValue)) }
        case .gap(let observer, let gap):
            try put(change, in: gaps, center: center) {
                $0.bind(observer, UInt64(gap.reason.rawValue))
            }
        case .queued(let entry):
            try put(change, in: queue, center: center) {
                $0.bind(entry.id)
                $0.bind(entry.place)
            }
        case .dequeued(let id): try queue.remove(center: center) { $0.bind(id) }
        case .timer(let timer):
            try put(change, in: timers, center: center) { $0.bind(timer.post.id) }
        case .timerEnded(let id): try timers.remove(center: center) { $0.bind(id) }
        case .ask(let ask): try put(change, in: asks, center: center) { $0.bind(ask.id) }
        case .askForgotten(let id): try asks.remove(center: center) { $0.bind(id) }
        case .value(let value):
            try put(change, in: values, center: center) { $0.bind(value.object) }
        case .valueRemoved(let object): try values.remove(center: center) { $0.bind(object) }
        case .key(let answered):
            let key = answered.key
            try put(change, in: keys, center: center) { $0.bind(key.principal, key.text) }
        case .keyForgotten(let principal, let text):
            try keys.remove(center: center) { $0.bind(principal, text) }
        case .archive, .archiveRemoved, .archivedKind, .archivedKindForgotten, .kept, .letGo:
            try applyArchived(change, center: center)
        }
    }

    private mutating func applyArchived(_ change: Change, center: Int64) throws(StoreError) {
        switch change {
        case .archive(let archive):
            try put(change, in: archives.terms, center: center) { $0.bind(UInt64(archive.number)) }
        case .archiveRemoved(let number):
            try archives.kinds.removeGroup(UInt64(number), center: center)
            try archives.terms.remove(center: center) { $0.bind(UInt64(number)) }
        case .archivedKind(let kind):
            try put(change, in: archives.kinds, center: center) {
                $0.bind(UInt64(kind.key.archive))
                $0.bind(kind.key.bytes)
            }
        case .archivedKindForgotten(let key):
            try archives.kinds.remove(center: center) {
                $0.bind(UInt64(key.archive))
                $0.bind(key.bytes)
            }
        case .kept(let row):
            let sequence = row.notification.sequence
            try put(change, in: archives.kept, center: center) { $0.bind(sequence) }
        case .letGo(let sequence): try archives.kept.remove(center: center) { $0.bind(sequence) }
        default: preconditionFailure("the change is none of archives")
        }
    }

    /// Writes the row of a change that puts a record, behind the columns that are bound first.
    private mutating func put(
        _ change: Change, in table: RowTable, center: Int64, _ bind: (Statement) -> Void
    ) throws(StoreError) {
        record.write(change)
        try table.put(center: center) {
            bind($0)
            $0.bind(record.bytes)
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
        var clients = try RowWalk(.client, in: connection)
        var observers = try RowWalk(.observer, in: connection)
        var notifications = try RowWalk(.notification, in: connection)
        var held = try RowWalk(.held, in: connection)
        var actions = try RowWalk(.action, in: connection)
        var gaps = try RowWalk(.gap, in: connection)
        let queue = try OrderedRows(.queue, in: connection)
        var timers = try RowWalk(.timer, in: connection)
        let asks = try OrderedRows(.ask, in: connection)
        var values = try RowWalk(.value, in: connection)
        let keys = try OrderedRows(.key, in: connection)
        var archives = try RowWalk(.archive, in: connection)
        var archivedKinds = try RowWalk(.archived, in: connection)
        var kept = try RowWalk(.kept, in: connection)
        // They are few, and lie in the order of all centers.
        let stones = try tombstones.load(byteLimit: limits.tombstoneByteLimit)
        for (number, center) in try centers.load(isComplete: isComplete) {
            tell(.center(center))
            try clients.visit(number, tell)
            try observers.visit(number, tell)
            for change in stones[number] ?? [] { tell(.row(change)) }
            try notifications.visit(number, tell)
            try held.visit(number, tell)
            try actions.visit(number, tell)
            try gaps.visit(number, tell)
            try queue.visit(number, tell)
            try timers.visit(number, tell)
            try asks.visit(number, tell)
            try values.visit(number, tell)
            try keys.visit(number, tell)
            try archives.visit(number, tell)
            try archivedKinds.visit(number, tell)
            try kept.visit(number, tell)
        }
        try clients.finish()
        try observers.finish()
        try notifications.finish()
        try held.finish()
        try actions.finish()
        try gaps.finish()
        try timers.finish()
        try values.finish()
        try archives.finish()
        try archivedKinds.finish()
        try kept.finish()
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

/// The tables of archives, of their kinds, and of what they keep.
private struct ArchiveTables {
    let terms: RowTable
    let kinds: RowTable
    let kept: RowTable
}
