import BelfryCenter
import BelfryStore

/// The store, as the loops see it: they hand it what must last, and its commits come back as mail.
protocol StoreDoor: Sendable {
    /// Takes what a turn of a loop has changed.
    ///
    /// The loop gets ``LoopMessage/committed(_:)`` with the ticket of the batch once it is stored, and
    /// so is everything that the loop handed over before.
    func hand(_ batch: StoreBatch)
    /// Whether what is promised from now on can be kept; what was handed over is kept in any case.
    var takesPromises: Bool { get }
    /// What it has done so far.
    var figures: StoreFigures { get }
}

/// What a store tells of itself in the metrics.
struct StoreFigures: Equatable {
    var commits: UInt64 = 0
    var changes: UInt64 = 0
    var failures: UInt64 = 0
    var byteCount: UInt64 = 0
    var takesPromises = true
}

/// What the loops begin with: a store and what it has, or nothing of both.
struct Beginning {
    /// The store; nil when everything is in memory.
    var store: (any StoreDoor)?
    /// What the store has of the centers.
    var centers: [CenterImage] = []
    /// Which life of the store's broker this is; nil when nobody counts.
    var incarnation: UInt64?
    var observerSerials = NumberBlock(.observers)
    var clientNumbers = NumberBlock(.clients)
    var modeSerials = NumberBlock(.modes)
}
