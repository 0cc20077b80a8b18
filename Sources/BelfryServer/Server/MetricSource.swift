import BelfryCenter
import BelfryStore
import BelfryWire
import Synchronization

/// The source of the samples of all metrics, as of one moment.
struct MetricSource: Sendable {
    let counters: LoopSum<Counters>
    let shared: SharedState
    let configuration: ServerConfiguration
    /// Lines of the log that were lost.
    let lostLineCount: UInt64
    /// The sample of the process, empty when it was not requested; a reading starts another one.
    let process: ProcessSampler.Sample
    let losses: Losses
    let refusals: [Problem.Kind: UInt64]
    let askEnds: AskEnds
    /// The figures of the store; empty without one.
    let store: StoreFigures
    /// The figures of the cluster; all are 0 without one.
    let cluster: ClusterFigures

    init(
        _ counters: LoopSum<Counters>, _ shared: SharedState, _ configuration: ServerConfiguration,
        _ log: ServerLog, looksAtProcess: Bool = true
    ) {
        self.counters = counters
        self.shared = shared
        self.configuration = configuration
        lostLineCount = log.lostLineCount()
        process =
            looksAtProcess ? shared.figures.process.figures() : ProcessSampler.Sample()
        losses = shared.figures.losses.withLock { $0 }
        refusals = shared.figures.refusals.withLock { $0 }
        askEnds = shared.figures.askEnds.withLock { $0 }
        store = shared.store?.figures ?? StoreFigures()
        cluster = shared.cluster.withLock { $0 }
    }
}
