import BelfryCenter

// The visible parts of a center, in types that the model can make too.

struct SeenObserver: Equatable {
    var serial: UInt64
    var client: UInt64
    var transport: Transport
    var name: [UInt8]?
    var object: [UInt8]?
    var role: ObserverRole
    var selector: [UInt8]
    var terms: ObserverTerms
    var since: UInt64
    var createdAt: Int64
    var state: ClientState
    var stateSince: Int64
    var principal: [UInt8]
    var delivered: UInt64
    var held: Int
    var coalesced: UInt64
    var dropped: UInt64
    var lastDeliveredAt: Int64?
    var tokenHash: SecretHash
}

extension SeenObserver {
    init(_ row: ObserverRow) {
        self.init(
            serial: row.serial, client: row.client, transport: row.transport, name: row.name,
            object: row.object, role: row.role, selector: row.selector, terms: row.terms,
            since: row.since,
            createdAt: row.createdAt, state: row.state, stateSince: row.stateSince,
            principal: row.principal, delivered: row.tally.delivered, held: row.held,
            coalesced: row.tally.coalesced, dropped: row.tally.dropped,
            lastDeliveredAt: row.tally.lastDeliveredAt, tokenHash: row.tokenHash)
    }
}

struct SeenClient: Equatable {
    var id: UInt64
    var transport: Transport
    var connection: ConnectionName
    var state: ClientState
    var stateSince: Int64
    var principal: [UInt8]
    var observerCount: Int
    var held: Int
    var connectedAt: Int64
    var sessionHash: SecretHash
}

extension SeenClient {
    init(_ row: ClientRow) {
        self.init(
            id: row.id, transport: row.transport, connection: row.connection, state: row.state,
            stateSince: row.stateSince, principal: row.principal,
            observerCount: row.observerCount, held: row.held, connectedAt: row.connectedAt,
            sessionHash: row.sessionHash)
    }
}

struct SeenEntry: Equatable {
    var id: NotificationID
    var content: Notification.Content
    var style: PostingStyle
    var coalescing: Coalescing
    var modes: [[UInt8]]
    var mergedCount: Int
    var enqueuedAt: Int64
}

extension SeenEntry {
    init(_ row: QueueEntryRow) {
        self.init(
            id: row.id, content: row.content, style: row.style, coalescing: row.coalescing,
            modes: row.modes, mergedCount: row.mergedCount, enqueuedAt: row.enqueuedAt)
    }
}

struct SeenPage: Equatable {
    var sequences: [UInt64] = []
    var redelivered: [Bool] = []
    var gaps: [Gap] = []
    var next: UInt64 = 0
}

extension SeenPage {
    init(_ page: MailboxPage) {
        self.init(
            sequences: page.elements.map(\.notification.sequence),
            redelivered: page.elements.map(\.isRedelivered), gaps: page.gaps, next: page.next)
    }
}

/// The answer to a command.
enum SeenOutcome: Equatable {
    case plain(Outcome)
    case registered([SeenObserver])
    case resumed(SeenClient, [SeenObserver], heldCount: Int)

    init(_ outcome: Outcome) {
        switch outcome {
        case .registered(let rows): self = .registered(rows.map { SeenObserver($0) })
        case .resumed(let resumed):
            self = .resumed(
                SeenClient(resumed.row), resumed.observers.map { SeenObserver($0) },
                heldCount: resumed.heldCount)
        case .done, .waiting, .awaiting, .replayed, .removed, .dequeued, .asked, .written,
            .archive, .forgot, .refused:
            self = .plain(outcome)
        }
    }
}
