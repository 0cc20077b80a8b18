import BelfryCenter
import BelfryCluster
import BelfrySystem
import Synchronization

/// A snapshot that a thread makes of a copy of the state, while the loop runs.
final class SnapshotThread: SnapshotWork, Sendable {
    private let made = Mutex<JournalSnapshot?>(nil)

    /// Begins; the loop copies a table of the state only when it changes it.
    ///
    /// - Throws: `SystemCallError` when the system has no room for one more thread.
    init(_ shard: Shard) throws(SystemCallError) {
        _ = try SystemThread { [self] in
            let snapshot = JournalSnapshot(shard)
            made.withLock { $0 = snapshot }
        }
    }

    var snapshot: JournalSnapshot? { made.withLock { $0 } }
}
