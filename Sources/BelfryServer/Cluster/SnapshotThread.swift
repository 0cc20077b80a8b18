import BelfryCenter
import BelfryCluster
import BelfrySystem
import Synchronization

/// A snapshot that a thread of its own makes of a copy of the state: the loop goes on meanwhile.
final class SnapshotThread: SnapshotWork, Sendable {
    private let made = Mutex<JournalSnapshot?>(nil)

    /// Begins; the loop copies each table of the state when it changes that next.
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
