import BelfryCenter
import BelfrySystem
import Synchronization

/// The centers from the store, until the loops take them.
struct RestoredCenters: ~Copyable, Sendable {
    private let centers: Mutex<[NotificationCenter]>
    /// The time of the centers at the start; nil without a store.
    let time: MonotonicTime?

    init(_ centers: [NotificationCenter], at time: MonotonicTime?) {
        self.centers = Mutex(centers)
        self.time = time
    }

    /// Takes the centers for which this is true.
    func take(where isWanted: (NotificationCenter) -> Bool) -> [NotificationCenter] {
        centers.withLock { centers in
            let taken = centers.filter(isWanted)
            centers.removeAll(where: isWanted)
            return taken
        }
    }
}
