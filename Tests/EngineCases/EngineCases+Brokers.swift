import BelfryCenter
import BelfryCluster
import BelfrySystem

// Brokers that share a log of this engine, whatever happens to their connections.

extension EngineCases {
    private func brokers(_ count: Int) -> [EngineBroker] {
        engine.begin()
        return (0..<count).map { _ in EngineBroker(engine.connect()) }
    }

    /// The difference between the brokers once each is up, all is written, and all of it applied.
    private func difference(_ brokers: [EngineBroker], centers: Int, seconds: Int64) -> [String] {
        let isSame = engine.wait(seconds: seconds) {
            for broker in brokers { broker.turn() }
            return brokers.allSatisfy {
                $0.isUp && $0.isDone && $0.shard.count == centers
                    && $0.shard.logIndex == brokers[0].shard.logIndex
            }
        }
        guard isSame else {
            return brokers.map {
                "\($0.sequencer.stage), \($0.shard.count) centers at \($0.shard.logIndex), "
                    + "\($0.link.journal.progress)"
            }
        }
        return brokers.allSatisfy { $0.shard.chain == brokers[0].shard.chain }
            ? [] : ["brokers know different pasts"]
    }

    func sharedLog() -> [String] {
        let brokers = brokers(3)
        for broker in brokers { broker.makeCenters(0..<100) }
        return difference(brokers, centers: 300, seconds: 20)
            + (brokers.contains { $0.fenceCount > 0 } ? ["a life has ended"] : [])
    }

    func lostConnections() -> [String] {
        let brokers = brokers(3)
        for broker in brokers { broker.makeCenters(0..<300) }
        for round in 0..<9 {
            let end = MonotonicTime.now() + .milliseconds(100)
            _ = engine.wait(seconds: 1) {
                for broker in brokers { broker.turn() }
                return MonotonicTime.now() >= end
            }
            engine.reconnect(brokers[round % 3].link)
        }
        return difference(brokers, centers: 900, seconds: 20)
    }

    func lateBroker() -> [String] {
        engine.begin()
        let writer = EngineBroker(engine.connect()) { $0.snapshotByteCount = 2_000 }
        writer.makeCenters(0..<200)
        var problems = difference([writer], centers: 200, seconds: 20)
        let late = EngineBroker(engine.connect())
        problems += difference([writer, late], centers: 200, seconds: 20)
        return problems + (late.hasLoaded ? [] : ["the late one began without a snapshot"])
    }

    /// The server that leads the log is killed, for good.
    func lostServer() -> [String] {
        let brokers = brokers(3)
        for broker in brokers { broker.makeCenters(0..<50) }
        var problems = difference(brokers, centers: 150, seconds: 20)
        guard engine.killServer(brokers[0].link.journal.leader) else { return problems }
        let start = MonotonicTime.now()
        for broker in brokers { broker.makeCenters(50..<100) }
        problems += difference(brokers, centers: 300, seconds: 40)
        let count = brokers.reduce(0) { $0 + $1.fenceCount }
        let tenths = Int((MonotonicTime.now() - start) / .milliseconds(100))
        print(
            "       the leader died: \(count) lives ended, "
                + "all written after \(tenths / 10).\(tenths % 10) s"
        )
        return problems
    }
}
