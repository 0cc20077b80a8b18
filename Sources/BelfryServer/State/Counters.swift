import BelfryCenter
import BelfryCluster
import BelfryStore
import BelfrySystem
import BelfryWire
import Synchronization

// Every metric is a row below, with a field here where loops count it. `/metrics` and
// `Documentation/Metrics.md` are made of the rows.

/// The counters of one loop; it publishes a copy at the end of each turn that changed one.
struct Counters: Sendable, Equatable {
    var connectionsAccepted: UInt64 = 0
    var connectionsRefused: UInt64 = 0
    var connectionsOpen: UInt64 = 0
    var requests: UInt64 = 0
    var requestsRefused: UInt64 = 0
    var posts: UInt64 = 0
    var unmatchedPosts: UInt64 = 0
    /// Evaluations of conditions.
    var whereEvaluations: UInt64 = 0
    var replays: UInt64 = 0
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

    /// Counts a client that connected.
    mutating func countClient(of transport: Transport) {
        switch transport {
        case .webSocket: clientsWebSocket += 1
        case .events: clientsEvents += 1
        case .mailbox: clientsMailbox += 1
        }
    }
}

extension MetricGroup {
    static let all = [
        broker, process, traffic, asks, timers, values, troubles, clients, tls, kept, memory, store,
        cluster,
    ]

    private static let broker = MetricGroup(
        "The broker",
        [
            Metric(
                name: "belfry_build_info", kind: .gauge, help: "The running version.",
                label: "version"
            ) { _ in [("{version=\"\(Release.version)\"}", "1")] },
            .gauge("belfry_loops", "Event loops.") { $0.shared.mailboxes.count },
            .gauge("belfry_start_time_seconds", "When the broker started, since 1970.") {
                $0.shared.figures.startedAt.milliseconds / 1_000
            },
            .gauge("belfry_centers", "Notification centers.") {
                $0.shared.totals.centerCount.load(ordering: .relaxed)
            },
            .gauge("belfry_observers", "Registered observers.") {
                max(0, $0.shared.totals.observerCount.load(ordering: .relaxed))
            },
            .counter(
                "belfry_log_dropped_total",
                "Lines of the log that were lost because nobody read them, or could not be written."
            ) { $0.lostLineCount },
        ])

    private static let process = MetricGroup(
        "The process",
        note: """
            These have the names that Prometheus gives them everywhere. They are as of the look
            before, and the first ones as of the start: `/metrics` waits for nobody.
            """,
        [
            .gauge("process_resident_memory_bytes", "Resident memory, as of the look before.") {
                $0.process.figures?.residentByteCount ?? 0
            },
            .gauge("process_open_fds", "Open descriptors, as of the look before.") {
                $0.process.figures?.openDescriptorCount ?? 0
            },
            .gauge("process_max_fds", "How many descriptors may be open.") {
                $0.process.descriptorLimit
            },
            Metric(
                name: "process_cpu_seconds_total", kind: .counter,
                help: "Processor time, as of the look before."
            ) { source in
                let time = source.process.figures?.processorTime ?? .zero
                let hundredths = time.nanoseconds / 10_000_000
                let rest = hundredths % 100
                return [("", "\(hundredths / 100).\(rest < 10 ? "0" : "")\(rest)")]
            },
            .gauge("process_start_time_seconds", "When the process started, since 1970.") {
                $0.shared.figures.startedAt.milliseconds / 1_000
            },
        ])

    private static let traffic = MetricGroup(
        "Requests and notifications",
        [
            .counter("belfry_requests_total", "HTTP requests.") { $0.counters.requests },
            .counter(
                "belfry_requests_refused_total",
                "Requests that were answered with 4xx or 5xx, and calls that were refused."
            ) { $0.counters.requestsRefused },
            .counter(
                "belfry_posts_total",
                """
                Posts that were accepted; one that is queued counts now, and not again when it \
                leaves.
                """,
                note: "One that is coalesced counts too."
            ) { $0.counters.posts },
            .counter(
                "belfry_posts_unmatched_total", "Posted notifications that no observer matched."
            ) { $0.counters.unmatchedPosts },
            .counter(
                "belfry_where_evaluations_total",
                "Evaluations of conditions of observers: one a post for each distinct condition."
            ) { $0.counters.whereEvaluations },
            .counter(
                "belfry_replay_notifications_total",
                "Notifications of the past that were written to observers that began there."
            ) { $0.counters.replays },
            .gauge("belfry_archive_notifications", "Notifications that archives keep.") {
                $0.shared.totals[.archived]
            },
            .gauge(
                "belfry_archive_bytes", "Bytes of them, as they count for the bounds of archives."
            ) { $0.shared.totals[.archivedBytes] },
            .counter(
                "belfry_deliveries_total", "Notifications that were put on the way to an observer.",
                note: "It does not promise that they arrived."
            ) { $0.counters.deliveries },
            .counter(
                "belfry_acknowledgements_total",
                "Deliveries that their observers have answered, or read out of a mailbox.",
                note: "Also what they have refused."
            ) { $0.shared.totals[.acknowledgements] },
            .counter(
                "belfry_compressions_total",
                "How often a notification was compressed, once for all observers of a selector."
            ) { $0.counters.compressions },
            .counter("belfry_turns_total", "Turns of the event loops.") { $0.counters.turns },
        ])

    private static let asks = MetricGroup(
        "Responders and asks",
        [
            .gauge("belfry_responders", "Observers that hold an address.") {
                $0.shared.totals[.responders]
            },
            .gauge("belfry_asks_open", "Asks that are not over.") { $0.shared.totals[.asks] },
            .each(
                AskEnd.self, as: "outcome", \.text, .counter, "belfry_asks_total",
                "Asks that are over, by how they ended.",
                note: """
                    `default` is the asker's own answer, whatever the reason; where there is none, \
                    the outcome is the type of the problem. An answer that is replayed for a key \
                    does not count again.
                    """
            ) { $0.askEnds.count(of: $1) },
            .histogram(
                "belfry_ask_seconds", "How long asks were open that are over.",
                note: """
                    In whole milliseconds of the wall clock, from the moment that stands in the id.
                    """
            ) { $0.askEnds.times },
        ])

    private static let timers = MetricGroup(
        "Timers",
        [
            .gauge(
                "belfry_timers", "Posts that enter the queue later.",
                note: "With those of `onDisconnect`, whose clients are connected."
            ) { $0.shared.totals[.timers] },
            .gauge(
                "belfry_timer_bytes", "Bytes of name, object and userInfo of all timers.",
                note: "`--timer-limit` bounds them."
            ) { $0.shared.totals[.timerBytes] },
            .counter(
                "belfry_timers_fired_total", "How often a timer was due and entered the queue."
            ) { $0.shared.totals[.firings] },
            .counter(
                "belfry_timers_missed_total",
                "Firings of repeating timers that were due and were not made.",
                note: """
                    A late timer fires once for all that were due, and one that still waits in the \
                    queue swallows the next.
                    """
            ) { $0.shared.totals[.missedFirings] },
        ])

    private static let values = MetricGroup(
        "Values",
        [
            .gauge("belfry_values", "Objects that have a value.") { $0.shared.totals[.values] },
            .gauge(
                "belfry_value_bytes",
                "Bytes of all values, as they are answered, and of their objects.",
                note: "`--value-limit` bounds them; in memory they take several times as many."
            ) { $0.shared.totals[.valueBytes] },
            .counter(
                "belfry_value_changes_total",
                """
                Changes of values. A write of what is there already does not count; a patch counts \
                once.
                """,
                note: "A part that its `ttl` or its `lease` ends counts too."
            ) { $0.shared.totals[.valueChanges] },
        ])

    private static let troubles = MetricGroup(
        "What was lost and what was refused",
        [
            .each(
                Gap.Reason.self, as: "reason", \.text, .counter, "belfry_lost_total",
                """
                Notifications that observers lost, once for each observer; a gap of unknown size \
                counts as 1.
                """,
                note: """
                    The reasons are those of gaps: `dropped` and `coalesced` are what the observer \
                    asked for; `overflow` is a limit of what is held; `expired` a `ttl`; `unknown` \
                    a gap whose size nobody knows. A loss counts when it happens, and stays \
                    counted when a replay makes it good. Not in it: entries of the queue that \
                    expire before they are posted, and what was on its way to a connection that \
                    broke.
                    """
            ) { $0.losses[$1] },
            .each(
                Problem.Kind.self, as: "type", \.slug, .counter, "belfry_refused_total",
                """
                Requests and calls that were refused, by the type of the problem that they were \
                told.
                """,
                note: """
                    The label is the last part of that type. Not in it: connections that are \
                    refused before they ask for anything (`belfry_connections_refused_total`), and \
                    calls that are not JSON-RPC.
                    """
            ) { $0.refusals[$1] ?? 0 },
        ])

    private static let clients = MetricGroup(
        "Connections and clients",
        [
            .gauge("belfry_connections", "Open connections.") { $0.counters.connectionsOpen },
            .counter("belfry_connections_accepted_total", "Accepted connections.") {
                $0.counters.connectionsAccepted
            },
            .counter(
                "belfry_connections_refused_total",
                "Connections that were refused because there were too many."
            ) { $0.counters.connectionsRefused + $0.counters.connectionsPastRefusal },
            .counter(
                "belfry_rate_refused_total",
                "Requests and calls that were refused because there were too many in a time."
            ) { $0.counters.rateRefused },
            .counter(
                "belfry_unfinished_refused_total",
                "Connections that were ended because all had sent too much that was unfinished."
            ) { $0.counters.inputsRefused },
            .counter(
                "belfry_descriptors_exhausted_total",
                "How often there was no descriptor for a connection."
            ) { $0.counters.descriptorsExhausted },
            .gauge("belfry_unsent_bytes", "Bytes that wait for full sockets.") {
                $0.counters.unsentBytes
            },
            .each(
                Transport.self, as: "transport", \.text, .gauge, "belfry_clients",
                "Clients that are connected, or whose observers outlive that.",
                note: "As of the turn before, as the metrics of centers all are."
            ) { $0.shared.totals[$1] },
            .each(
                ClientState.self, as: "state", \.text, .gauge, "belfry_client_states",
                "The same clients by their state.",
                note: """
                    A mailbox is `disconnected` while nobody reads it. Who is being written what \
                    was held counts as `live`.
                    """
            ) { $0.shared.totals[$1] },
            .counter("belfry_clients_websocket_total", "WebSocket sessions.") {
                $0.counters.clientsWebSocket
            },
            .counter("belfry_clients_events_total", "Event streams.") { $0.counters.clientsEvents },
            .counter("belfry_clients_mailbox_total", "Mailboxes.") { $0.counters.clientsMailbox },
            .counter(
                "belfry_clients_suspended_slow_total",
                "How often a client was suspended because it did not read."
            ) { $0.counters.slowClients },
            .counter(
                "belfry_clients_too_slow_total",
                "Clients that were closed because they did not read."
            ) { $0.counters.clientsTooSlow },
            .counter("belfry_registrations_total", "Observers that were registered.") {
                $0.counters.registrations
            },
            .counter("belfry_removals_total", "Observers that were removed.") {
                $0.counters.removals
            },
        ])

    private static let tls = MetricGroup(
        "TLS", note: "Where the broker speaks TLS.",
        if: { $0.shared.figures.certificateEnd.load(ordering: .relaxed) != 0 },
        [
            .counter("belfry_tls_handshakes_total", "TLS handshakes that were completed.") {
                $0.counters.tlsHandshakes
            },
            .counter(
                "belfry_tls_resumptions_total", "TLS handshakes that were shortened by a ticket."
            ) { $0.counters.tlsResumptions },
            .counter("belfry_tls_handshakes_failed_total", "TLS handshakes that failed.") {
                $0.counters.tlsFailures
            },
            .gauge(
                "belfry_tls_certificate_not_after_seconds",
                "When the certificate ends, since 1970."
            ) { max(0, $0.shared.figures.certificateEnd.load(ordering: .relaxed)) },
        ])

    private static let kept = MetricGroup(
        "What is kept for later",
        [
            .gauge("belfry_held_bytes", "Bytes of notifications held for suspended clients.") {
                max(0, $0.shared.totals.heldByteCount.load(ordering: .relaxed))
            },
            .gauge(
                "belfry_held_notifications",
                "Notifications held for suspended clients, each once for all who hold it."
            ) { $0.counters.heldNotifications },
            .gauge("belfry_queue_entries", "Entries of all queues.") { $0.counters.queueEntries },
            .gauge("belfry_queue_bytes", "Bytes of all queues.") {
                max(0, $0.shared.totals.queueByteCount.load(ordering: .relaxed))
            },
            .gauge("belfry_answers_waiting", "Answers that wait for the store.") {
                $0.counters.waitingAnswers
            },
        ])

    private static let memory = MetricGroup(
        "Memory",
        note: """
            [Protocol.md](Protocol.md), section 11, has the kinds, and what happens past each limit.
            """,
        [
            .each(
                MemoryKind.self, as: "kind", \.rawValue, .gauge, "belfry_memory_bytes",
                "Memory by kind, as the broker accounts for it."
            ) { $0.shared.memory(of: $1, $0.counters) },
            .each(
                MemoryKind.self, as: "kind", \.rawValue, .gauge, "belfry_memory_limit_bytes",
                "The limit of each kind of memory."
            ) { $0.configuration[keyPath: $1.limit] },
        ])

    private static let store = MetricGroup(
        "The store", note: "Where the broker has a store.", if: { $0.shared.hasStore },
        [
            .counter("belfry_store_batches_total", "Turns that handed something to the store.") {
                $0.store.batchCount
            },
            .counter("belfry_store_committed_total", "Turns whose changes are stored.") {
                $0.store.committedBatchCount
            },
            .counter(
                "belfry_store_commits_total",
                "Transactions of the store; one commits all turns that wait."
            ) { $0.store.commitCount },
            .counter("belfry_store_changes_total", "Changes that were handed to the store.") {
                $0.store.changeCount
            },
            .counter(
                "belfry_store_failures_total",
                "How often the store began to fail, or was not where it was.",
                note: "A commit or the ballast failed, or a file was out of its place."
            ) { $0.store.failureCount },
            .gauge("belfry_store_accepts", "Whether the store takes new promises.") {
                $0.store.takesPromises ? 1 : 0
            },
            .gauge("belfry_store_bytes", "Bytes in use of the store's main file.") {
                $0.store.size.usedByteCount
            },
            .gauge(
                "belfry_store_log_bytes",
                "Bytes of the store's write-ahead log, or those it had when it was moved last."
            ) { $0.store.size.logByteCount },
            .each(
                StoreRefusal.self, as: "reason", \.rawValue, .counter,
                "belfry_store_refusals_total", "Promises that the store did not take, by reason."
            ) { $0.store.refusals[$1] ?? 0 },
            .histogram(
                "belfry_store_commit_seconds", "How long a transaction of the store took.",
                note: "The look at its files is part of it."
            ) { $0.store.commitTimes },
        ])

    private static let cluster = MetricGroup(
        "The cluster",
        note: """
            Where the broker takes part in one ([Cluster.md](Cluster.md)).

            All brokers of a cluster have the same centers. So **each broker tells for all** how
            many observers, registrations, removals, asks, changes of values, acknowledgements and
            timers these have had: take `max` over the brokers. Each broker tells of its own
            connections alone how many requests, posts, deliveries, clients and bytes they have
            had: take `sum`.
            """,
        if: { $0.configuration.cluster != nil },
        [
            .gauge("belfry_cluster_ready", "Whether the broker takes part and takes commands.") {
                $0.cluster.isReady ? 1 : 0
            },
            .gauge("belfry_cluster_index", "The last entry of the log that was applied.") {
                $0.cluster.index
            },
            .gauge("belfry_cluster_lag_entries", "Entries that are known and were not applied.") {
                $0.cluster.lag
            },
            .gauge("belfry_cluster_level", "The rules that hold in the cluster.") {
                $0.cluster.level
            },
            .each(
                ClusterFigures.NodeState.self, as: "state", \.rawValue, .gauge,
                "belfry_cluster_nodes", "Brokers that the log knows."
            ) { $0.cluster.nodes[$1] ?? 0 },
            .each(
                FenceReason.self, as: "reason", \.rawValue, .counter,
                "belfry_cluster_fenced_total",
                "How often the broker has lost the cluster and closed its clients, by reason."
            ) { $0.cluster.fences[$1] ?? 0 },
            .histogram(
                "belfry_cluster_append_seconds",
                "How long it took until the log had shown an entry of this broker.",
                note: "A post waits for the entry under way and for its own."
            ) { $0.cluster.appends.times },
            .summary("belfry_cluster_entry_bytes", "Bytes of the entries of this broker.") {
                ($0.cluster.appends.byteCount, of: $0.cluster.appends.entryCount)
            },
            .summary("belfry_cluster_entry_commands", "Commands in the entries of this broker.") {
                ($0.cluster.appends.commandCount, of: $0.cluster.appends.entryCount)
            },
            .counter(
                "belfry_cluster_holes_total",
                "How often entries of the log were missing and were asked for."
            ) { $0.cluster.holeCount },
            .gauge(
                "belfry_cluster_snapshot_age_seconds",
                "How long this broker has known the last snapshot, or has run without one."
            ) { $0.cluster.snapshotAge.nanoseconds / 1_000_000_000 },
            .gauge("belfry_cluster_log_bytes", "Room that the log takes in the engine.") {
                $0.cluster.logByteCount
            },
            .gauge("belfry_cluster_log_limit_bytes", "Room that the log may take there.") {
                $0.configuration.cluster?.logByteLimit ?? 0
            },
            .counter(
                "belfry_cluster_unknown_outcomes_total",
                "Commands of which nobody knew in time whether the log has them."
            ) { $0.cluster.unknownOutcomeCount },
            .gauge(
                "belfry_cluster_config_differs",
                "Whether the limits of centers in the options are others than those of the log."
            ) { $0.cluster.configurationDiffers ? 1 : 0 },
        ])
}
