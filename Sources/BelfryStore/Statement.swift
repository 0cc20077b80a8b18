internal import CSQLite

/// A prepared statement: values are bound from the left to the right.
@safe final class Statement {
    private let pointer: OpaquePointer
    /// The parameter that was bound last.
    private var column: Int32 = 0
    private var bindingCode = SQLITE_OK
    /// The checksum of the bound values.
    private var sum = RowSum()

    /// Takes over a prepared statement.
    @unsafe init(owning pointer: OpaquePointer) {
        // SAFETY: the caller hands over the only reference.
        unsafe self.pointer = pointer
    }

    deinit {
        // SAFETY: nobody else has the pointer.
        unsafe sqlite3_finalize(pointer)
    }

    // MARK: Running

    /// Runs a statement without result rows, with the bound values.
    func run() throws(StoreError) {
        while try next() {}
    }

    /// Steps to the next row; after the last one the statement can be used again.
    func next() throws(StoreError) -> Bool {
        // SAFETY: the statement is not finalized before `deinit`.
        let code = bindingCode == SQLITE_OK ? unsafe sqlite3_step(pointer) : bindingCode
        if code == SQLITE_ROW { return true }
        if code == SQLITE_DONE {
            reset()
            return false
        }
        // SAFETY: as above; the connection outlives its statements.
        let errno = unsafe sqlite3_system_errno(sqlite3_db_handle(pointer))
        reset()
        throw StoreError(code: code, errno: errno)
    }

    /// The current row of the statement, read from its first column on until the next call.
    var row: StatementRow {
        // SAFETY: the statement is not finalized before `deinit`; where it has no row, SQLite gives
        // NULL.
        unsafe StatementRow(of: pointer)
    }

    /// The first number of the first row, if there is one; then the statement can be used again.
    func integer() throws(StoreError) -> Int64? {
        defer { reset() }
        guard try next() else { return nil }
        var row = row
        return row.integer()
    }

    /// Forgets the rows that were not looked at.
    func reset() {
        // SAFETY: the statement is not finalized before `deinit`.
        unsafe sqlite3_reset(pointer)
        column = 0
        bindingCode = SQLITE_OK
        sum = RowSum()
    }

    // MARK: Binding

    /// Binds the checksum of all that was bound before.
    func bindChecksum() {
        bind(sum.value)
    }

    func bind(_ value: Int64?) {
        guard let value else { return bindNull() }
        sum.add(value)
        column += 1
        // SAFETY: the statement is not finalized before `deinit`; SQLite checks the column.
        note(unsafe sqlite3_bind_int64(pointer, column, value))
    }

    func bind(_ value: UInt64) {
        bind(Int64(bitPattern: value))
    }

    func bind(_ value: Bool) {
        bind(Int64(value ? 1 : 0))
    }

    func bind(_ value: Int) {
        bind(Int64(value))
    }

    func bind(_ bytes: [UInt8]) {
        bind(bytes.span)
    }

    func bind(_ bytes: [UInt8]?) {
        guard let bytes else { return bindNull() }
        bind(bytes.span)
    }

    func bind(_ bytes: Span<UInt8>) {
        column += 1
        // SAFETY: the statement is not finalized before `deinit`.
        let (statement, column) = unsafe (pointer, column)
        // SAFETY: SQLite copies as many bytes as the span has before the call returns.
        let code = unsafe bytes.withUnsafeBufferPointer { buffer in
            unsafe sum.add(UnsafeRawBufferPointer(buffer))
            return unsafe belfry_bind_bytes(
                statement, column, buffer.baseAddress, Int32(clamping: buffer.count))
        }
        note(code)
    }

    func bind(text: String) {
        column += 1
        // SAFETY: SQLite copies the text, which ends in a zero byte, before the call returns.
        note(unsafe belfry_bind_text(pointer, column, text))
    }

    func bindNull() {
        sum.addNull()
        column += 1
        // SAFETY: the statement is not finalized before `deinit`; SQLite checks the column.
        note(unsafe sqlite3_bind_null(pointer, column))
    }

    /// Binds two words as 16 bytes.
    func bind(high: UInt64, low: UInt64) {
        column += 1
        // SAFETY: the statement is not finalized before `deinit`.
        let (statement, column) = unsafe (pointer, column)
        // SAFETY: SQLite copies the 16 bytes of the two words before the call returns.
        let code = unsafe withUnsafeBytes(of: (high.bigEndian, low.bigEndian)) { buffer in
            unsafe sum.add(buffer)
            return unsafe belfry_bind_bytes(statement, column, buffer.baseAddress, 16)
        }
        note(code)
    }

    private func note(_ code: Int32) {
        if bindingCode == SQLITE_OK { bindingCode = code }
    }

    /// Copies all columns of the row into the parameters of another statement, and runs it.
    func copyRow(to other: Statement) throws(StoreError) {
        // SAFETY: there is a row; SQLite copies the values before the calls return.
        let count = unsafe sqlite3_column_count(pointer)
        for column in 0..<count {
            // SAFETY: as above.
            other.note(
                unsafe sqlite3_bind_value(
                    other.pointer, column + 1, sqlite3_column_value(pointer, column)))
        }
        try other.run()
    }
}
