internal import BelfrySystem

/// The copy of a store as a file beside it, which has a name for as long as it is made.
///
/// Its room is taken at once, so a disk that is too small says so before anything is copied.
final class BackupFile: Sendable {
    static let name = "belfry.db.backup"

    private let path: String
    private let directory: Directory
    private let file: OpenFile
    private let isGivenUp = SharedFlag(false)

    /// Makes an empty file with room for so many bytes, after the removal of an earlier copy.
    init(in directory: borrowing Directory, path: String, byteCount: Int) throws(StoreError) {
        try Self.removeNames(in: directory)
        self.path = path + "/" + Self.name
        do throws(SystemCallError) {
            self.directory = try directory.duplicate()
            file = try directory.create(Self.name, reserving: byteCount)
        } catch {
            try Self.removeNames(in: directory)
            throw StoreError(error)
        }
    }

    /// Removes what a copy has left in a directory, if there is anything.
    static func removeNames(in directory: borrowing Directory) throws(StoreError) {
        for suffix in ["", "-journal", "-wal", "-shm"] {
            try StoreOpening.remove(name + suffix, in: directory)
        }
    }

    /// Opens the file as the target of pages; a loss of power may cost it, so it has no journal.
    func target() throws(StoreError) -> Connection {
        let target = try Connection(path: path, creates: false)
        for pragma in ["locking_mode = EXCLUSIVE", "journal_mode = OFF", "synchronous = OFF"] {
            try target.execute("PRAGMA " + pragma)
        }
        return target
    }

    /// Reads all of it as a start does, and marks it as a backup.
    ///
    /// - Returns: how many bytes it has.
    /// - Throws: `.damaged` when the store is, `.full` when its room was given up meanwhile.
    func finish() throws(StoreError) -> Int {
        do throws(StoreError) {
            return try checkAndMark()
        } catch {
            throw isGivenUp.value ? .full : error
        }
    }

    private func checkAndMark() throws(StoreError) -> Int {
        do {
            let connection = try StoreOpening.connect(path)
            try connection.execute("PRAGMA synchronous = OFF")
            try StoreOpening.check(connection)
            try RowCheck.check(connection)
            try connection.execute("PRAGMA application_id = \(StoreSchema.backupID)")
            try connection.checkpoint(truncates: true)
        }
        return try StoreOpening.status(of: Self.name, in: directory)?.byteCount ?? 0
    }

    /// Removes the file's name; a reader still has the file.
    func removeNames() throws(StoreError) {
        try Self.removeNames(in: directory)
    }

    /// Gives the room back to the disk, even under a reader: the store needs it more.
    func giveUp() throws(StoreError) {
        isGivenUp.value = true
        try storeCall { () throws(SystemCallError) in try file.empty() }
        try removeNames()
    }

    func bytes(_ byteCount: Int, at offset: Int) throws(StoreError) -> [UInt8] {
        try storeCall { () throws(SystemCallError) in try file.bytes(byteCount, at: offset) }
    }
}
