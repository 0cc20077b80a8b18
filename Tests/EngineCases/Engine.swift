import BelfryCluster
import BelfrySystem
import SimulatedLog

/// Servers that run, and the journals of a case.
final class Engine {
    private let addresses: [SocketAddress]
    private let replicaCount: Int
    /// How long nothing must move before all has arrived.
    private let quiet: Duration
    private var cluster = ""
    private(set) var links: [EngineLink] = []
    private var clusterCount = 0
    private let run: UInt64
    private let epoll: Epoll

    init(_ addresses: [SocketAddress], replicaCount: Int) throws {
        self.addresses = addresses
        self.replicaCount = replicaCount
        quiet = .milliseconds(replicaCount == 1 ? 80 : 250)
        var random = SystemRandom()
        run = random.next() >> 40
        epoll = try Epoll()
    }

    /// The settings of a broker of the log of this case.
    func settings() -> NATSSettings {
        var settings = NATSSettings(cluster: cluster, node: "n\(links.count + 1)")
        settings.replicaCount = replicaCount
        settings.logByteLimit = 16 << 20
        settings.snapshotByteLimit = 16 << 20
        settings.entryByteLimit = 512 << 10
        return settings
    }

    /// Begins a new log, which has no journals.
    func begin() {
        links = []
        clusterCount += 1
        cluster = "case-\(run)-\(clusterCount)"
    }

    /// A broker more, at the next server, whose journal is ready.
    func connect(_ change: (inout NATSSettings) -> Void = { _ in }) -> EngineLink {
        let link = link(change)
        let isReady = wait { link.journal.progress == .ready }
        if !isReady { fail("a journal is \(link.journal.progress), and not ready") }
        return link
    }

    /// A broker more, which is not waited for.
    func link(_ change: (inout NATSSettings) -> Void = { _ in }) -> EngineLink {
        var settings = settings()
        change(&settings)
        do {
            let link = try EngineLink(settings, to: addresses[links.count % addresses.count])
            links.append(link)
            return link
        } catch {
            fail("\(error)")
        }
    }

    /// Moves all journals until something holds, for at most 10 seconds.
    func wait(until isTrue: () -> Bool) -> Bool {
        let end = MonotonicTime.now() + .seconds(10)
        while !isTrue() {
            guard MonotonicTime.now() < end else { return false }
            move()
        }
        return true
    }

    /// Moves all journals until nothing moves any more.
    func settle() {
        var last = MonotonicTime.now()
        while MonotonicTime.now() - last < quiet {
            if move() { last = MonotonicTime.now() }
        }
    }

    /// Moves all journals, or waits for a moment.
    @discardableResult
    private func move() -> Bool {
        do {
            var hasMoved = false
            for link in links where try link.move() { hasMoved = true }
            var none: [ReadyEntry] = []
            if !hasMoved { try epoll.wait(timeoutNanoseconds: 1_000_000, into: &none) }
            return hasMoved
        } catch {
            fail("\(error)")
        }
    }

    /// The cases that hold for every journal, on this engine.
    var cases: JournalCases {
        JournalCases(
            makeJournal: { [self] isFirst in
                if isFirst { begin() }
                return connect().journal
            }, settle: { [self] in settle() })
    }
}
