import Testing

@testable import BelfryCenter

@Suite("NotificationCenter against a naive model")
struct NotificationCenterModelTests {
    private static var limits: CenterLimits {
        var limits = CenterLimits()
        limits.clientObserverLimit = 40
        limits.replayCountLimit = 50
        limits.replayByteLimit = 1_200
        limits.tombstoneLimit = 60
        limits.unobservedNameLimit = 30
        limits.causedByDepthLimit = 8
        return limits
    }

    @Test("random commands have the effects that the rules say", arguments: 1...8)
    func randomCommands(seed: UInt64) {
        var source = CommandSource(seed: seed, isPlain: true)
        var center = NotificationCenter(
            name: bytes("default"), epoch: bytes("k1"), limits: Self.limits,
            seed: HashSeed(seed, seed &* 31))
        var model = NaiveCenter(limits: Self.limits)
        var effects = Effects()
        for index in 1...4_000 as ClosedRange<UInt64> {
            let command = source.next()
            center.apply(command, at: index, into: &effects)
            model.apply(command.action)
            checkOutcome(effects, model, center)
            checkDeliveries(effects, model, center)
            if index.isMultiple(of: 50) { checkState(center, model) }
        }
        #expect(center.sequence > 500)
    }

    @Test("law 2: for each observer and each client the live numbers rise", arguments: 1...3)
    func numbersRise(seed: UInt64) {
        var source = CommandSource(seed: seed, isPlain: true)
        var scenario = Scenario(limits: Self.limits)
        var ofObserver: [UInt64: UInt64] = [:]
        var ofConnection: [UInt64: UInt64] = [:]
        var sinceOf: [UInt64: UInt64] = [:]
        for _ in 1...3_000 {
            if case .registered(let rows) = scenario.apply(source.next().action) {
                for row in rows { sinceOf[row.serial] = row.since }
            }
            for delivery in scenario.effects.deliveries where !delivery.isRedelivered {
                let number =
                    scenario.effects.notifications[Int(delivery.notification)].sequence
                check(number > ofObserver[delivery.observer] ?? 0)
                check(number > sinceOf[delivery.observer] ?? 0)
                check(number >= ofConnection[delivery.connection.number] ?? 0)
                ofObserver[delivery.observer] = number
                ofConnection[delivery.connection.number] = number
            }
        }
        #expect(ofObserver.count > 100)
    }

    private func checkOutcome(
        _ effects: Effects, _ model: NaiveCenter, _ center: NotificationCenter
    ) {
        switch effects.outcome {
        case .registered(let rows):
            check(model.outcome == .done)
            check(rows.map(\.serial) == model.observers.suffix(rows.count).map(\.serial))
            check(rows.allSatisfy { $0.since == center.sequence })
        case .refused(.observerRemoved(let tombstone)):
            check(model.outcome == .done)
            check(model.tombstones.contains { $0.remover == tombstone.removedBy })
        case .done, .removed, .refused:
            check(effects.outcome == model.outcome)
        case .waiting, .awaiting, .replayed, .resumed, .dequeued, .asked, .written,
            .archive, .forgot:
            Issue.record("a plain center has no such outcome")
        }
    }

    private func checkDeliveries(
        _ effects: Effects, _ model: NaiveCenter, _ center: NotificationCenter
    ) {
        let rows = effects.deliveries.map { delivery in
            NaiveCenter.Row(
                connection: delivery.connection.number, observer: delivery.observer,
                sequence: effects.notifications[Int(delivery.notification)].sequence,
                selector: center.selector(delivery.selector),
                isRedelivered: delivery.isRedelivered)
        }
        check(rows == model.rows)
        check(effects.receipts.map(\.matched) == model.matchedCounts)
        check(effects.receipts.allSatisfy { $0.matched == $0.delivered })
        check(center.sequence == model.sequence)
        var gaps: [Gap] = []
        for notice in effects.notices {
            if case .gap(_, _, let gap) = notice { gaps.append(gap) }
        }
        check(gaps.map(\.observer) == model.gaps.map(\.observer))
        check(gaps.map(\.firstSequence) == model.gaps.map(\.first))
        check(gaps.map(\.lastSequence) == model.gaps.map(\.last))
    }

    private func checkState(_ center: NotificationCenter, _ model: NaiveCenter) {
        var query = ObserverQuery()
        query.limit = 10_000
        let rows = center.observers(matching: query) { _, _ in true }.rows
        check(rows.map(\.serial) == model.observers.map(\.serial))
        check(rows.map(\.client) == model.observers.map(\.client))
        check(rows.map(\.name) == model.observers.map(\.name))
        check(rows.map(\.object) == model.observers.map(\.object))
        check(rows.map(\.selector) == model.observers.map(\.selector))
        check(rows.map(\.since) == model.observers.map(\.since))
        check(rows.map(\.tally.delivered) == model.observers.map(\.delivered))
        check(center.observerCount == model.observers.count)
        check(center.clientCount == model.clients.count)
        for (id, connection) in model.clients {
            let row = center.client(id)
            check(row?.connection.number == connection)
            check(row?.observerCount == model.observers.filter { $0.client == id }.count)
        }
        for tombstone in model.tombstones {
            let found = center.tombstone(tombstone.serial)
            check(found?.removedBy == tombstone.remover && found?.reason == tombstone.reason)
        }
        check(center.registry.tombstones.count == model.tombstones.count)
        var kept: [UInt64] = []
        center.history.replay.forEach(above: 0) { kept.append($0.sequence) }
        check(kept == model.kept.map(\.sequence))
        check(center.registry.index.channels.unobservedCount <= 30)
    }

    @Test("after all clients are gone nothing of them is left in any table", arguments: 1...3)
    func nothingIsLeft(seed: UInt64) {
        var source = CommandSource(seed: seed, isPlain: true)
        var scenario = Scenario(limits: Self.limits)
        for _ in 1...1_500 { scenario.apply(source.next().action) }
        let clients = scenario.center.clients(matching: ObserverQuery(after: 0, limit: 1_000)).rows
        for client in clients {
            scenario.apply(.disconnect(client: client.id, connection: client.connection))
        }
        var none = CenterLimits()
        none.unobservedNameLimit = 0
        scenario.apply(.configure(none))
        #expect(scenario.center.observerCount == 0)
        #expect(scenario.center.clientCount == 0)
        #expect(scenario.center.registry.index.isEmpty)
        #expect(scenario.center.registry.selectors.count == 0)
    }
}
