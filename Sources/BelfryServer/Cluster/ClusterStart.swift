import BelfryCluster
import BelfryLoop
import BelfrySystem

/// The parts that a loop needs to take part in a cluster.
struct ClusterStart {
    let sequencer: LogSequencer
    let engine: EngineLine
    let monitor: EngineMonitor?

    /// Makes the parts from the configuration.
    ///
    /// - Returns: nil without a cluster.
    /// - Throws: `.configuration` for names that no engine takes.
    static func make(_ configuration: ServerConfiguration) throws(StartError) -> ClusterStart? {
        guard let cluster = configuration.cluster else { return nil }
        let entryByteLimit = configuration.entryByteLimit
        var settings = cluster.settings(entryByteLimit: entryByteLimit)
        settings.credentials = try cluster.credentials()
        let journal: NATSJournal
        do throws(NATSFailure) {
            journal = try NATSJournal(settings)
        } catch {
            throw .configuration("\(error)")
        }
        var random = SystemRandom()
        let now = MonotonicTime.now()
        let replicated = ReplicatedSequencer(
            cluster.options(entryByteLimit: entryByteLimit), journal: journal, at: now.nanoseconds,
            random: { random.next() },
            wallMilliseconds: { WallTime.now().milliseconds },
            beginSnapshot: { try? SnapshotThread($0) })
        return ClusterStart(
            sequencer: LogSequencer(replicated, at: now),
            engine: EngineLine(journal, cluster.servers, try cluster.certificates()),
            monitor: cluster.monitors.isEmpty ? nil : EngineMonitor(cluster.monitors))
    }
}
