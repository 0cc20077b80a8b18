public import BelfrySystem
internal import CSQLite

/// The reason that a store failed; it holds numbers, and never a path.
public enum StoreError: Error, Equatable, Sendable {
    /// Another process has the store.
    case locked
    /// A later version of the program has written the store; nothing was changed.
    case newerSchema(found: Int, supported: Int)
    /// A version of the program before the first release has written it; nothing was changed.
    case olderSchema(found: Int, supported: Int)
    /// The main file is not what a store left; its bytes were not changed.
    case damaged(Damage)
    /// The disk, or the part of it that the process may use, is full.
    case full
    /// SQLite gave up, with its extended result code and the last error number of the system.
    case failed(code: Int32, errno: Int32)
    /// A call of the system failed outside of SQLite.
    case system(SystemCallError)
    /// This part of the store is not where it was opened: writes into it may be lost.
    case displaced(Part)

    /// A part of a store.
    public enum Part: String, Equatable, Sendable {
        /// The data directory.
        case directory = "the data directory"
        /// The main file.
        case main = "belfry.db"
        /// The write-ahead log of the main file.
        case log = "belfry.db-wal"
        /// The file that one process has locked.
        case lock = "belfry.lock"
    }

    /// The damage of a main file.
    public enum Damage: Equatable, Sendable {
        /// The file does not begin as a database of SQLite does.
        case noDatabase
        /// The file belongs to another application, whose number this is.
        case otherApplication(UInt32)
        /// The file is a database of the application, in a form that the store never writes.
        case otherForm
        /// The file is missing or shorter than it states, and its log is there.
        case missingPages
        /// SQLite found a fault in it; 0 when its check did, else the extended result code.
        case brokenStructure(code: Int32)
        /// A row of this table has what the store never writes.
        case brokenRow(Table)
        /// So many rows of these tables have changed since they were written.
        case changedRows([Table: Int])
        /// The index of a table is not what its rows say.
        case brokenIndex(Table)
        /// The log misses so many pages that were written, of so many commits at least.
        case brokenLog(pageCount: Int, commitCount: Int)
    }

    /// The tables of the store, to locate a fault.
    public enum Table: String, CaseIterable, Equatable, Sendable {
        /// Settings of the whole broker.
        case setting
        /// Centers.
        case center
        /// Clients.
        case client
        /// Observers.
        case observer
        /// Tombstones of removed observers.
        case tombstone
        /// Notifications that are held.
        case notification
        /// Which observers hold them.
        case held
        /// Which actions responders hold.
        case action
        /// Losses that observers were not told.
        case gap
        /// Queue entries.
        case queue
        /// Timers.
        case timer
        /// Archives.
        case archive
        /// Kinds of archives.
        case archived
        /// Notifications that archives keep.
        case kept
        /// Asks.
        case ask
        /// Values of objects.
        case value
        /// Idempotency keys.
        case key
    }

    /// The code that SQLite returns for a fault without a code of its own.
    static let generalCode = SQLITE_ERROR

    /// Whether it says that a store is damaged in which rows may be left to read.
    var mayLeaveRows: Bool {
        guard case .damaged(let damage) = self else { return false }
        switch damage {
        case .noDatabase, .otherForm, .missingPages, .brokenStructure: return true
        case .otherApplication, .brokenRow, .changedRows, .brokenIndex, .brokenLog: return false
        }
    }

    /// The same error as a fault of the file's form, if SQLite has only its general code for it.
    ///
    /// SQLite returns that code when it reads a file of a form that it does not know.
    var ofUnknownForm: StoreError {
        guard case .failed(let code, _) = self, code == Self.generalCode else { return self }
        return .damaged(.brokenStructure(code: code))
    }

    /// Makes sense of what SQLite returned.
    init(code: Int32, errno: Int32) {
        switch code & 0xFF {
        case SQLITE_FULL:
            self = .full
        case SQLITE_BUSY, SQLITE_LOCKED:
            self = .locked
        case SQLITE_CORRUPT, SQLITE_NOTADB:
            self = .damaged(.brokenStructure(code: code))
        case SQLITE_IOERR where SystemCallError(call: "write", errno: errno).isFullDisk:
            self = .full
        default:
            self = .failed(code: code, errno: errno)
        }
    }

    init(_ error: SystemCallError) {
        self = error.isFullDisk ? .full : .system(error)
    }
}

/// Makes a failed call of the system an error of the store.
func storeCall<Result: ~Copyable>(
    _ call: () throws(SystemCallError) -> Result
) throws(StoreError) -> Result {
    do throws(SystemCallError) {
        return try call()
    } catch {
        throw StoreError(error)
    }
}
