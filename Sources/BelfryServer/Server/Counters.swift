import BelfrySystem
import Synchronization

/// What one loop counts; it publishes a copy at the end of each turn in which something happened.
struct Counters: Sendable, Equatable {
    var connectionsAccepted: UInt64 = 0
    var connectionsRefused: UInt64 = 0
    var connectionsOpen: UInt64 = 0
    var requests: UInt64 = 0
    var requestsRefused: UInt64 = 0
    var posts: UInt64 = 0
    var unmatchedPosts: UInt64 = 0
    var deliveries: UInt64 = 0
    var compressions: UInt64 = 0
    var clientsWebSocket: UInt64 = 0
    var clientsEvents: UInt64 = 0
    var clientsMailbox: UInt64 = 0
    var clientsTooSlow: UInt64 = 0
    var registrations: UInt64 = 0
    var removals: UInt64 = 0
    var slowClients: UInt64 = 0
    var heldNotifications: UInt64 = 0
    var queueEntries: UInt64 = 0
    var waitingAnswers: UInt64 = 0
    var turns: UInt64 = 0
    var unsentBytes: UInt64 = 0
    var unfinishedBytes: UInt64 = 0
    var sessionBytes: UInt64 = 0
    var descriptorsExhausted: UInt64 = 0
    var inputsRefused: UInt64 = 0
    var connectionsPastRefusal: UInt64 = 0
    var rateRefused: UInt64 = 0
    var tlsHandshakes: UInt64 = 0
    var tlsResumptions: UInt64 = 0
    var tlsFailures: UInt64 = 0

    /// Adds the counters of another loop.
    mutating func add(_ other: Counters) {
        connectionsAccepted += other.connectionsAccepted
        connectionsRefused += other.connectionsRefused
        connectionsOpen += other.connectionsOpen
        requests += other.requests
        requestsRefused += other.requestsRefused
        posts += other.posts
        unmatchedPosts += other.unmatchedPosts
        deliveries += other.deliveries
        compressions += other.compressions
        clientsWebSocket += other.clientsWebSocket
        clientsEvents += other.clientsEvents
        clientsMailbox += other.clientsMailbox
        clientsTooSlow += other.clientsTooSlow
        registrations += other.registrations
        removals += other.removals
        slowClients += other.slowClients
        heldNotifications += other.heldNotifications
        queueEntries += other.queueEntries
        waitingAnswers += other.waitingAnswers
        turns += other.turns
        unsentBytes += other.unsentBytes
        unfinishedBytes += other.unfinishedBytes
        sessionBytes += other.sessionBytes
        descriptorsExhausted += other.descriptorsExhausted
        inputsRefused += other.inputsRefused
        connectionsPastRefusal += other.connectionsPastRefusal
        rateRefused += other.rateRefused
        tlsHandshakes += other.tlsHandshakes
        tlsResumptions += other.tlsResumptions
        tlsFailures += other.tlsFailures
    }
}

/// The counters of one loop, where other loops can read them.
final class PublishedCounters: Sendable {
    private let counters = Mutex(Counters())

    func publish(_ new: Counters) {
        counters.withLock { $0 = new }
    }

    func read() -> Counters {
        counters.withLock { $0 }
    }
}

/// Writes counters in the text format of Prometheus.
struct MetricsText {
    var text = ""

    /// All metrics of the broker.
    static func text(
        of counters: Counters, shared: SharedState, _ configuration: ServerConfiguration,
        log: ServerLog, version: String
    ) -> [UInt8] {
        var page = MetricsText()
        page.add(
            "belfry_build_info", "gauge", "The running version.", 1,
            labels: "version=\"\(version)\"")
        page.add("belfry_loops", "gauge", "Event loops.", UInt64(shared.mailboxes.count))
        page.add(
            "belfry_start_time_seconds", "gauge", "When the broker started, since 1970.",
            UInt64(shared.startedAt.milliseconds / 1_000))
        page.add(
            "belfry_centers", "gauge", "Notification centers.",
            UInt64(shared.centerCount.load(ordering: .relaxed)))
        page.add(
            "belfry_observers", "gauge", "Registered observers.",
            UInt64(max(0, shared.observerCount.load(ordering: .relaxed))))
        page.add(
            "belfry_log_dropped_total", "counter",
            "Lines of the log that were lost: not read in time, or not possible to write.",
            log.lostLineCount())
        page.add(shared.process.figures(), since: shared.startedAt)
        page.addTraffic(counters)
        page.addTroubles(shared)
        page.addClients(counters)
        page.addTLS(counters, shared)
        page.addKept(counters, shared)
        page.addMemory(counters, shared, configuration)
        if let store = shared.store { page.add(store.figures) }
        return Array(page.text.utf8)
    }

    private mutating func addTraffic(_ counters: Counters) {
        add("belfry_requests_total", "counter", "HTTP requests.", counters.requests)
        add(
            "belfry_requests_refused_total", "counter",
            "Requests that were answered with 4xx or 5xx, and calls that were refused.",
            counters.requestsRefused)
        add(
            "belfry_posts_total", "counter",
            "Posts that were accepted; one that is queued counts now, and not again when it leaves.",
            counters.posts)
        add(
            "belfry_posts_unmatched_total", "counter",
            "Posted notifications that no observer matched.", counters.unmatchedPosts)
        add(
            "belfry_deliveries_total", "counter",
            "Notifications that were put on the way to an observer.", counters.deliveries)
        add(
            "belfry_compressions_total", "counter",
            "How often a notification was compressed, once for all observers of a selector.",
            counters.compressions)
        add("belfry_turns_total", "counter", "Turns of the event loops.", counters.turns)
    }

    private mutating func addClients(_ counters: Counters) {
        add(
            "belfry_connections", "gauge", "Open connections.", counters.connectionsOpen)
        add(
            "belfry_connections_accepted_total", "counter", "Accepted connections.",
            counters.connectionsAccepted)
        add(
            "belfry_connections_refused_total", "counter",
            "Connections that were refused because there were too many.",
            counters.connectionsRefused + counters.connectionsPastRefusal)
        add(
            "belfry_rate_refused_total", "counter",
            "Requests and calls that were refused because there were too many in a time.",
            counters.rateRefused)
        add(
            "belfry_unfinished_refused_total", "counter",
            "Connections that were ended because all had sent too much that was unfinished.",
            counters.inputsRefused)
        add(
            "belfry_descriptors_exhausted_total", "counter",
            "How often there was no descriptor for a connection.", counters.descriptorsExhausted)
        add(
            "belfry_unsent_bytes", "gauge", "Bytes that wait for full sockets.",
            counters.unsentBytes)
        add(
            "belfry_clients_websocket_total", "counter", "WebSocket sessions.",
            counters.clientsWebSocket)
        add("belfry_clients_events_total", "counter", "Event streams.", counters.clientsEvents)
        add("belfry_clients_mailbox_total", "counter", "Mailboxes.", counters.clientsMailbox)
        add(
            "belfry_clients_suspended_slow_total", "counter",
            "How often a client was suspended because it did not read.", counters.slowClients)
        add(
            "belfry_clients_too_slow_total", "counter",
            "Clients that were closed because they did not read.", counters.clientsTooSlow)
        add(
            "belfry_registrations_total", "counter", "Observers that were registered.",
            counters.registrations)
        add("belfry_removals_total", "counter", "Observers that were removed.", counters.removals)
    }

    /// What there is to tell of TLS, where it is spoken.
    private mutating func addTLS(_ counters: Counters, _ shared: SharedState) {
        let end = shared.certificateEnd.load(ordering: .relaxed)
        guard end != 0 else { return }
        add(
            "belfry_tls_handshakes_total", "counter", "TLS handshakes that were completed.",
            counters.tlsHandshakes)
        add(
            "belfry_tls_resumptions_total", "counter",
            "TLS handshakes that were shortened by a ticket.", counters.tlsResumptions)
        add(
            "belfry_tls_handshakes_failed_total", "counter", "TLS handshakes that failed.",
            counters.tlsFailures)
        add(
            "belfry_tls_certificate_not_after_seconds", "gauge",
            "When the certificate ends, since 1970.", UInt64(max(0, end)))
    }

    /// What the broker keeps for later.
    private mutating func addKept(_ counters: Counters, _ shared: SharedState) {
        add(
            "belfry_held_bytes", "gauge", "Bytes of notifications held for suspended clients.",
            UInt64(max(0, shared.heldByteCount.load(ordering: .relaxed))))
        add(
            "belfry_held_notifications", "gauge",
            "Notifications held for suspended clients, each once for all who hold it.",
            counters.heldNotifications)
        add("belfry_queue_entries", "gauge", "Entries of all queues.", counters.queueEntries)
        add(
            "belfry_queue_bytes", "gauge", "Bytes of all queues.",
            UInt64(max(0, shared.queueByteCount.load(ordering: .relaxed))))
        add(
            "belfry_answers_waiting", "gauge", "Answers that wait for the store.",
            counters.waitingAnswers)
    }

    /// What each kind of things takes of the memory, and may take.
    private mutating func addMemory(
        _ counters: Counters, _ shared: SharedState, _ configuration: ServerConfiguration
    ) {
        add(
            "belfry_memory_bytes", "gauge", "Memory by kind, as the broker accounts for it.",
            samples: MemoryKind.allCases.map { kind in
                ("{kind=\"\(kind.rawValue)\"}", "\(shared.memory(of: kind, counters))")
            })
        add(
            "belfry_memory_limit_bytes", "gauge", "The limit of each kind of memory.",
            samples: MemoryKind.allCases.map { kind in
                ("{kind=\"\(kind.rawValue)\"}", "\(configuration[keyPath: kind.limit])")
            })
    }

    mutating func add(
        _ name: String, _ type: String, _ help: String, _ value: UInt64, labels: String = ""
    ) {
        let braced = labels.isEmpty ? "" : "{\(labels)}"
        add(name, type, help, samples: [(braced, "\(value)")])
    }

    /// Adds one metric with all of its samples: labels in braces, and the number.
    mutating func add(
        _ name: String, _ type: String, _ help: String, samples: [(labels: String, value: String)]
    ) {
        text += "# HELP \(name) \(help)\n# TYPE \(name) \(type)\n"
        for sample in samples { text += "\(name)\(sample.labels) \(sample.value)\n" }
    }
}
