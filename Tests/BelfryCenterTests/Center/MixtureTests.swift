import Testing

@testable import BelfryCenter

@Suite("NotificationCenter: a mixture of everything (T117)")
struct MixtureTests {
    private static var limits: CenterLimits {
        var limits = CenterLimits()
        limits.queueEntryLimit = 20
        limits.clientHeldCountLimit = 15
        limits.clientHeldByteLimit = 300
        limits.unacknowledgedLimit = 3
        limits.flushByteLimit = 400
        limits.keyLimit = 10
        limits.replayCountLimit = 30
        limits.fateLimit = 40
        limits.isDurable = true
        return limits
    }

    @Test("laws 2 and 3 hold whatever happens, and nothing is left in the end", arguments: 1...12)
    func mixture(seed: UInt64) {
        var source = CommandSource(seed: seed)
        var scenario = Scenario(limits: Self.limits)
        var watch = Watch()
        for number in 1...3_000 {
            let command = source.next()
            scenario.milliseconds = command.time.wallMilliseconds
            scenario.apply(command.action)
            watch.look(at: scenario)
            if number.isMultiple(of: 25) { checkTables(scenario.center) }
        }
        #expect(watch.deliveryCount > 400 && watch.receiptCount > 500)
        settle(&scenario, &watch)
        leaveAll(&scenario)
    }

    /// All clients come back, ask for nothing, acknowledge all and read all: nothing stays held.
    private func settle(_ scenario: inout Scenario, _ watch: inout Watch) {
        scenario.milliseconds += 10_000
        scenario.apply(.passTime(workLimit: .max))
        let clients = scenario.center.clients(matching: ObserverQuery(after: 0, limit: 1_000)).rows
        for client in clients where client.transport == .webSocket {
            if client.state == .disconnected {
                let newcomer = scenario.connectAnew(number: client.id + 1_000_000)
                scenario.apply(
                    .resume(Resumption(newcomer: newcomer, client: client.id, after: nil)))
                watch.look(at: scenario)
            }
            scenario.endSuspension(client.id)
            watch.look(at: scenario)
        }
        var stepCount = 0
        while scenario.center.heldCount > 0, stepCount < 300 {
            settleStep(&scenario, &watch)
            stepCount += 1
        }
        if scenario.center.heldCount > 0 { Issue.record("\(describe(scenario))") }
        #expect(scenario.center.heldCount == 0 && scenario.center.heldByteCount == 0)
        #expect(scenario.center.backlog.held.entryCount == 0)
        #expect(scenario.center.backlog.replaceable.isEmpty)
        #expect(scenario.center.backlog.waiting.count == 0)
    }

    private func describe(_ scenario: Scenario) -> String {
        scenario.rows.filter { $0.held > 0 }.map {
            "\($0.serial) \($0.client) \($0.state) \($0.transport) \($0.held) \($0.terms)"
        }.joined(separator: "\n")
    }

    private func settleStep(_ scenario: inout Scenario, _ watch: inout Watch) {
        scenario.milliseconds += 400
        scenario.apply(.passTime(workLimit: .max))
        watch.look(at: scenario)
        for row in scenario.rows where row.transport == .mailbox {
            scenario.apply(.readMailbox(observer: row.serial, through: .max))
            watch.look(at: scenario)
        }
        for client in scenario.center.clients(matching: ObserverQuery(after: 0, limit: 1_000)).rows
        {
            scenario.apply(.drain(client: client.id))
            watch.look(at: scenario)
            guard let slot = scenario.center.registry.clients.slot(of: client.id) else { continue }
            let owed = scenario.center.registry.clients[slot].debt.entries.list
            for entry in scenario.center.backlog.held.slots(of: owed, in: .client) {
                let observer = scenario.center.backlog.held[entry].observer
                scenario.acknowledge(
                    scenario.center.registry.observers[observer].serial,
                    scenario.center.backlog.held.sequence(of: entry))
                watch.look(at: scenario)
            }
        }
    }

    private func leaveAll(_ scenario: inout Scenario) {
        for client in scenario.center.clients(matching: ObserverQuery(after: 0, limit: 1_000)).rows
        {
            scenario.apply(.removeClient(client: client.id, by: .broker))
        }
        var none = CenterLimits()
        none.unobservedNameLimit = 0
        scenario.apply(.configure(none))
        #expect(scenario.center.observerCount == 0 && scenario.center.clientCount == 0)
        #expect(
            scenario.center.registry.index.isEmpty && scenario.center.registry.selectors.count == 0)
    }

    /// Checks the tables at any time: lists and counts agree.
    private func checkTables(_ center: NotificationCenter) {
        var entryCount = 0
        for entry in center.registry.clients.order.entries where !entry.isDead {
            let client = center.registry.clients[entry.slot]
            let lists = [client.held, client.debt.entries].map {
                center.backlog.held.slots(of: $0.list, in: .client)
            }
            let byteCounts = lists.map {
                $0.reduce(0) { $0 + center.backlog.held.byteCount(of: $1) }
            }
            check(byteCounts == [client.held.byteCount, client.debt.entries.byteCount])
            check(
                lists.map(\.count)
                    == [client.held.list.count, client.debt.entries.list.count])
            let order = lists[0].map { center.backlog.held.sequence(of: $0) }
            check(order == order.sorted())
            let slots = center.registry.observers.slots(of: client.observers)
            check(slots.count == client.observers.count)
            check(
                slots.filter { center.registry.observers[$0].isLasting }.count
                    == client.lastingCount)
            check(
                slots.filter { !center.registry.observers[$0].gaps.isEmpty }.count
                    == client.gapCount)
            check(
                slots.filter { center.registry.observers[$0].debt.isTooMuch }.count
                    == client.debt.owingCount)
            check(
                slots.filter { center.registry.observers[$0].mailbox.reader != nil }.count
                    == client.readerCount)
            let ofObservers = slots.flatMap {
                center.backlog.held.slots(of: center.registry.observers[$0].entries, in: .observer)
            }
            check(Set(ofObservers) == Set(lists.joined()))
            check(ofObservers.count == lists[0].count + lists[1].count)
            for slot in slots {
                let unacknowledged = center.backlog.held.slots(
                    of: center.registry.observers[slot].entries, in: .observer
                ).filter { center.backlog.held[$0].flags.contains(.unacknowledged) }
                check(unacknowledged.count == center.registry.observers[slot].debt.count)
            }
            entryCount += ofObservers.count
        }
        check(entryCount == center.backlog.held.entryCount)
        var kept = center.backlog.held.oldest
        var last: UInt64 = 0
        var byteCount = 0
        while kept != HeldTable.none {
            let notification = center.backlog.held.notification(at: kept)
            check(notification.sequence > last)
            check(!center.backlog.held.holders(at: kept).isEmpty)
            last = notification.sequence
            byteCount += notification.content.byteCount
            kept = center.backlog.held.next(after: kept)
        }
        check(byteCount == center.backlog.held.byteCount)
    }

    /// The sight of clients and posters.
    private struct Watch {
        private(set) var deliveryCount = 0
        private(set) var receiptCount = 0
        private var ofConnection: [UInt64: UInt64] = [:]
        private var ofObserver: [UInt64: UInt64] = [:]

        mutating func look(at scenario: Scenario) {
            for delivery in scenario.effects.deliveries where !delivery.isRedelivered {
                let number =
                    scenario.effects.notifications[Int(delivery.notification)].sequence
                if delivery.form != .named {
                    check(number >= ofConnection[delivery.connection.number] ?? 0)
                    ofConnection[delivery.connection.number] = number
                }
                check(number > ofObserver[delivery.observer] ?? 0)
                ofObserver[delivery.observer] = number
                deliveryCount += 1
            }
            for receipt in scenario.effects.receipts {
                check(receipt.addsUp)
                check(receipt.pending + receipt.acknowledged + receipt.refused <= receipt.delivered)
                receiptCount += 1
            }
            let answered = scenario.effects.completions.flatMap(\.receipts)
            for receipt in answered { check(receipt.addsUp) }
            scenario.center.history.fates.forEach { receipt, _, _ in check(receipt.addsUp) }
            for (receipt, rows) in zip(scenario.effects.receipts, scenario.effects.reports) {
                check(receipt.sequence == 0 || rows.count == Int(receipt.matched))
            }
        }
    }
}
