internal import CSQLite

/// One connection of SQLite, used by one thread at a time.
@safe struct Connection: ~Copyable {
    fileprivate let pointer: OpaquePointer
    /// How many pages the log has, as the last commit told.
    private let logPageCountCell: UnsafeMutablePointer<Int32>
    /// Reports the pages that were read.
    let watch: PageWatch

    /// Opens a file; nothing is moved from the log to the main file unless it is asked for.
    init(path: String, creates: Bool) throws(StoreError) {
        let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | (creates ? SQLITE_OPEN_CREATE : 0)
        var opened: OpaquePointer?
        // SAFETY: the path lives until the call returns, and the pointer is ours from then on.
        let code = unsafe sqlite3_open_v2(path, &opened, flags, nil)
        guard let opened = unsafe opened, code == SQLITE_OK else {
            // SAFETY: a connection that could not be opened is closed all the same; nil is allowed.
            let errno = unsafe opened.map { unsafe sqlite3_system_errno($0) } ?? 0
            unsafe sqlite3_close_v2(opened)
            throw StoreError(code: code, errno: errno)
        }
        // SAFETY: the cell is freed after the connection is closed; the hook writes one number.
        unsafe pointer = opened
        unsafe watch = PageWatch(opened)
        unsafe logPageCountCell = .allocate(capacity: 1)
        unsafe logPageCountCell.initialize(to: 0)
        unsafe sqlite3_extended_result_codes(opened, 1)
        // A connection has one hook: with this one SQLite moves nothing by itself after commits.
        // SAFETY: the context is the cell above.
        unsafe _ = sqlite3_wal_hook(
            opened,
            { cell, _, _, pageCount in
                // SAFETY: the context is always the cell of this connection.
                unsafe cell?.assumingMemoryBound(to: Int32.self).pointee = pageCount
                return SQLITE_OK
            }, logPageCountCell)
        setCheckpointOnClose(false)
    }

    deinit {
        watch.end()
        // SAFETY: statements that still live keep the connection until they are gone.
        unsafe sqlite3_close_v2(pointer)
        unsafe logPageCountCell.deallocate()
    }

    /// Makes `belfry_checksum(value, ...)`, for what is computed from rows that are there.
    func makeChecksumFunction() throws(StoreError) {
        // SAFETY: the function keeps nothing; SQLite says how many values there are.
        let code = unsafe sqlite3_create_function_v2(
            pointer, RowSum.functionName, -1, SQLITE_UTF8 | SQLITE_DETERMINISTIC, nil,
            { context, count, values in
                var sum = RowSum()
                for index in 0..<Int(count) {
                    // SAFETY: as above.
                    unsafe sum.add(values?[index])
                }
                // SAFETY: as above.
                unsafe sqlite3_result_int64(context, sum.value)
            }, nil, nil, nil)
        if code != SQLITE_OK { throw error(code) }
    }

    /// How many rows the last statement changed or removed.
    var changedRowCount: Int {
        // SAFETY: the connection is open.
        unsafe Int(sqlite3_changes64(pointer))
    }

    /// How many pages the log had after the last commit.
    var logPageCount: Int {
        // SAFETY: the cell lives as long as this value.
        unsafe Int(logPageCountCell.pointee)
    }

    /// The bytes of the pages that SQLite keeps in memory.
    var cacheByteCount: Int {
        var now: Int32 = 0
        var most: Int32 = 0
        // SAFETY: the connection is open, and both numbers live until the call returns.
        unsafe sqlite3_db_status(pointer, SQLITE_DBSTATUS_CACHE_USED, &now, &most, 0)
        return Int(now)
    }

    /// Lets SQLite forget the pages that nothing needs at the moment.
    func forgetCache() {
        // SAFETY: the connection is open.
        unsafe sqlite3_db_release_memory(pointer)
    }

    /// Ends the transaction, if SQLite has not ended it itself, without its changes.
    ///
    /// It is over whatever this returns: an error only says that SQLite was first.
    func rollBack() {
        // SAFETY: the text is static; neither callback nor error text is wanted.
        unsafe sqlite3_exec(pointer, "ROLLBACK", nil, nil, nil)
    }

    /// Says whether closing may move the log into the main file.
    func setCheckpointOnClose(_ checkpoints: Bool) {
        // SAFETY: the connection is open.
        _ = unsafe belfry_set_checkpoint_on_close(pointer, checkpoints ? 1 : 0)
    }

    /// Executes the text; rows that it returns are ignored.
    func execute(_ text: String) throws(StoreError) {
        // SAFETY: the text lives until the call returns; neither callback nor error text is wanted.
        let code = unsafe sqlite3_exec(pointer, text, nil, nil, nil)
        if code != SQLITE_OK { throw error(code) }
    }

    /// Prepares a statement that is used again and again.
    func prepare(_ text: String) throws(StoreError) -> Statement {
        var prepared: OpaquePointer?
        // SAFETY: the text lives until the call returns; the statement is finalized by its owner.
        let code = unsafe sqlite3_prepare_v3(
            pointer, text, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &prepared, nil)
        guard let prepared = unsafe prepared, code == SQLITE_OK else { throw error(code) }
        return unsafe Statement(owning: prepared)
    }

    /// The first number of the first row.
    func integer(_ text: String) throws(StoreError) -> Int64 {
        try prepare(text).integer() ?? 0
    }

    /// The first text of the first row.
    func bytes(_ text: String) throws(StoreError) -> [UInt8] {
        let statement = try prepare(text)
        guard try statement.next() else { return [] }
        var row = statement.row
        return row.bytes()
    }

    /// Moves the log into the main file; `truncates` gives the room of the log back to the disk.
    ///
    /// - Returns: whether all of it was moved.
    @discardableResult
    func checkpoint(truncates: Bool) throws(StoreError) -> Bool {
        let mode = truncates ? SQLITE_CHECKPOINT_TRUNCATE : SQLITE_CHECKPOINT_PASSIVE
        var (pageCount, movedCount): (Int32, Int32) = (0, 0)
        // SAFETY: the connection is open; nil is every database of it.
        let code = unsafe sqlite3_wal_checkpoint_v2(pointer, nil, mode, &pageCount, &movedCount)
        if code != SQLITE_OK { throw error(code) }
        return pageCount == movedCount
    }

    private func error(_ code: Int32) -> StoreError {
        // SAFETY: the connection is open.
        StoreError(code: code, errno: unsafe sqlite3_system_errno(pointer))
    }
}

/// All pages of one connection's file on their way into another's, some at a time.
///
/// Commits of the first connection in the meantime go into the pages that are copied already, so in
/// the end the copy has all that was committed until then (sqlite.org/backup.html).
@safe struct PageCopy: ~Copyable {
    private let pointer: OpaquePointer

    /// Begins the copy; both connections must outlive it, and the target has no other use.
    init(
        from source: borrowing Connection, to target: borrowing Connection
    ) throws(StoreError) {
        // SAFETY: both connections are open, and the names are static.
        let begun = unsafe sqlite3_backup_init(target.pointer, "main", source.pointer, "main")
        guard let begun = unsafe begun else {
            // SAFETY: the connection is open.
            throw StoreError(code: unsafe sqlite3_extended_errcode(target.pointer), errno: 0)
        }
        unsafe pointer = begun
    }

    deinit {
        // SAFETY: this is the only reference; a copy that is not whole is given up.
        unsafe sqlite3_backup_finish(pointer)
    }

    /// Copies some pages more, and tells whether those were the last.
    func copy(pageCount: Int) throws(StoreError) -> Bool {
        // SAFETY: the copy was begun and is not finished.
        let code = unsafe sqlite3_backup_step(pointer, Int32(clamping: pageCount))
        if code == SQLITE_DONE { return true }
        guard code == SQLITE_OK else { throw StoreError(code: code, errno: 0) }
        return false
    }
}
