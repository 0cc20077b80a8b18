import BelfryCenter
import Synchronization

extension SharedState {
    /// The bytes of a kind of memory over the whole broker.
    func memory(of kind: MemoryKind, _ counters: LoopSum<Counters>) -> Int {
        switch kind {
        case .connections:
            Int(counters.connectionsOpen) * ServerConfiguration.ownConnectionByteCount
                + Int(counters.sessionBytes)
        case .unfinished: Int(counters.unfinishedBytes)
        case .unsent: Int(counters.unsentBytes)
        case .centers: totals.centerCount.load(ordering: .relaxed) * MemoryKind.centerByteCount
        case .observers: totals[.observers]
        case .channels: totals[.channels]
        case .replay: totals[.replay]
        case .keys: totals[.keys]
        case .fates: totals[.fates]
        case .tombstones: totals[.tombstones]
        case .held: totals[.held]
        case .queue: totals[.queue]
        case .archives: totals[.archives]
        }
    }
}
