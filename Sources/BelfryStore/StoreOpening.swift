internal import BelfrySystem

/// How the main file of a directory is found, checked and begun with.
///
/// Nothing is written before the file is known to be a sound one. Its first bytes are looked at
/// without SQLite; then SQLite opens it, with its log, but may not move the log into it, and reads all
/// of its structure. Only the transaction that begins the life writes, and it writes into the log.
enum StoreOpening {
    static let mainName = StoreError.Part.main.rawValue
    static let logName = StoreError.Part.log.rawValue
    static let lockName = StoreError.Part.lock.rawValue
    private static let newName = "belfry.db.new"

    /// A connection to a sound file in which a new life has begun.
    struct Opened: ~Copyable {
        var connection: Connection
        var rows: StoreRows
        /// Whether the last life ended in order; true for a new store.
        let isComplete: Bool
        let incarnation: UInt64
    }

    /// Opens the main file, which is made if it is not there.
    ///
    /// - Parameter knownIncarnation: the last life that the directory had, if that is known. A main
    ///   file that knows fewer was put back.
    static func open(
        _ path: String, in directory: borrowing Directory, durability: Durability,
        knownIncarnation: UInt64
    ) throws(StoreError) -> Opened {
        let main = try status(of: mainName, in: directory)
        let logByteCount = try status(of: logName, in: directory)?.byteCount ?? 0
        if let main {
            try StoreHeader.check(
                try start(of: mainName, in: directory), byteCount: main.byteCount,
                logByteCount: logByteCount)
            // The store never leaves a rollback journal, and SQLite would follow one.
            if try status(of: mainName + "-journal", in: directory) != nil {
                throw .damaged(.otherForm)
            }
        } else {
            if logByteCount > 0 { throw .damaged(.missingPages) }
            try make(path, in: directory)
        }
        let connection = try connect(path + "/" + mainName)
        try check(connection)
        try connection.execute(
            durability == .power ? "PRAGMA synchronous = FULL" : "PRAGMA synchronous = NORMAL")
        return try begin(connection, in: directory, knownIncarnation: knownIncarnation)
    }

    // MARK: Checking

    private static func connect(
        _ path: String, creates: Bool = false
    ) throws(StoreError) -> Connection {
        let connection = try Connection(path: path, creates: creates)
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

    /// Reads the whole structure, also what only the log has.
    private static func check(_ connection: borrowing Connection) throws(StoreError) {
        let application = UInt32(
            truncatingIfNeeded: try connection.integer("PRAGMA application_id"))
        if application != StoreSchema.applicationID {
            throw .damaged(.otherApplication(application))
        }
        let version = Int(clamping: try connection.integer("PRAGMA user_version"))
        try StoreHeader.check(version: version)
        if try connection.bytes("PRAGMA quick_check(1)") != Array("ok".utf8) {
            throw .damaged(.brokenStructure(code: 0))
        }
    }

    // MARK: Beginning

    private static func begin(
        _ connection: consuming Connection, in directory: borrowing Directory,
        knownIncarnation: UInt64
    ) throws(StoreError) -> Opened {
        guard let main = try status(of: mainName, in: directory) else {
            throw .damaged(.missingPages)
        }
        try connection.execute("BEGIN IMMEDIATE")
        try migrate(connection)
        let rows: StoreRows
        do throws(StoreError) {
            rows = try StoreRows(connection)
        } catch {
            // A statement that cannot be prepared misses its table or its columns.
            guard case .failed(let code, _) = error else { throw error }
            throw .damaged(.brokenStructure(code: code))
        }
        let earlier = try rows.settings.value(of: .incarnation)
        let inode = try rows.settings.value(of: .inode)
        let endedInOrder = try rows.settings.value(of: .endedInOrder)
        if earlier > 0, inode != main.inode || earlier < knownIncarnation {
            try rows.settings.set(.isCopied, to: 1)
            try rows.settings.set(.inode, to: main.inode)
        }
        let incarnation = max(earlier, knownIncarnation) + 1
        try rows.settings.set(.incarnation, to: incarnation)
        try rows.settings.set(.endedInOrder, to: 0)
        try connection.execute("COMMIT")
        return Opened(
            connection: connection, rows: rows, isComplete: earlier == 0 || endedInOrder != 0,
            incarnation: incarnation)
    }

    /// Takes the steps from the version of the file to the present one.
    private static func migrate(_ connection: borrowing Connection) throws(StoreError) {
        let version = Int(clamping: try connection.integer("PRAGMA user_version"))
        guard version < StoreSchema.version else { return }
        for step in StoreSchema.steps[version...] {
            for text in step { try connection.execute(text) }
        }
        try connection.execute("PRAGMA user_version = \(StoreSchema.version)")
    }

    // MARK: Making

    /// Makes the main file under another name first: it is there as a whole or not at all.
    private static func make(
        _ path: String, in directory: borrowing Directory
    ) throws(StoreError) {
        for suffix in ["", "-journal", "-wal", "-shm"] {
            try remove(newName + suffix, in: directory)
        }
        // SQLite would make it for everybody to read; its log gets the permissions of the file.
        try storeCall { () throws(SystemCallError) in try directory.make(newName) }
        try write(path + "/" + newName, in: directory)
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
        try migrate(connection)
        let settings = try SettingRows(connection)
        try settings.set(.inode, to: file.inode)
        try connection.execute("COMMIT")
        // The last step, and with a rollback journal: the log itself stays empty.
        guard try connection.bytes("PRAGMA journal_mode = WAL") == Array("wal".utf8) else {
            throw .damaged(.otherForm)
        }
    }

    // MARK: Files

    private static func status(
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

    private static func remove(
        _ name: String, in directory: borrowing Directory
    ) throws(StoreError) {
        try storeCall { () throws(SystemCallError) in
            try directory.remove(name)
        }
    }
}
