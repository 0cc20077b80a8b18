import BelfryCluster
import BelfrySystem
import SimulatedLog

#if canImport(Glibc)
    import Glibc
#endif

/// Servers that run, and the journals of a case.
final class Engine {
    private let addresses: [SocketAddress]
    private let replicaCount: Int
    /// How long nothing must move before all has arrived.
    private let quiet: Duration
    private var cluster = ""
    private(set) var links: [EngineLink] = []
    private var clusterCount = 0
    private var addressCount = -1
    /// The processes of the servers, where one may be killed: those of n0, n1, and so on.
    private let processes: [Int32]
    private let run: UInt64
    private let epoll: Epoll

    init(_ addresses: [SocketAddress], replicaCount: Int, processes: [Int32]) throws {
        self.processes = processes
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
            let link = try EngineLink(settings)
            try link.connect(to: nextAddress())
            links.append(link)
            return link
        } catch {
            fail("\(error)")
        }
    }

    private func nextAddress() -> SocketAddress {
        addressCount += 1
        return addresses[addressCount % addresses.count]
    }

    /// A journal loses its connection, and has another one to the next server.
    func reconnect(_ link: EngineLink) {
        try? link.connect(to: nextAddress())
    }

    /// Kills the server of this name for good, if one may be killed.
    func killServer(_ name: String) -> Bool {
        guard let number = Int(name.dropFirst()), processes.indices.contains(number) else {
            return false
        }
        return kill(processes[number], SIGKILL) == 0
    }

    /// Moves all journals until something holds, for at most so many seconds.
    ///
    /// A connection that is lost meanwhile is replaced.
    func wait(seconds: Int64 = 10, until isTrue: () -> Bool) -> Bool {
        let end = MonotonicTime.now() + .seconds(seconds)
        while !isTrue() {
            guard MonotonicTime.now() < end else { return false }
            move()
            for link in links where link.isOverdue && keepsConnections(link) { reconnect(link) }
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

    /// Whether a connection of it would be of use.
    private func keepsConnections(_ link: EngineLink) -> Bool {
        if case .failed(let failure) = link.journal.progress { return !failure.isFinal }
        return true
    }

    /// Moves all journals, or waits for a moment.
    @discardableResult
    private func move() -> Bool {
        do {
            var hasMoved = false
            for link in links where link.move() { hasMoved = true }
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
