internal import CSQLite

/// A prepared statement: values are bound from the left to the right, and read so.
@safe final class Statement {
    private let pointer: OpaquePointer
    /// The parameter that was bound last, or how many columns of the row were read.
    private var column: Int32 = 0
    private var bindingCode = SQLITE_OK
    /// The checksum of what was bound, or of the columns of the row that were read.
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

    /// Runs a statement that gives no rows, with what was bound.
    func run() throws(StoreError) {
        while try next() {}
    }

    /// Goes to the next row; after the last one the statement can be used again.
    func next() throws(StoreError) -> Bool {
        column = 0
        sum = RowSum()
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

    // MARK: Reading

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

    /// Whether the column behind all that were read has their checksum.
    ///
    /// What was not read of the row is read for that, but for the checksum and some extra columns at its end.
    func isSound(extraCount: Int32 = 0) -> Bool {
        // SAFETY: there is a row.
        let last = unsafe sqlite3_column_count(pointer) - 1 - extraCount
        while column < last { _ = unsafe take() }
        // SAFETY: as above.
        return unsafe sqlite3_column_int64(pointer, last) == sum.value
    }

    func integer() -> Int64 {
        // SAFETY: the value lives until the next call for this statement.
        unsafe sqlite3_value_int64(take())
    }

    func unsigned() -> UInt64 {
        UInt64(bitPattern: integer())
    }

    func bool() -> Bool {
        integer() != 0
    }

    /// The next column, unless it is NULL.
    func optionalInteger() -> Int64? {
        // SAFETY: the value lives until the next call for this statement.
        let value = unsafe take()
        // SAFETY: as above.
        guard unsafe sqlite3_value_type(value) != SQLITE_NULL else { return nil }
        // SAFETY: as above.
        return unsafe sqlite3_value_int64(value)
    }

    func bytes() -> [UInt8] {
        optionalBytes() ?? []
    }

    /// The next column, unless it is NULL.
    func optionalBytes() -> [UInt8]? {
        var bytes: [UInt8] = []
        return append(to: &bytes) == nil ? nil : bytes
    }

    /// Appends the bytes of the next column, and tells how many they are; nil when it is NULL.
    @discardableResult
    func append(to bytes: inout [UInt8]) -> Int? {
        // SAFETY: the value lives until the next call for this statement.
        let value = unsafe take()
        // SAFETY: as above.
        guard unsafe sqlite3_value_type(value) != SQLITE_NULL else { return nil }
        // SAFETY: as above; the bytes are copied before the next call.
        let start = unsafe sqlite3_value_blob(value)
        let count = unsafe Int(sqlite3_value_bytes(value))
        if count > 0 {
            // SAFETY: as above; SQLite says that there are `count` bytes.
            unsafe bytes.append(contentsOf: UnsafeRawBufferPointer(start: start, count: count))
        }
        return count
    }

    /// How many bytes the next columns have together.
    func byteCount(ofNext count: Int32) -> Int {
        // SAFETY: there is a row, and SQLite answers a column that is not there with 0.
        (column..<column + count).reduce(0) { unsafe $0 + Int(sqlite3_column_bytes(pointer, $1)) }
    }

    /// The next column as two words; nil when it is not 16 bytes.
    func words() -> (high: UInt64, low: UInt64)? {
        // SAFETY: the bytes are there until the next call for this statement; 16 of them are read.
        let value = unsafe take()
        guard unsafe sqlite3_value_bytes(value) == 16, let start = unsafe sqlite3_value_blob(value)
        else { return nil }
        // SAFETY: as above.
        let high = unsafe UInt64(bigEndian: start.loadUnaligned(as: UInt64.self))
        let low = unsafe UInt64(
            bigEndian: start.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
        return (high, low)
    }

    /// The next column, which the checksum of the row counts from now on.
    @unsafe private func take() -> OpaquePointer? {
        // SAFETY: there is a row, and SQLite answers a column that is not there with NULL.
        let value = unsafe sqlite3_column_value(pointer, column)
        column += 1
        // SAFETY: as above.
        unsafe sum.add(value)
        return unsafe value
    }
}
