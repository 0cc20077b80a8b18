/// Writes the records of changes as the code that a store keeps in its rows (decision 127).
///
/// All of them are written into one buffer, one in the place of the other.
public struct RecordWriter: Sendable {
    /// The room that is used again; a larger record has room of its own.
    private static let keptByteCount = 65_536

    private var writer = CodeWriter(of: Change.recordVersion)

    /// Makes a writer without a record.
    public init() {}

    /// The code of the last record, until the next one is written.
    public var bytes: Span<UInt8> {
        @_lifetime(borrow self)
        get { writer.bytes.span }
    }

    /// Writes the record of a change that puts one.
    public mutating func write(_ change: Change) {
        writer.clear(keeping: Self.keptByteCount)
        switch change {
        case .client(let record): writer.write(record)
        case .observer(let record): writer.write(record)
        case .observerRemoved(let serial, let tombstone):
            writer.write(serial)
            writer.write(tombstone)
        case .notification(let record): writer.write(record)
        case .action(let record): writer.write(record)
        case .gap(let observer, let gap):
            writer.write(observer)
            writer.write(gap)
        case .queued(let record): writer.write(record)
        case .timer(let record): writer.write(record)
        case .ask(let record): writer.write(record)
        case .value(let record): writer.write(record)
        case .key(let record): writer.write(record)
        case .archive(let record): writer.write(record)
        case .archivedKind(let record): writer.write(record)
        case .kept(let record): writer.write(record)
        case .archiveRemoved, .archivedKindForgotten, .letGo, .center, .sequenceReserved,
            .clientRemoved, .notificationReleased, .held, .released,
            .actionReleased, .dequeued, .timerEnded, .askForgotten, .valueRemoved, .keyForgotten:
            preconditionFailure("the change puts no record")
        }
    }
}

extension Change {
    /// The version of the code of records: behind that of snapshots, for receipts of kept posts.
    ///
    /// A store that has records of another code has another number of its schema.
    fileprivate static let recordVersion = NotificationCenter.snapshotVersion + 1

    /// The kinds of changes that put a record.
    public enum RecordKind: Sendable, CaseIterable {
        /// A client.
        case client
        /// An observer.
        case observer
        /// The tombstone of a removed observer.
        case tombstone
        /// A notification that is held.
        case notification
        /// An action that a responder holds.
        case action
        /// Losses that an observer was not told.
        case gap
        /// A queue entry.
        case queued
        /// A timer.
        case timer
        /// An ask.
        case ask
        /// The value of an object.
        case value
        /// An idempotency key.
        case key
        /// An archive.
        case archive
        /// A kind of an archive.
        case archivedKind
        /// A notification that an archive keeps.
        case kept
    }

    /// Reads what a ``RecordWriter`` wrote for a change of this kind.
    ///
    /// - Throws: An error for all other bytes; a count that the bytes cannot hold is one.
    public init(_ kind: RecordKind, record code: [UInt8]) throws(CodeError) {
        // No record has a hash table.
        var reader = CodeReader(code, of: Self.recordVersion, seed: HashSeed(0, 0))
        switch kind {
        case .client: self = .client(try reader.next())
        case .observer: self = .observer(try reader.next())
        case .tombstone:
            self = .observerRemoved(serial: try reader.next(), try reader.next())
        case .notification: self = .notification(try reader.next())
        case .action: self = .action(try reader.next())
        case .gap: self = .gap(observer: try reader.next(), try reader.next())
        case .queued: self = .queued(try reader.next())
        case .timer: self = .timer(try reader.next())
        case .ask: self = .ask(try reader.next())
        case .value: self = .value(try reader.next())
        case .key: self = .key(try reader.next())
        case .archive: self = .archive(try reader.next())
        case .archivedKind: self = .archivedKind(try reader.next())
        case .kept: self = .kept(try reader.next())
        }
        try reader.finish()
    }
}
