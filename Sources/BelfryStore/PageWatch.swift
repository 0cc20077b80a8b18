internal import CSQLite

/// Reports how many of a connection's expected pages were read.
///
/// A page counts each time that it is read. SQLite does not report while it checks the links
/// between pages.
@safe final class PageWatch {
    /// How many instructions of SQLite lie between two looks.
    private static let interval: Int32 = 2_000

    private let connection: OpaquePointer
    private var tell: (_ percent: Int) -> Void = { _ in }
    private var countBefore = 0
    private var expectedCount = 1

    /// Watches nothing yet; the connection must be open until ``end()``.
    @unsafe init(_ connection: OpaquePointer) {
        // SAFETY: the caller sees to it.
        unsafe self.connection = connection
    }

    /// Begins to count anew, and reports the percentage of the expected pages from time to time.
    func begin(expecting pageCount: Int, _ tell: @escaping (_ percent: Int) -> Void) {
        countBefore = lookCount
        expectedCount = max(1, pageCount)
        self.tell = tell
        // SAFETY: the connection is open, and this lives until the handler is taken away.
        unsafe sqlite3_progress_handler(
            connection, Self.interval,
            { context in
                // SAFETY: the context is always the watch of the connection.
                if let context = unsafe context {
                    unsafe Unmanaged<PageWatch>.fromOpaque(context).takeUnretainedValue().look()
                }
                return 0
            }, Unmanaged.passUnretained(self).toOpaque())
    }

    /// Ends the reports.
    func end() {
        // SAFETY: the connection is open.
        unsafe sqlite3_progress_handler(connection, 0, nil, nil)
        tell = { _ in }
    }

    private func look() {
        tell(min(100, max(0, lookCount - countBefore) * 100 / expectedCount))
    }

    /// How often pages were looked at since the connection was opened.
    private var lookCount: Int {
        [SQLITE_DBSTATUS_CACHE_HIT, SQLITE_DBSTATUS_CACHE_MISS].reduce(0) { sum, figure in
            var (count, highest): (Int32, Int32) = (0, 0)
            // SAFETY: the connection is open, and both numbers are written before the call returns.
            unsafe sqlite3_db_status(connection, figure, &count, &highest, 0)
            return sum + Int(count)
        }
    }
}
