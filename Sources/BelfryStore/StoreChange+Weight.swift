internal import BelfryCenter

// The bytes that a change may add to the log, for which the ballast must have room.
//
// A commit writes each page that it changes once into the log, as 4,120 bytes. A row that is
// appended to its table (all new rows are) shares its page with its neighbours; splits leave pages
// at least half full, so it counts twice, and content past 1,000 bytes has pages of its own, which
// it fills. A row that is changed or removed lies anywhere: it counts one page for each tree it is
// in, and one for the map of pages where it may leave pages free. The reserve
// (`StoreWorker.reserveByteCount`) covers splits and merges further up.
//
// The main file grows by less: a removed row leaves room. Many removals in one turn are large in a
// log, which takes them in pieces (`StoreBatch+Pieces.swift`), and small in the main file.

extension StoreChange {
    /// The bytes of one page in the log, with the header of its frame.
    static let frameByteCount = 4_120

    /// The most bytes that committing it may add to the log.
    var weight: Int {
        switch self {
        case .center(_, let changes): changes.reduce(0) { $0 + $1.weight }
        // Its row and its place in the index of names, settings, and the map of pages.
        case .centerEnded: 4 * Self.frameByteCount
        case .observersReserved, .clientsReserved, .modesReserved, .lifeBegan, .epochsRenewed,
            .cleanEnd:
            // All settings are on one page.
            64
        }
    }

    /// The most bytes that it may add to the main file.
    var growth: Int {
        switch self {
        case .center(_, let changes): changes.reduce(0) { $0 + $1.growth }
        case .centerEnded: 64
        case .observersReserved, .clientsReserved, .modesReserved, .lifeBegan, .epochsRenewed,
            .cleanEnd:
            weight
        }
    }

    /// The number of changes that it represents.
    var count: Int {
        switch self {
        case .center(_, let changes): changes.count
        case .centerEnded, .observersReserved, .clientsReserved, .modesReserved, .lifeBegan,
            .epochsRenewed, .cleanEnd:
            1
        }
    }
}

extension Change {
    /// The most bytes that it may add to the main file.
    fileprivate var growth: Int {
        switch self {
        case .clientRemoved, .notificationReleased, .released, .actionReleased, .dequeued,
            .keyForgotten, .askForgotten, .timerEnded, .valueRemoved, .archiveRemoved,
            .archivedKindForgotten, .letGo:
            0
        case .observerRemoved(_, let tombstone):
            // Tombstones are appended. The part with pages of its own reuses those that the
            // observer's row has left, which had the same texts and more.
            120 + min(tombstone.textByteCount, 1_000)
        case .center, .sequenceReserved, .client, .observer, .notification, .held, .action, .gap,
            .queued, .key, .timer, .ask, .value, .archive, .archivedKind, .kept:
            weight
        }
    }

    /// The most bytes that committing it may add to the log.
    var weight: Int {
        let page = StoreChange.frameByteCount
        switch self {
        case .center(let record): return page + Self.appended(record.epoch.count)
        case .sequenceReserved, .released, .actionReleased: return page
        case .dequeued, .timerEnded: return 2 * page
        case .client(let record): return page + Self.appended(record.principal.count)
        case .clientRemoved: return 2 * page
        case .notificationReleased: return 4 * page
        case .keyForgotten, .askForgotten: return 3 * page
        case .archive(let record): return page + Self.appended(record.name.text.count)
        case .archiveRemoved, .archivedKindForgotten: return 3 * page
        case .archivedKind(let record):
            // The texts are in the key of the row and in the record.
            return 2 * page + Self.appended(2 * record.key.bytes.count)
        case .kept(let record): return Self.appended(record.notification.content.byteCount)
        case .letGo: return page
        case .observer(let record):
            // The row, and its place in the index of the clients' observers.
            let textByteCount =
                (record.name?.count ?? 0) + (record.object?.count ?? 0) + record.selector.count
                + record.role.byteCount
            return page + Self.appended(textByteCount) + Self.appended(0)
        case .observerRemoved(_, let tombstone):
            return 3 * page + Self.appended(tombstone.textByteCount)
        case .notification(let record):
            return Self.appended(record.notification.content.byteCount)
        case .held: return Self.appended(0)
        case .action(let record):
            return Self.appended(
                record.selector.count + record.path.blobByteCount + record.shown.count * 10)
        case .gap: return page + Self.appended(0)
        case .queued(let record):
            return Self.appended(record.content.byteCount + record.modes.blobByteCount)
        case .timer(let record): return page + Self.appended(record.byteCount)
        case .ask(let record): return 2 * page + Self.appended(record.byteCount)
        case .value(let record):
            // The object is in the key of its row and in the record.
            return 2 * page + Self.appended(record.byteCount + record.object.count)
        case .valueRemoved: return 3 * page
        case .key(let record):
            // The texts of the key are in its row and in the record.
            let rows = record.reports.joined()
            return 2 * page
                + Self.appended(
                    2 * (record.key.principal.count + record.key.text.count)
                        + record.receipts.count * 96 + rows.reduce(0) { $0 + $1.byteCount }
                        + (record.ask?.byteCount ?? 0))
        }
    }

    /// The weight of a row with so many bytes of text where rows follow each other.
    private static func appended(_ textByteCount: Int) -> Int {
        let byteCount = textByteCount + 120
        if byteCount <= 1_000 { return 2 * byteCount }
        return (byteCount / 4_088 + 2) * StoreChange.frameByteCount
    }
}

extension [[UInt8]] {
    /// About the bytes of these texts in one blob.
    fileprivate var blobByteCount: Int { reduce(0) { $0 + $1.count + 2 } }
}

extension ReportRow {
    fileprivate var byteCount: Int {
        16 + (outcome.answerText?.count ?? 0) + (route?.path.blobByteCount ?? 0)
    }
}

extension Tombstone {
    fileprivate var textByteCount: Int {
        (name?.count ?? 0) + (object?.count ?? 0) + (terms?.byteCount ?? 0)
    }
}

extension TimerRecord {
    fileprivate var byteCount: Int {
        post.content.byteCount + (post.options?.modes.blobByteCount ?? 0) + scope.byteCount
            + (principal?.name.count ?? 0) + 120
    }
}

extension PostScope {
    fileprivate var byteCount: Int {
        guard case .some(let patterns) = self else { return 0 }
        return patterns.reduce(0) { $0 + ($1.names + $1.objects).reduce(4) { $0 + $1.byteCount } }
    }
}

extension PostScope.Text {
    fileprivate var byteCount: Int {
        switch self {
        case .exact(let bytes), .prefix(let bytes): bytes.count + 4
        }
    }
}

extension AskRecord {
    fileprivate var byteCount: Int {
        content.byteCount + (fallback?.count ?? 0) + principal.count + shown.count * 10
            + (end?.outcome.byteCount ?? 0) + 48
    }
}

extension AskOutcome {
    fileprivate var byteCount: Int { state.textByteCount + path.blobByteCount + 48 }
}
