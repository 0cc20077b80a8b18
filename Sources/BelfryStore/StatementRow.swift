internal import CSQLite

/// A row of a statement: its columns are read from the left to the right, and summed up.
@safe struct StatementRow: ~Copyable {
    private let pointer: OpaquePointer
    /// How many columns were read.
    private var column: Int32 = 0
    /// The checksum of the columns that were read.
    private var sum = RowSum()

    /// Begins at the first column; the row is invalid after the statement's next step.
    @unsafe init(of pointer: OpaquePointer) {
        // SAFETY: the caller has the statement as long as this is used.
        unsafe self.pointer = pointer
    }

    /// Whether the column behind all that were read has their checksum.
    ///
    /// Unread columns are read for that, but for the checksum and some extra columns at its end.
    mutating func isSound(extraCount: Int32 = 0) -> Bool {
        // SAFETY: there is a row.
        let last = unsafe sqlite3_column_count(pointer) - 1 - extraCount
        while column < last { _ = unsafe take() }
        // SAFETY: as above.
        return unsafe sqlite3_column_int64(pointer, last) == sum.value
    }

    mutating func integer() -> Int64 {
        // SAFETY: the value lives until the next call for this statement.
        unsafe sqlite3_value_int64(take())
    }

    mutating func unsigned() -> UInt64 {
        UInt64(bitPattern: integer())
    }

    mutating func bool() -> Bool {
        integer() != 0
    }

    /// The next column, unless it is NULL.
    mutating func optionalInteger() -> Int64? {
        // SAFETY: the value lives until the next call for this statement.
        let value = unsafe take()
        // SAFETY: as above.
        guard unsafe sqlite3_value_type(value) != SQLITE_NULL else { return nil }
        // SAFETY: as above.
        return unsafe sqlite3_value_int64(value)
    }

    mutating func bytes() -> [UInt8] {
        optionalBytes() ?? []
    }

    /// The next column, unless it is NULL.
    mutating func optionalBytes() -> [UInt8]? {
        var bytes: [UInt8] = []
        return append(to: &bytes) == nil ? nil : bytes
    }

    /// Appends the bytes of the next column, and tells how many they are; nil when it is NULL.
    @discardableResult
    mutating func append(to bytes: inout [UInt8]) -> Int? {
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
    mutating func words() -> (high: UInt64, low: UInt64)? {
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
    @unsafe private mutating func take() -> OpaquePointer? {
        // SAFETY: there is a row, and SQLite answers a column that is not there with NULL.
        let value = unsafe sqlite3_column_value(pointer, column)
        column += 1
        // SAFETY: as above.
        unsafe sum.add(value)
        return unsafe value
    }
}
