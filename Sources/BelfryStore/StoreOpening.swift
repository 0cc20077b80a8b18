internal import BelfryCenter
internal import BelfrySystem

/// How the main file of a directory is found, checked and begun with.
///
/// Nothing is written before the file is known to be a sound one. Its first bytes are looked at
/// without SQLite; then SQLite opens it, with its log, but may not move the log into it, and reads
/// all of its structure. Its rows are compared with their checksums as they are told, in the
/// transaction that begins the life; that is committed behind the last of them, with the changes of
/// the start, into the log.
enum StoreOpening {
    static let mainName = StoreError.Part.main.rawValue
    static let logName = StoreError.Part.log.rawValue
    static let lockName = StoreError.Part.lock.rawValue
    static let newName = "belfry.db.new"
    /// The log of a main file in whose place a backup was put.
    static let replacedLogName = "belfry.db-wal.replaced"

    /// A connection to a sound file in which a new life has begun.
    struct Opened: ~Copyable {
        var connection: Connection
        var rows: StoreRows
        /// Whether the last life ended in order; true for a new store.
        let isComplete: Bool
        let incarnation: UInt64
        /// The key of the tags of values.
        let tagKey: TagKey
        /// The changes with which the life begins, where the store has not got them.
        let unwritten: [StoreChange]
        /// The log at the beginning of the life.
        let log: LogReport
        let losses: StoreLosses
    }

    /// Opens the main file, which is made if it is not there.
    ///
    /// - Parameters:
    ///   - limits: how much of the stored state is read.
    ///   - witness: the directory's record of the last life. A main file that has fewer lives was
    ///     put back; a log that has less lost something.
    ///   - acceptsDamage: whether to continue without unreadable parts.
    ///   - begins: whether the life is written; where the disk has no room for that, all is read
    ///   alone.
    ///   - progress: gets the progress, in hundredths.
    ///   - tell: takes all stored state.
    ///   - changes: returns the changes of the start, once all state has been told.
    static func open(
        _ path: String, in directory: borrowing Directory, durability: Durability,
        limits: StoreLimits, witness: LogWitness, acceptsDamage: Bool, begins: Bool,
        progress: @escaping (_ percent: Int) -> Void,
        telling tell: (consuming StoredPiece) -> Void, starting changes: () -> [StoreChange]
    ) throws(StoreError) -> Opened {
        var losses = StoreLosses()
        var log = LogReport(header: [])
        if try status(of: mainName, in: directory) == nil {
            if try logByteCount(in: directory) > 0 { throw .damaged(.missingPages) }
            try makeNew(path, in: directory)
            try putNewInPlace(in: directory)
        } else if StoreHeader.isBackup(try start(of: mainName, in: directory)) {
            // A log beside it, and what the lock file knows of one, are those of the file that was
            // here.
            if try status(of: logName, in: directory) != nil {
                try storeCall { () throws(SystemCallError) in
                    try directory.rename(logName, to: replacedLogName)
                }
            }
        } else {
            log = try checkLog(
                in: directory, witness, fallback: durability, acceptsDamage: acceptsDamage,
                &losses)
        }
        let connection = try openMain(
            path, in: directory, acceptsDamage: acceptsDamage, progress: progress, &losses)
        try connection.execute(
            durability == .power ? "PRAGMA synchronous = FULL" : "PRAGMA synchronous = NORMAL")
        try connection.execute("BEGIN IMMEDIATE")
        try checkRows(connection, acceptsDamage: acceptsDamage, &losses)
        let share = Self.checkingPercent
        connection.watch.begin(expecting: try pageCount(connection)) {
            progress(share + $0 * (100 - share) / 100)
        }
        return try begin(
            connection, in: directory, knownIncarnation: witness.incarnation, log: log,
            losses: losses, limits, begins: begins, telling: tell, starting: changes)
    }

    /// The part of a start that the check of the structure takes, in hundredths.
    private static let checkingPercent = 25

    private static func pageCount(
        _ connection: borrowing Connection
    ) throws(StoreError) -> Int {
        Int(clamping: try connection.integer("PRAGMA page_count"))
    }

    // MARK: Checking

    /// Checks that the log is complete.
    private static func checkLog(
        in directory: borrowing Directory, _ witness: LogWitness, fallback: Durability,
        acceptsDamage: Bool, _ losses: inout StoreLosses
    ) throws(StoreError) -> LogReport {
        let log = try readLog(in: directory)
        let boot = BootIdentity.current()
        guard let damage = witness.damage(in: log, boot: boot, fallback: fallback) else {
            return log
        }
        guard acceptsDamage, case .brokenLog(let pageCount, let commitCount) = damage else {
            throw .damaged(damage)
        }
        if witness.isMoved {
            // The main file has all of it; what can be read of the log is older.
            try remove(logName, in: directory)
            return LogReport(header: [])
        }
        (losses.pageCount, losses.commitCount) = (pageCount, commitCount)
        return log
    }

    /// Opens the main file; if damage is accepted, a damaged one is rebuilt from its readable rows.
    private static func openMain(
        _ path: String, in directory: borrowing Directory, acceptsDamage: Bool,
        progress: @escaping (_ percent: Int) -> Void, _ losses: inout StoreLosses
    ) throws(StoreError) -> Connection {
        do throws(StoreError) {
            let connection = try openSound(path, in: directory, progress: progress)
            if acceptsDamage {
                // Which rows are left out comes later: here, whether all can be read.
                _ = try RowCheck.changedRows(connection)
            }
            return connection
        } catch {
            guard acceptsDamage, error.mayLeaveRows else { throw error }
            try StoreSalvage.replaceMain(path, in: directory, &losses)
            return try openSound(path, in: directory, progress: progress)
        }
    }

    /// Opens the main file if it has the structure of one that a store left.
    private static func openSound(
        _ path: String, in directory: borrowing Directory,
        progress: @escaping (_ percent: Int) -> Void
    ) throws(StoreError) -> Connection {
        guard let main = try status(of: mainName, in: directory) else {
            throw .damaged(.missingPages)
        }
        try StoreHeader.check(
            try start(of: mainName, in: directory), byteCount: main.byteCount,
            logByteCount: try logByteCount(in: directory))
        // The store never leaves a rollback journal, and SQLite would follow one.
        if try status(of: mainName + "-journal", in: directory) != nil {
            throw .damaged(.otherForm)
        }
        let connection = try connect(path + "/" + mainName)
        do throws(StoreError) {
            // Each page is looked at where it is linked, where its links lead back, and for its
            // rows.
            connection.watch.begin(expecting: 3 * (try pageCount(connection))) {
                progress($0 * checkingPercent / 100)
            }
            try check(connection)
        } catch {
            throw error.ofUnknownForm
        }
        return connection
    }

    /// Compares the rows of the tables that are not walked through: some change when a life begins.
    ///
    /// Where damage is accepted, the changed rows of all tables are removed.
    private static func checkRows(
        _ connection: borrowing Connection, acceptsDamage: Bool, _ losses: inout StoreLosses
    ) throws(StoreError) {
        if acceptsDamage {
            try connection.execute("REINDEX")
            return try RowCheck.removeChangedRows(connection, &losses)
        }
        let tables = StoreSchema.tables.filter { !$0.isWalked }
        do throws(StoreError) {
            guard try RowCheck.changedRows(in: tables, connection).isEmpty else {
                throw .damaged(.changedRows(try RowCheck.changedRows(connection)))
            }
        } catch {
            throw error.ofUnknownForm
        }
    }

    private static func logByteCount(in directory: borrowing Directory) throws(StoreError) -> Int {
        try status(of: logName, in: directory)?.byteCount ?? 0
    }

    /// Opens a file with the settings of the store.
    static func connect(
        _ path: String, creates: Bool = false
    ) throws(StoreError) -> Connection {
        let connection = try Connection(path: path, creates: creates)
        try connection.makeChecksumFunction()
        // The exclusive mode keeps the index of the log in memory, and others out.
        for pragma in [
            "locking_mode = EXCLUSIVE", "cache_spill = OFF",
            "foreign_keys = OFF", "temp_store = MEMORY", "trusted_schema = OFF",
            "cell_size_check = ON", "cache_size = -16384", "journal_size_limit = 2097152",
            // Some builds write zeros over all that is removed, which takes as much room again.
            "secure_delete = FAST",
        ] {
            try connection.execute("PRAGMA " + pragma)
        }
        return connection
    }

    /// Reads the log as far as it goes, and behind its end.
    private static func readLog(
        in directory: borrowing Directory
    ) throws(StoreError) -> LogReport {
        guard try status(of: logName, in: directory) != nil else { return LogReport(header: []) }
        return try storeCall { () throws(SystemCallError) in
            let file = try directory.open(logName)
            var report = LogReport(header: try file.bytes(LogReport.headerByteCount))
            let frameByteCount = StoreChange.frameByteCount
            var offset = LogReport.headerByteCount
            while report.salts != nil {
                let bytes = try file.bytes(64 * frameByteCount, at: offset)
                let count = bytes.count / frameByteCount
                for frame in 0..<count {
                    report.add(frame: bytes[frame * frameByteCount..<(frame + 1) * frameByteCount])
                }
                if count < 64 { break }
                offset += bytes.count
            }
            return report
        }
    }

    private static func application(
        _ connection: borrowing Connection
    ) throws(StoreError) -> UInt32 {
        UInt32(truncatingIfNeeded: try connection.integer("PRAGMA application_id"))
    }

    /// Reads the whole structure, also what only the log has.
    static func check(_ connection: borrowing Connection) throws(StoreError) {
        let application = try application(connection)
        if application != StoreSchema.applicationID, application != StoreSchema.backupID {
            throw .damaged(.otherApplication(application))
        }
        let version = Int(clamping: try connection.integer("PRAGMA user_version"))
        try StoreHeader.check(version: version)
        if try connection.bytes("PRAGMA quick_check(1)") != Array("ok".utf8) {
            throw .damaged(.brokenStructure(code: 0))
        }
        // The check takes any definition for the right one: with a letter changed, rows could be
        // read as others.
        let texts = try connection.bytes(
            "SELECT group_concat(sql, ';') FROM (SELECT sql FROM sqlite_schema ORDER BY sql)")
        guard texts == Array(StoreSchema.definitions.sorted().joined(separator: ";").utf8) else {
            throw .damaged(.brokenStructure(code: 0))
        }
    }

    // MARK: Beginning

    private static func begin(
        _ connection: consuming Connection, in directory: borrowing Directory,
        knownIncarnation: UInt64, log: LogReport, losses: StoreLosses, _ limits: StoreLimits,
        begins: Bool, telling tell: (consuming StoredPiece) -> Void,
        starting changes: () -> [StoreChange]
    ) throws(StoreError) -> Opened {
        guard let main = try status(of: mainName, in: directory) else {
            throw .damaged(.missingPages)
        }
        var rows = try StoreRows(connection)
        let earlier = try rows.settings.value(of: .incarnation)
        let inode = try rows.settings.value(of: .inode)
        let endedInOrder = try rows.settings.value(of: .endedInOrder)
        // A backup may lie in the place of the file that it was made of, and be of the last life.
        let isBackup = try application(connection) == StoreSchema.backupID
        if isBackup || earlier > 0 && (inode != main.inode || earlier < knownIncarnation) {
            try rows.settings.set(.isCopied, to: 1)
        }
        if isBackup {
            try connection.execute("PRAGMA application_id = \(StoreSchema.applicationID)")
        }
        try rows.settings.set(.inode, to: main.inode)
        if !losses.isEmpty { try rows.settings.skipNumbers(after: losses) }
        let incarnation = max(earlier, knownIncarnation) + 1
        try rows.settings.set(.incarnation, to: incarnation)
        try rows.settings.set(.endedInOrder, to: 0)
        // This life is not written, so the next one finds the numbers unchanged: it needs its own.
        if !begins {
            guard losses.isEmpty, !isBackup else { throw .full }
            try rows.settings.leaveNumbers()
        }
        let tagKey = try rows.settings.tagKey()
        let isComplete = losses.isEmpty && (earlier == 0 || endedInOrder != 0)
        do throws(StoreError) {
            try rows.load(from: connection, isComplete: isComplete, limits, tell)
        } catch {
            throw error.ofUnknownForm
        }
        connection.watch.end()
        let startChanges = changes()
        var unwritten: [StoreChange] = []
        if begins {
            for change in startChanges { try rows.apply(change) }
            try connection.execute("COMMIT")
        } else {
            connection.rollBack()
            unwritten = [.lifeBegan(incarnation: incarnation)] + startChanges
        }
        // Damage would be found again behind the end of the log; and from here on the log is the
        // main file's own.
        if losses.pageCount > 0 || isBackup { try connection.checkpoint(truncates: true) }
        return Opened(
            connection: connection, rows: rows, isComplete: isComplete, incarnation: incarnation,
            tagKey: tagKey, unwritten: unwritten, log: log, losses: losses)
    }

    // MARK: Making

    /// Makes a main file under another name first: it is there as a whole or not at all.
    static func makeNew(_ path: String, in directory: borrowing Directory) throws(StoreError) {
        for suffix in ["", "-journal", "-wal", "-shm"] {
            try remove(newName + suffix, in: directory)
        }
        // SQLite would make it readable by all users; its log gets the permissions of the file.
        try storeCall { () throws(SystemCallError) in try directory.make(newName) }
        try write(path + "/" + newName, in: directory)
    }

    /// Gives the new file its name, at once and for good.
    static func putNewInPlace(in directory: borrowing Directory) throws(StoreError) {
        for suffix in ["-wal", "-shm"] { try remove(newName + suffix, in: directory) }
        for suffix in ["-wal", "-shm"] { try remove(mainName + suffix, in: directory) }
        try storeCall { () throws(SystemCallError) in
            try directory.rename(newName, to: mainName)
        }
    }

    private static func write(
        _ path: String, in directory: borrowing Directory
    ) throws(StoreError) {
        let connection = try connect(path, creates: true)
        try connection.execute("PRAGMA synchronous = FULL")
        try connection.execute("PRAGMA page_size = \(StoreSchema.pageByteCount)")
        // Pages that are free again can be given back to the disk (`StoreFile.shrink`).
        try connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
        try connection.execute("PRAGMA application_id = \(StoreSchema.applicationID)")
        guard let file = try status(of: newName, in: directory) else {
            throw .damaged(.missingPages)
        }
        try connection.execute("BEGIN IMMEDIATE")
        for text in StoreSchema.definitions { try connection.execute(text) }
        try connection.execute("PRAGMA user_version = \(StoreSchema.version)")
        let settings = try SettingRows(connection)
        try settings.set(.inode, to: file.inode)
        try connection.execute("COMMIT")
        // The last step, and with a rollback journal: the log itself stays empty.
        guard try connection.bytes("PRAGMA journal_mode = WAL") == Array("wal".utf8) else {
            throw .damaged(.otherForm)
        }
    }

    // MARK: Files

    static func status(
        of name: String, in directory: borrowing Directory
    ) throws(StoreError) -> FileStatus? {
        return try storeCall { () throws(SystemCallError) in
            try directory.status(of: name)
        }
    }

    private static func start(
        of name: String, in directory: borrowing Directory
    ) throws(StoreError) -> [UInt8] {
        return try storeCall { () throws(SystemCallError) in
            try directory.start(of: name, byteCount: StoreHeader.byteCount)
        }
    }

    static func remove(
        _ name: String, in directory: borrowing Directory
    ) throws(StoreError) {
        try storeCall { () throws(SystemCallError) in
            try directory.remove(name)
        }
    }
}
