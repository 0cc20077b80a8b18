import BelfryAccess
import BelfryCenter
import BelfryLoop
import BelfryStore
import BelfryTLS
import SimulatedLog
import Synchronization
import TestCertificates
import Testing

@testable import BelfryCluster
@testable import BelfryServer

@Suite("Each metric moves")
struct MetricMovementTests {
    @Test("what happens moves the metrics that tell of it", arguments: all)
    func moves(movement: Movement) throws {
        let (before, after) = try movement.happen()
        for metric in movement.metrics {
            let numbers = after.samples(metric)
            #expect(numbers != before.samples(metric), "\(metric)")
            #expect(numbers.values.contains { $0 != "0" }, "\(metric)")
        }
    }

    @Test("something moves each metric, and what it moves is a metric")
    func everyRow() {
        let rows = MetricGroup.all.flatMap(\.metrics).map(\.name)
        #expect(Set(rows).count == rows.count)
        #expect(Set(Self.all.flatMap(\.metrics)).symmetricDifference(rows) == [])
    }

    private static let held = #"{"name":"a","suspensionBehavior":"hold"}"#
    private static let twoLoops: @Sendable () throws -> Broker = { try Broker(loopCount: 2) }

    static let all = start + traffic + clients + tls + kept + store + cluster

    // MARK: What happens

    private static let start = [
        Movement(
            "a broker is there",
            shows: [
                "belfry_build_info", "belfry_loops", "belfry_start_time_seconds",
                "process_resident_memory_bytes", "process_open_fds", "process_max_fds",
                "process_cpu_seconds_total", "process_start_time_seconds",
                "belfry_memory_limit_bytes",
            ]
        ) { try Broker() },
        Movement("the log loses lines", shows: ["belfry_log_dropped_total"]) {
            try Broker(log: ServerLog(lostLineCount: { 3 }) { _, _, _ in })
        },
    ]

    private static let traffic = [
        Movement(
            "somebody posts what nobody observes",
            moves: [
                "belfry_requests_total", "belfry_connections_accepted_total", "belfry_connections",
                "belfry_turns_total", "belfry_posts_total", "belfry_posts_unmatched_total",
            ], of: twoLoops
        ) { try $0.post(name: "a", loop: 1) },
        Movement(
            "an observer comes, gets something, and goes",
            moves: [
                "belfry_clients_websocket_total", "belfry_registrations_total",
                "belfry_deliveries_total", "belfry_removals_total",
            ], of: twoLoops
        ) { broker in
            let socket = try broker.webSocket(loop: 1)
            let token = try socket.observe("a")["token"].text ?? ""
            try broker.post(name: "a")
            try socket.result("removeObserver", #"{"token":"\#(token)"}"#)
        },
        Movement(
            "a post meets a condition", moves: ["belfry_where_evaluations_total"]
        ) { broker in
            let socket = try broker.webSocket()
            _ = try socket.result("addObserver", #"{"name":"a","where":{"k":1}}"#)
            try broker.post(name: "a")
        },
        Movement(
            "an observer begins with what an archive keeps",
            moves: [
                "belfry_archive_notifications", "belfry_archive_bytes",
                "belfry_replay_notifications_total",
            ], of: { try Broker { $0.anonymousGrants = Grants([Grant(.all)]) } }
        ) { broker in
            #expect(try broker.request("PUT", "/v1/archives/a").status == 201)
            try broker.post(name: "a")
            let socket = try broker.webSocket()
            _ = try socket.result("addObserver", #"{"name":"a","since":"oldest"}"#)
        },
        Movement(
            "somebody asks, and is not answered yet",
            moves: [
                "belfry_responders", "belfry_asks_open", "belfry_asks_total", "belfry_ask_seconds",
            ], of: twoLoops
        ) { broker in
            let socket = try broker.webSocket(loop: 1)
            try socket.result("addObserver", AskStage.registration("w", ["a"]))
            let asking = try broker.http(loop: 1)
            try asking.send(HTTPPeer.text("POST", "/v1/responders/w/a", ""))
            _ = try broker.request("POST", "/v1/responders/nobody/a", "", loop: 1)
        },
        Movement(
            "a timer fires, and misses a firing",
            moves: [
                "belfry_timers", "belfry_timer_bytes", "belfry_timers_fired_total",
                "belfry_timers_missed_total",
            ], of: twoLoops
        ) { broker in
            _ = try broker.request("POST", "/v1/channels/a?after=0&every=1", "", loop: 1)
            try broker.advance(by: .milliseconds(2_500))
        },
        Movement(
            "a value is set",
            moves: ["belfry_values", "belfry_value_bytes", "belfry_value_changes_total"],
            of: twoLoops
        ) { broker in
            _ = try broker.request("PUT", "/v1/values/settings/theme", #""dark""#, loop: 1)
        },
        Movement("a center begins", moves: ["belfry_centers"]) {
            _ = try $0.request("POST", "/v1/centers/other/channels/a", "{}")
        },
        Movement("an observer stays", moves: ["belfry_observers", "belfry_memory_bytes"]) {
            _ = try $0.webSocket().observe("a")
        },
        Movement("a notification is compressed", moves: ["belfry_compressions_total"]) { broker in
            _ = try broker.deflatingSocket().observe("a")
            let text = String(repeating: "again and ", count: 1_000)
            try broker.post(whole: #"{"name":"a","userInfo":{"text":"\#(text)"}}"#)
        },
        Movement(
            "a request is refused",
            moves: ["belfry_requests_refused_total", "belfry_refused_total"], of: twoLoops
        ) { _ = try $0.get("/nowhere", loop: 1) },
    ]

    private static let clients = [
        Movement(
            "an event stream begins",
            moves: ["belfry_clients_events_total", "belfry_clients", "belfry_client_states"],
            of: twoLoops
        ) {
            _ = try $0.events(loop: 1)
        },
        Movement(
            "a mailbox is read", moves: ["belfry_acknowledgements_total"], of: twoLoops
        ) { broker in
            let token = try broker.post(held, target: "/v1/observers").json["token"].text ?? ""
            let number = try broker.post(name: "a", loop: 1)["seq"].int ?? 0
            _ = try broker.get("/v1/observers/\(token)/notifications?after=\(number)", loop: 1)
        },
        Movement("a mailbox begins", moves: ["belfry_clients_mailbox_total"]) {
            _ = try $0.post(held, target: "/v1/observers")
        },
        Movement(
            "one more connection comes than there may be",
            moves: ["belfry_connections_refused_total"], of: { try Broker(connectionLimit: 2) }
        ) { broker in
            let peers = try (0..<3).map { _ in try broker.http() }
            peers[0].peer.close()
            try broker.crank()
        },
        Movement(
            "an address asks too often", moves: ["belfry_rate_refused_total"],
            of: { try Broker { $0.addressRate = RateLimit(rate: 1, burst: 2) } }
        ) { broker in
            for _ in 0..<3 { _ = try broker.http(from: "192.0.2.1").request("GET", "/") }
        },
        Movement(
            "more is unfinished than may be", moves: ["belfry_unfinished_refused_total"],
            of: { try Broker { $0.unfinishedByteLimit = 100_000 } }
        ) { broker in
            let head =
                "POST /v1/channels/a HTTP/1.1\r\nHost: localhost\r\nContent-Length: 90000\r\n\r\n"
            for _ in 0..<2 { try broker.http().send(head + String(repeating: " ", count: 80_000)) }
        },
        Movement("descriptors run out", moves: ["belfry_descriptors_exhausted_total"]) { broker in
            broker.nodes[0].kernel.acceptFailure = 24
            _ = broker.nodes[0].kernel.connect()
            try broker.crank()
            broker.nodes[0].kernel.acceptFailure = nil
            try broker.advance(by: .seconds(1))
        },
        Movement("a client does not read", moves: ["belfry_unsent_bytes"]) {
            try stall($0, postCount: 1)
        },
        Movement(
            "a client reads nothing for long",
            moves: ["belfry_clients_suspended_slow_total", "belfry_clients_too_slow_total"],
            of: { try Broker { $0.slowTimeout = .seconds(5) } }
        ) { broker in
            try stall(broker, postCount: 12)
            try broker.advance(by: .seconds(6))
        },
    ]

    private static let tls = [
        Movement(
            "somebody shakes hands, and then again with a ticket",
            moves: ["belfry_tls_handshakes_total", "belfry_tls_resumptions_total"], of: secure
        ) { broker in
            let first = try SecurePeer(broker, parties.client)
            #expect(try first.exchange(HTTPPeer.text("GET", "/livez")).hasSuffix("ok\n"))
            let ticket = try #require(first.session.resumption)
            #expect(try SecurePeer(broker, parties.client, resuming: ticket).session.isResumed)
        },
        Movement(
            "somebody speaks no TLS", moves: ["belfry_tls_handshakes_failed_total"], of: secure
        ) { broker in
            broker.nodes[0].kernel.connect(listener: 1).send(HTTPPeer.text("GET", "/").utf8)
            try broker.crank()
        },
        Movement(
            "there is a certificate", shows: ["belfry_tls_certificate_not_after_seconds"],
            in: secure),
    ]

    private static let kept = [
        Movement(
            "notifications are held, and others are lost",
            moves: ["belfry_held_bytes", "belfry_held_notifications", "belfry_lost_total"]
        ) { broker in
            let socket = try broker.webSocket()
            try socket.result("addObserver", held)
            try socket.result("addObserver", #"{"name":"b","suspensionBehavior":"drop"}"#)
            try socket.result("setSuspended", #"{"suspended":true}"#)
            for name in ["a", "b"] { try broker.post(name: name) }
        },
        Movement(
            "something waits in a queue", moves: ["belfry_queue_entries", "belfry_queue_bytes"]
        ) {
            _ = try $0.post(#"{"name":"a","style":"idle","modes":["m"]}"#)
        },
        Movement(
            "an answer waits for the store", moves: ["belfry_answers_waiting"],
            of: { try Broker.durable().0 }
        ) { broker in
            let peer = try broker.http()
            try peer.send(
                HTTPPeer.text(
                    "POST", "/v1/observers", held, fields: ["Content-Type: application/json"]))
            #expect(try peer.read() == nil)
        },
    ]

    private static let store = [
        Movement(
            "the store works and fails",
            shows: [
                "belfry_store_batches_total", "belfry_store_committed_total",
                "belfry_store_commits_total", "belfry_store_changes_total",
                "belfry_store_failures_total", "belfry_store_accepts", "belfry_store_bytes",
                "belfry_store_log_bytes", "belfry_store_refusals_total",
                "belfry_store_commit_seconds",
            ]
        ) {
            let (broker, store) = try Broker.durable()
            var figures = StoreFigures()
            figures.batchCount = 9
            figures.committedBatchCount = 8
            figures.commitCount = 7
            figures.changeCount = 6
            figures.failureCount = 5
            figures.size.usedByteCount = 4
            figures.size.logByteCount = 3
            figures.refusals = [.behind: 2]
            store.figures = figures
            return broker
        }
    ]

    private static let cluster = [
        Movement(
            "two brokers share a log",
            ofClusterMoves: [
                "belfry_cluster_ready", "belfry_cluster_level", "belfry_cluster_nodes",
                "belfry_cluster_log_limit_bytes",
            ], isNew: true
        ) { try $0.advance(by: 100) },
        Movement("somebody posts", ofClusterMoves: ["belfry_cluster_index"]) { cluster in
            try cluster[1].post(name: "a")
            try cluster.advance(by: 100)
        },
        Movement(
            "somebody posts at the broker",
            ofClusterMoves: [
                "belfry_cluster_append_seconds", "belfry_cluster_entry_bytes",
                "belfry_cluster_entry_commands",
            ]
        ) { cluster in
            try cluster[0].post(name: "a")
            try cluster.advance(by: 100)
        },
        Movement("a broker has missed an entry", ofClusterMoves: ["belfry_cluster_holes_total"]) {
            cluster in
            try cluster.postUnheard()
            try cluster[1].post(name: "a")
            try cluster.advance(by: 500)
        },
        Movement(
            "the engine tells how the log stands, and nobody makes a snapshot",
            ofClusterMoves: [
                "belfry_cluster_log_bytes", "belfry_cluster_snapshot_age_seconds",
            ]
        ) { cluster in
            let journal = try NATSJournal(NATSSettings(cluster: "test", node: "n1"))
            cluster[0].nodes[0].server.engine = EngineLine(
                journal, [try #require(EngineServer("127.0.0.1"))],
                try TLSContext(authorities: .system, for: .unnamed))
            journal.logByteCount = 5
            try cluster.advance(by: 2_000)
        },
        Movement("a broker hears of entries late", ofClusterMoves: ["belfry_cluster_lag_entries"]) {
            cluster in
            try cluster.postUnheard()
            cluster.engine.faults.delay = 200_000_000
            for _ in 0..<40 {
                try cluster.advance(by: 50)
                if try MetricsPage(cluster[0])["belfry_cluster_lag_entries"] != 0 { break }
            }
        },
        Movement(
            "a broker is cut off while somebody posts",
            ofClusterMoves: [
                "belfry_cluster_fenced_total", "belfry_cluster_unknown_outcomes_total",
            ]
        ) { cluster in
            cluster.journals[0].isCut = true
            try cluster[0].http().send(HTTPPeer.text("POST", "/v1/channels/a", ""))
            try cluster.advance(by: 2_500)
        },
        Movement(
            "a broker gets other limits, and no higher revision",
            ofClusterMoves: ["belfry_cluster_config_differs"]
        ) { cluster in
            var configuration = cluster[0].nodes[0].server.context.configuration
            configuration.centerLimits.queueEntryLimit += 1
            _ = cluster[0].shared.mailboxes[0].post(.reload(configuration))
            try cluster.advance(by: 100)
        },
    ]

    // MARK: What it takes

    private static let parties: (server: TLSContext, client: TLSContext) = {
        let authority = TestAuthority()
        let identity = authority.issue()
        do {
            return (
                try TLSContext(certificateChain: identity.certificate, privateKey: identity.key),
                try TLSContext(authorities: .pem(authority.certificate))
            )
        } catch {
            preconditionFailure("\(error)")
        }
    }()

    private static let secure: @Sendable () throws -> Broker = {
        let broker = try Broker(certificate: parties.server)
        broker.shared.figures.certificateEnd.store(1, ordering: .relaxed)
        return broker
    }

    /// Sends an observer more than it reads.
    private static func stall(_ broker: Broker, postCount: Int) throws {
        let slow = try broker.webSocket()
        try slow.result("addObserver", held)
        slow.peer.writeCapacity = 0
        let text = String(repeating: "x", count: 100_000)
        for _ in 0..<postCount {
            try broker.post(whole: #"{"name":"a","userInfo":{"text":"\#(text)"}}"#)
        }
    }
}
