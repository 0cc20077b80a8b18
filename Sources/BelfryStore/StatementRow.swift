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

    /// The bytes of the next column; none when it is NULL.
    mutating func bytes() -> [UInt8] {
        var bytes: [UInt8] = []
        read(column: Int(column), into: &bytes)
        return bytes
    }

    /// Reads on up to the bytes of some column, which replace those that were read before.
    mutating func read(column: Int, into bytes: inout [UInt8]) {
        // SAFETY: the bytes of columns that are passed over are not looked at.
        while self.column < column { _ = unsafe take() }
        bytes.removeAll(keepingCapacity: true)
        // SAFETY: the value lives until the next call for this statement.
        let value = unsafe take()
        // SAFETY: as above; the bytes are copied before the next call.
        let start = unsafe sqlite3_value_blob(value)
        let count = unsafe Int(sqlite3_value_bytes(value))
        guard count > 0 else { return }
        // SAFETY: as above; SQLite says that there are `count` bytes.
        unsafe bytes.append(contentsOf: UnsafeRawBufferPointer(start: start, count: count))
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
