internal import BelfrySystem
internal import CSQLite

/// The checksum of the values of a row, from the left to the right, which is its last column.
struct RowSum {
    /// The name of the function that computes it in SQL.
    static let functionName = "belfry_checksum"
    /// The mark that separates a length from an equal number, and the word for NULL.
    private static let lengthMark: UInt64 = 1 << 63
    private static let null: UInt64 = 3 << 62

    private var checksum = Checksum()

    /// The value of the column: four bytes, as SQLite stores numbers.
    var value: Int64 { Int64(Int32(bitPattern: checksum.value)) }

    mutating func add(_ number: Int64) {
        checksum.add(UInt64(bitPattern: number))
    }

    mutating func addNull() {
        checksum.add(Self.null)
    }

    /// Adds bytes, or the bytes of a text.
    @unsafe mutating func add(_ bytes: UnsafeRawBufferPointer) {
        checksum.add(Self.lengthMark | UInt64(bytes.count))
        // SAFETY: the caller says how many bytes there are.
        unsafe checksum.add(bytes)
    }

    /// Adds a value of SQLite; a fraction, which no column has, counts as its text.
    @unsafe mutating func add(_ value: OpaquePointer?) {
        // SAFETY: the caller has the value, which lives until it is done with the row.
        switch unsafe sqlite3_value_type(value) {
        case SQLITE_INTEGER: add(unsafe sqlite3_value_int64(value))
        case SQLITE_NULL: addNull()
        default:
            // SAFETY: as above; SQLite says how many bytes there are.
            let start = unsafe sqlite3_value_blob(value)
            let count = unsafe Int(sqlite3_value_bytes(value))
            unsafe add(UnsafeRawBufferPointer(start: start, count: start == nil ? 0 : count))
        }
    }
}
