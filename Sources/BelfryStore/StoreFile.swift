public import BelfryCenter
internal import BelfrySystem

/// The store on the disk: one connection of SQLite, synchronous, without a thread of its own.
///
/// Dropping the value is like kill -9: committed data is there the next time, and the image then
/// shows that the last life did not end in order. ``close()`` ends it in order.
public struct StoreFile: ~Copyable, DurableStore {
    /// How many pages the log may have at least before they are moved into the main file.
    static let logPageMinimum = 40

    private var rows: StoreRows
    let connection: Connection
    private let isComplete: Bool
    let limits: StoreLimits
    private var ballast: Ballast
    /// How many pages more than usual the log may have, since moving them failed.
    private var delayPageCount = 0
    /// Bytes of the main file that are in use, free pages not counted.
    private(set) var usedByteCount: Int
    let data: DataLock
    /// The copy that is being made.
    var backup: StoreBackup?
    private let place: StorePlace
    /// The log, to read its salts; SQLite has locks on the main file alone.
    private let log: OpenFile
    private var witness: LogWitness
    /// The changes with which a life begins that found no room: they are written before others.
    private var beginning: [StoreChange]
    /// Whether the store knows nothing of the life before the first commit that finds room.
    public var isUnwritten: Bool { !beginning.isEmpty }
    /// The losses that the start accepted.
    public let losses: StoreLosses
    /// The key of the tags of values, which belongs to the file.
    public let tagKey: TagKey

    /// Opens the store of a directory, which is made if it is not there, and begins a life of it.
    ///
    /// A main file or log that no store left so is refused before a byte of it is written, unless
    /// damage is accepted: then the readable part is kept, and ``losses`` has the rest.
    ///
    /// - Parameters:
    ///   - progress: gets the progress, in hundredths.
    ///   - tell: takes all stored state, as in ``DurableStore/load(_:)``; it is worth nothing when
    ///     this throws.
    ///   - changes: returns the changes of the start, once all state has been told. They are
    ///     committed together with the beginning of the life; on a full disk, where all state is
    ///     told again, it is called again.
    /// - Throws: `StoreError.locked`, `.newerSchema`, `.olderSchema`, `.damaged`, and errors of the
    ///   disk.
    public init(
        directory path: String, durability: Durability = .power,
        limits: StoreLimits = StoreLimits(), acceptsDamage: Bool = false,
        progress: @escaping (_ percent: Int) -> Void = { _ in },
        telling tell: (consuming StoredPiece) -> Void = { _ in },
        starting changes: () -> [StoreChange] = { [] }
    ) throws(StoreError) {
        try self.init(
            DataLock(directory: path), durability: durability, limits: limits,
            acceptsDamage: acceptsDamage, progress: progress, telling: tell, starting: changes)
    }

    /// Opens the store of a directory that this process has already.
    public init(
        _ data: consuming DataLock, durability: Durability = .power,
        limits: StoreLimits = StoreLimits(), acceptsDamage: Bool = false,
        progress: @escaping (_ percent: Int) -> Void = { _ in },
        telling tell: (consuming StoredPiece) -> Void = { _ in },
        starting changes: () -> [StoreChange] = { [] }
    ) throws(StoreError) {
        let text = try storeCall { () throws(SystemCallError) in
            try data.file.start(byteCount: LogWitness.byteCount)
        }
        var witness = LogWitness(text: text)
        let opened = try Self.open(
            data.path, in: data.directory, durability: durability, limits: limits, witness: witness,
            acceptsDamage: acceptsDamage, progress: progress, telling: tell, starting: changes)
        let log = try storeCall { () throws(SystemCallError) in
            let log = try data.directory.open(StoreOpening.logName)
            let header = try log.bytes(LogReport.headerByteCount)
            witness.begin(opened, durability: durability, header: header)
            if opened.unwritten.isEmpty { try data.file.rewrite(witness.text) }
            return log
        }
        try BackupFile.removeNames(in: data.directory)
        let place = try StorePlace(in: data.directory)
        usedByteCount = try opened.rows.usedPageCount() * StoreSchema.pageByteCount
        isComplete = opened.isComplete
        losses = opened.losses
        tagKey = opened.tagKey
        beginning = opened.unwritten
        self.log = log
        self.witness = witness
        rows = opened.rows
        connection = opened.connection
        self.limits = limits
        ballast = Ballast(byteCountLimit: limits.ballastByteCount)
        self.place = place
        self.data = data
    }

    /// Keeps all changes or none of them, in their order, in one transaction.
    public mutating func commit(_ changes: [StoreChange]) throws(StoreError) {
        try write(changes)
        // That this fails is no failure of the commit before it: the log has everything.
        _ = moveLog()
    }

    /// Commits, and leaves the log as long as it is.
    mutating func write(_ added: [StoreChange]) throws(StoreError) {
        let changes = beginning + added
        if changes.isEmpty { return }
        let pageCount: Int
        do throws(StoreError) {
            try connection.execute("BEGIN IMMEDIATE")
            for change in changes { try rows.apply(change) }
            try rows.trimTombstones(to: limits.tombstoneLimit)
            pageCount = try rows.usedPageCount()
            try connection.execute("COMMIT")
        } catch {
            connection.rollBack()
            rows.forgetTransaction()
            throw error
        }
        beginning = []
        usedByteCount = pageCount * StoreSchema.pageByteCount
        noteCommit()
    }

    /// Loads all stored state, piece by piece.
    public mutating func load(_ tell: (consuming StoredPiece) -> Void) throws(StoreError) {
        try rows.load(from: connection, isComplete: isComplete, limits, tell)
    }

    /// Ends the life in order: notes it, and moves the log into the main file as far as that goes.
    public consuming func close() throws(StoreError) {
        try noteEnd()
    }

    /// How many pages the log may have before they are moved into the main file: a third of the
    /// ballast, which must have room for them there.
    var logPageLimit: Int {
        max(ballast.byteCount / 3 / StoreChange.frameByteCount, Self.logPageMinimum)
    }

    /// Moves a log that has become long into the main file, and tells why it could not.
    mutating func moveLog() -> StoreError? {
        guard connection.logPageCount >= logPageLimit + delayPageCount else { return nil }
        do throws(StoreError) {
            if try connection.checkpoint(truncates: false) { noteMovedLog() }
            delayPageCount = 0
            return nil
        } catch {
            delayPageCount = connection.logPageCount
            return error
        }
    }

    /// Records the length of the log in the lock file, before a commit is reported.
    private mutating func noteCommit() {
        do throws(SystemCallError) {
            let header = try log.bytes(LogReport.headerByteCount)
            witness.note(header: header, frameCount: connection.logPageCount)
            try data.file.overwrite(witness.text)
        } catch {
            // The commit is valid; a lock file that states less lets the next start demand less.
        }
    }

    /// Records in the lock file that nothing of the log is needed: all of it is in the main file.
    private mutating func noteMovedLog() {
        witness.isMoved = true
        do throws(SystemCallError) {
            try data.file.overwrite(witness.text)
        } catch {
            // A log that begins anew is known by its salts, too.
        }
    }

    /// Opens the main file; on a full disk the last life's ballast is the room for that, and where
    /// that is not enough the life begins without being written.
    private static func open(
        _ path: String, in directory: borrowing Directory, durability: Durability,
        limits: StoreLimits, witness: LogWitness, acceptsDamage: Bool,
        progress: @escaping (_ percent: Int) -> Void,
        telling tell: (consuming StoredPiece) -> Void, starting changes: () -> [StoreChange]
    ) throws(StoreError) -> StoreOpening.Opened {
        var (hasBallast, begins) = (true, true)
        while true {
            do throws(StoreError) {
                return try StoreOpening.open(
                    path, in: directory, durability: durability, limits: limits, witness: witness,
                    acceptsDamage: acceptsDamage, begins: begins, progress: progress, telling: tell,
                    starting: changes)
            } catch {
                guard error == .full, begins else { throw error }
                begins = hasBallast
                if hasBallast {
                    var ballast = Ballast(byteCountLimit: 0)
                    try ballast.giveUp(in: directory)
                }
                hasBallast = false
            }
        }
    }
}

extension StoreFile: CommitTarget {
    /// Bytes that the ballast takes now.
    var ballastByteCount: Int { ballast.byteCount }

    /// The memory that SQLite may use for pages while nothing is committed.
    static let restingCacheByteCount = 2 << 20

    func giveMemoryBack() {
        guard connection.cacheByteCount > Self.restingCacheByteCount else { return }
        connection.forgetCache()
        AllocatedMemory.trim()
    }

    func checkPlace() throws(StoreError) {
        try place.check(in: data.directory)
    }

    var logByteCount: Int { connection.logPageCount * StoreChange.frameByteCount }

    mutating func noteEnd() throws(StoreError) {
        try commit([.cleanEnd])
        do throws(StoreError) {
            try shortenLog()
            // An empty log goes with the connection.
            connection.setCheckpointOnClose(true)
        } catch {
            // Pages that cannot be moved stay in the log, where the next life finds them.
        }
    }

    mutating func layBallast() throws(StoreError) {
        do throws(StoreError) {
            try ballast.lay(in: data.directory)
        } catch {
            guard error == .full else { throw error }
            try shrink()
            try ballast.lay(in: data.directory)
        }
    }

    mutating func shortenLog() throws(StoreError) {
        // The lock file must not ask for a log that is gone.
        if try connection.checkpoint(truncates: false) { noteMovedLog() }
        try connection.checkpoint(truncates: true)
        delayPageCount = 0
    }

    mutating func giveUpBallast() throws(StoreError) {
        try ballast.giveUp(in: data.directory)
    }

    /// Gives free pages of the main file back to the disk, at most 2 MiB of them.
    ///
    /// Each step needs little room in the log, and gives that back before the next one.
    mutating func shrink() throws(StoreError) {
        for _ in 0..<32 {
            guard try rows.freePageCount() > 0 else { return }
            try connection.execute("PRAGMA incremental_vacuum(16)")
            try shortenLog()
        }
    }
}
