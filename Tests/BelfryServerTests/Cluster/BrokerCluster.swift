import BelfryCluster
import BelfryLoop
import BelfrySystem
import SimulatedLog
import Testing

@testable import BelfryServer

/// Makes the sequencer of a broker, which begins at a time of its kernel.
struct SequencerMaker {
    let make: (MonotonicTime) -> LogSequencer
}

/// Brokers on embedded kernels that share the log of a simulated engine.
///
/// Nothing happens but by a call, and no time passes but by `advance`.
final class BrokerCluster {
    let engine = SimulatedEngine(seed: 1)
    private(set) var brokers: [Broker] = []
    private(set) var journals: [SimulatedJournal] = []
    private var now: Int64 = 0
    private let adjust: (inout ServerConfiguration) -> Void

    init(
        count: Int, level: UInt64? = nil,
        _ adjust: @escaping (inout ServerConfiguration) -> Void = { _ in }
    ) throws {
        self.adjust = adjust
        for _ in 0..<count { try start(level: level) }
    }

    /// A broker more begins, whose program knows the rules of a level; nil is that of this program.
    func start(isCut: Bool = false, level: UInt64? = nil) throws {
        let number = journals.count
        let journal = engine.connect()
        journal.host = number
        journal.isCut = isCut
        journals.append(journal)
        var part = ClusterConfiguration()
        part.name = "test"
        part.node = "n\(number + 1)"
        var configuration = ServerConfiguration()
        adjust(&configuration)
        var options = part.options(entryByteLimit: configuration.entryByteLimit)
        if let level { options.level = level }
        let broker = try Broker(
            lateSeed: nil,
            sequencer: SequencerMaker { [options] now in
                let replicated = ReplicatedSequencer(
                    options, journal: journal, at: now.nanoseconds,
                    random: { UInt64(number) }, wallMilliseconds: { 1_000 + Int64(number) })
                return LogSequencer(replicated, at: now)
            },
            { [part, adjust] configuration in
                configuration.cluster = part
                adjust(&configuration)
            })
        broker.crankTogether = { [unowned self] in try crank() }
        brokers.append(broker)
        try crank()
    }

    subscript(number: Int) -> Broker { brokers[number] }

    /// Posts at the second broker while the first one hears nothing.
    func postUnheard() throws {
        journals[0].isCut = true
        try brokers[1].post(name: "a")
        journals[0].isCut = false
    }

    /// Runs all brokers and the engine until nothing is left to do.
    func crank() throws {
        var isBusy = true
        while isBusy {
            isBusy = false
            for broker in brokers where try broker.crankAlone() { isBusy = true }
            engine.run(until: now)
            for (broker, journal) in zip(brokers, journals)
            where journal.hasNews && !broker.nodes[0].hasStopped {
                broker.nodes[0].server.hearEngine()
                isBusy = true
            }
        }
    }

    /// Time passes for all, in steps of 50 ms.
    func advance(by milliseconds: Int64) throws {
        let end = now + milliseconds * 1_000_000
        while now < end {
            now += 50_000_000
            for broker in brokers {
                for node in broker.nodes { node.kernel.advance(by: .milliseconds(50)) }
            }
            try crank()
        }
    }
}
