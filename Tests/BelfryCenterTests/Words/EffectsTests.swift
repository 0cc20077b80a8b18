import Testing

@testable import BelfryCenter

@Suite("Effects: what one of several brokers writes (decision 100)")
struct EffectsTests {
    private static func name(_ seat: UInt32) -> ConnectionName {
        ConnectionName(node: seat, number: 9)
    }

    private static func delivery(_ seat: UInt32, _ notification: UInt32) -> Delivery {
        Delivery(
            connection: name(seat), notification: notification, observer: UInt64(seat),
            selector: 0, transport: .webSocket, form: .shared, isRedelivered: false)
    }

    /// One notice of each kind.
    private static func notices(_ seat: UInt32) -> [Notice] {
        let connection = name(seat)
        let gap = Gap(
            observer: 1, selector: [], lostCount: 1, firstSequence: 1, lastSequence: 1,
            reason: .dropped)
        let tombstone = Tombstone(
            tokenHash: SecretHash(high: 1, low: 1), removedAt: 0, removedBy: .broker,
            reason: .removed, name: nil, object: nil)
        return [
            .removed(connection: connection, transport: .events, observer: 1, tombstone),
            .gap(connection: connection, transport: .events, gap),
            .clientRemoved(connection: connection, transport: .events),
            .takenOver(connection: connection, transport: .events),
            .readerReplaced(connection: connection, isStream: false),
            .mailboxFilled(connection: connection, observer: 1),
            .settled(
                connection: connection, transport: .events, observer: 1,
                NotificationID(high: 1, low: 1), .expired),
            .flushFollows(client: 1, connection: connection),
            .flushGoesOn(client: 1, connection: connection),
        ]
    }

    @Test("a delivery takes 32 bytes, the name of its broker included")
    func size() {
        #expect(MemoryLayout<Delivery>.stride == 32)
    }

    @Test("a broker keeps what goes to its own connections, and the answers to its own commands")
    func keepOnly() {
        var effects = Effects()
        effects.outcome = .removed(3)
        effects.deliveries = [(1, 0), (2, 0), (2, 1), (1, 2)].map(Self.delivery)
        effects.notices = Self.notices(1) + Self.notices(2)
        effects.hasAsks = true
        for seat: UInt32 in 1...2 {
            let command = CommandID(node: seat, incarnation: 4, counter: 9)
            effects.completions.append(Completion(command: command, receipts: [], reports: []))
            effects.askCompletions.append(
                AskCompletion(
                    command: command,
                    outcome: AskOutcome(
                        id: NotificationID(high: 1, low: 1), state: .withdrawn, path: [])))
        }
        for seat: UInt32 in 0...2 {
            var kept = effects
            kept.keepOnly(node: seat)
            #expect(kept.deliveries == effects.deliveries.filter { $0.observer == seat })
            #expect(kept.notices == (seat == 0 ? [] : Self.notices(seat)))
            #expect(kept.completions.map(\.command.node) == (seat == 0 ? [] : [seat]))
            #expect(kept.askCompletions.map(\.command.node) == (seat == 0 ? [] : [seat]))
            #expect(kept.outcome == .removed(3))
        }
    }

    @Test("the frames of one post at two brokers name one notification by one place")
    func places() {
        var scenario = Scenario()
        for (client, seat): (UInt64, UInt32) in [(1, 1), (2, 2), (3, 1)] {
            scenario.apply(
                .connect(
                    ClientRegistration(
                        id: client, transport: .webSocket,
                        connection: ConnectionName(node: seat, number: 5),
                        sessionHash: SecretHash(high: client, low: 7), principal: bytes("p")),
                    observers: [scenario.registration("a")], since: nil))
        }
        scenario.post("a")
        for seat: UInt32 in 1...2 {
            var kept = scenario.effects
            kept.keepOnly(node: seat)
            #expect(kept.deliveries.map(\.observer) == (seat == 1 ? [1, 3] : [2]))
            #expect(kept.notifications.count == 1 && kept.deliveries[0].notification == 0)
            #expect(kept.receipts.map(\.delivered) == [3])
        }
    }
}
