import Testing

@testable import BelfryCenter

@Suite("NotificationCenter: mailboxes (Protocol.md section 9, decision 19)")
struct MailboxTests {
    private func attach(
        _ scenario: inout Scenario, _ serial: UInt64, _ number: UInt64, isStream: Bool
    ) {
        let name = connection(number)
        if isStream {
            scenario.apply(.attachStream(observer: serial, name))
        } else {
            let all = scenario.center.sequence
            let outcome = scenario.apply(.readMailbox(observer: serial, through: all, wait: name))
            #expect(outcome == .waiting)
        }
    }

    @discardableResult
    private func read(
        _ scenario: inout Scenario, _ serial: UInt64, through: UInt64? = nil
    ) -> Outcome {
        scenario.apply(.readMailbox(observer: serial, through: through))
    }

    @Test("a mailbox keeps everything until it is acknowledged; looking removes nothing")
    func keeps() {
        var scenario = Scenario()
        let serial = scenario.mailbox("a")
        #expect(scenario.center.observer(serial)?.state == .disconnected)
        let id = scenario.say("a1")
        scenario.say("a2")
        #expect(scenario.account(id)?.held == 1)
        read(&scenario, serial)
        #expect(scenario.mailTexts(serial) == ["a1", "a2"])
        #expect(scenario.mailTexts(serial) == ["a1", "a2"])
        #expect(scenario.center.mailbox(of: serial, after: 0, limit: 9)?.next == 2)
        read(&scenario, serial, through: 1)
        #expect(scenario.mailTexts(serial, after: 1) == ["a2"])
        #expect(scenario.mailTexts(serial) == ["a2"])
        #expect(scenario.account(id) == Receipt(id: id, sequence: 1, matched: 1, delivered: 1))
        #expect(scenario.center.observer(serial)?.tally.delivered == 1)
        read(&scenario, serial, through: 2)
        #expect(scenario.mailTexts(serial).isEmpty && scenario.center.heldCount == 0)
    }

    @Test("a page has as many as its limit, and next acknowledges exactly those", arguments: 1...4)
    func pages(limit: Int) {
        var scenario = Scenario()
        let serial = scenario.mailbox("a")
        for number in 1...5 { scenario.say("a\(number)") }
        var texts: [String] = []
        var after: UInt64?
        while true {
            read(&scenario, serial, through: after)
            let page = scenario.center.mailbox(of: serial, after: after ?? 0, limit: limit)
            guard let page, !page.elements.isEmpty else { break }
            #expect(page.elements.count <= limit)
            texts += page.elements.map { $0.notification.content.text }
            after = page.next
        }
        #expect(texts == ["a1", "a2", "a3", "a4", "a5"])
    }

    @Test("a number of the past or the future acknowledges no more than there is")
    func oddNumbers() {
        var scenario = Scenario()
        let serial = scenario.mailbox("a")
        scenario.say("a1")
        read(&scenario, serial, through: .max)
        #expect(scenario.mailTexts(serial).isEmpty)
        scenario.say("a2")
        #expect(scenario.mailTexts(serial, after: 1) == ["a2"])
        read(&scenario, serial, through: 1)
        read(&scenario, serial, through: 0)
        #expect(scenario.mailTexts(serial, after: 1) == ["a2"])
    }

    @Test("law 3: gaps are repeated until they are acknowledged, and next covers them")
    func gaps() {
        var scenario = Scenario()
        let serial = scenario.mailbox("a") { $0.holdLimit = 2 }
        for number in 1...4 { scenario.say("a\(number)") }
        for _ in 1...2 {
            read(&scenario, serial)
            let page = scenario.center.mailbox(of: serial, after: 0, limit: 9)
            #expect(page?.gaps.map(\.lostCount) == [2] && page?.gaps.map(\.reason) == [.overflow])
            #expect(page?.next == 4)
        }
        #expect(scenario.gaps.isEmpty)
        read(&scenario, serial, through: 4)
        #expect(scenario.center.mailbox(of: serial, after: 4, limit: 9)?.gaps.isEmpty == true)
    }

    @Test("law 3: a gap behind what was read stays until it is read", arguments: [1, 2])
    func laterGap(through: UInt64) {
        var scenario = Scenario()
        let serial = scenario.mailbox("a", .drop)
        scenario.say("a1")
        scenario.say("a2")
        read(&scenario, serial, through: through)
        let gaps = scenario.center.mailbox(of: serial, after: through, limit: 9)?.gaps
        #expect(gaps?.map(\.lostCount) == (through == 1 ? [2] : []))
    }

    @Test("D5, D6: without a reader a mailbox is disconnected, and its behaviour governs")
    func behaviors() {
        var scenario = Scenario()
        let last = scenario.mailbox("a", .coalesce)
        let none = scenario.mailbox("a", .drop)
        for number in 1...3 { scenario.say("a\(number)") }
        #expect(scenario.mailTexts(last) == ["a3"] && scenario.mailTexts(none).isEmpty)
        attach(&scenario, last, 501, isStream: false)
        attach(&scenario, none, 502, isStream: false)
        scenario.say("a4")
        scenario.say("a5")
        #expect(scenario.mailTexts(last) == ["a4", "a5"])
        #expect(scenario.mailTexts(none) == ["a4", "a5"])
    }

    @Test("a poll waits only where its look finds nothing: no notification, no gap, no ask")
    func pollOfNothing() {
        for hasGap in [false, true] {
            var scenario = Scenario()
            let serial = scenario.mailbox("a", hasGap ? .drop : .hold)
            scenario.say("a1")
            let look = Command.Action.readMailbox(
                observer: serial, through: nil, wait: connection(501))
            #expect(scenario.apply(look) == .done)
            #expect(scenario.center.observer(serial)?.state == .disconnected)
            scenario.say("a2")
            #expect(scenario.effects.notices.isEmpty && scenario.effects.receipts[0].delivered == 0)
            attach(&scenario, serial, 502, isStream: false)
            #expect(scenario.center.observer(serial)?.state == .live)
        }
    }

    @Test("a poll that waits is told, and counts as live while it waits")
    func poll() {
        var scenario = Scenario()
        let serial = scenario.mailbox("a")
        attach(&scenario, serial, 501, isStream: false)
        #expect(scenario.center.observer(serial)?.state == .live)
        let id = scenario.say("a1")
        #expect(scenario.frames.isEmpty)
        #expect(
            scenario.effects.notices == [
                .mailboxFilled(connection: connection(501), observer: serial)
            ])
        #expect(scenario.effects.receipts[0].delivered == 1)
        scenario.apply(.detachReader(observer: serial, connection(501)))
        #expect(scenario.center.observer(serial)?.state == .disconnected)
        #expect(scenario.mailTexts(serial) == ["a1"])
        read(&scenario, serial, through: 1)
        #expect(scenario.account(id) == Receipt(id: id, sequence: 1, matched: 1, delivered: 1))
        #expect(scenario.center.observer(serial)?.tally.delivered == 1)
    }

    @Test("another reader takes the place of the first, which is told")
    func replaced() {
        var scenario = Scenario()
        let serial = scenario.mailbox("a")
        attach(&scenario, serial, 501, isStream: false)
        attach(&scenario, serial, 502, isStream: true)
        #expect(
            scenario.effects.notices == [
                .readerReplaced(connection: connection(501), isStream: false)
            ])
        scenario.apply(.detachReader(observer: serial, connection(501)))
        #expect(scenario.center.observer(serial)?.state == .live)
        scenario.say("a1")
        #expect(scenario.effects.deliveries.map(\.connection.number) == [502])
        scenario.apply(.detachReader(observer: serial, connection(502)))
        #expect(scenario.center.observer(serial)?.state == .disconnected)
    }

    @Test("a stream gets what is kept and then what comes; unacknowledged it comes again, marked")
    func stream() {
        var scenario = Scenario()
        let serial = scenario.mailbox("a")
        scenario.say("a1")
        attach(&scenario, serial, 501, isStream: true)
        #expect(scenario.frames == ["a1"])
        #expect(scenario.effects.deliveries.map(\.form) == [.named])
        #expect(scenario.effects.deliveries.map(\.transport) == [.events])
        let id = scenario.say("a2")
        #expect(scenario.frames == ["a2"] && scenario.effects.receipts[0].delivered == 1)
        #expect(scenario.mailTexts(serial) == ["a1", "a2"])
        scenario.apply(.detachReader(observer: serial, connection(501)))
        read(&scenario, serial, through: 1)
        attach(&scenario, serial, 502, isStream: true)
        #expect(scenario.frames == ["a2*"])
        #expect(scenario.account(id) == Receipt(id: id, sequence: 2, matched: 1, delivered: 1))
    }

    @Test("a stream is written in steps, and what is posted meanwhile waits behind them")
    func streamSteps() {
        var limits = CenterLimits()
        limits.flushByteLimit = 1
        var scenario = Scenario(limits: limits)
        let serial = scenario.mailbox("a")
        let client = scenario.center.observer(serial)?.client ?? 0
        for number in 1...3 { scenario.say("a\(number)") }
        attach(&scenario, serial, 501, isStream: true)
        #expect(scenario.frames == ["a1"] && scenario.flushGoesOn)
        let id = scenario.say("a4")
        #expect(scenario.frames.isEmpty && scenario.effects.receipts[0].held == 1)
        for text in ["a2", "a3", "a4"] {
            scenario.apply(.drain(client: client))
            #expect(scenario.frames == [text])
        }
        #expect(!scenario.flushGoesOn && scenario.account(id)?.delivered == 1)
        scenario.say("a5")
        #expect(scenario.frames == ["a5"])
    }

    @Test("D15, law 3: a slow stream waits, and hears of what it lost meanwhile")
    func slowStream() {
        var scenario = Scenario()
        let serial = scenario.mailbox("a") { $0.holdLimit = 2 }
        let client = scenario.center.observer(serial)?.client ?? 0
        attach(&scenario, serial, 501, isStream: true)
        scenario.apply(.becomeSlow(client: client))
        for number in 1...3 { scenario.say("a\(number)") }
        #expect(scenario.frames.isEmpty)
        scenario.apply(.drain(client: client))
        #expect(scenario.frames == ["a2", "a3"] && scenario.losses == ["overflow 1"])
        scenario.say("a4")
        #expect(scenario.gaps.isEmpty)
    }

    @Test(
        "law 3: what was shown and overflows is lost only if the reader asks for it again",
        arguments: [0, 2])
    func shownOverflow(through: UInt64) {
        var scenario = Scenario()
        let serial = scenario.mailbox("a") { $0.holdLimit = 1 }
        attach(&scenario, serial, 501, isStream: true)
        for number in 1...3 { scenario.say("a\(number)") }
        #expect(scenario.gaps.isEmpty && scenario.center.observer(serial)?.tally.dropped == 0)
        scenario.apply(.detachReader(observer: serial, connection(501)))
        read(&scenario, serial, through: through == 0 ? nil : through)
        let page = scenario.center.mailbox(of: serial, after: through, limit: 9)
        #expect(page?.gaps.map(\.lastSequence) == (through == 0 ? [2] : []))
        #expect(page?.elements.map { $0.notification.sequence } == [3])
    }

    @Test("minInterval: a stream is sent the last of a kind too")
    func streamWithInterval() {
        var scenario = Scenario()
        let serial = scenario.mailbox("a") { $0.minInterval = 60_000_000_000 }
        attach(&scenario, serial, 501, isStream: true)
        scenario.say("a1")
        #expect(scenario.frames == ["a1"])
        scenario.say("a2")
        #expect(scenario.frames == ["a2"])
        #expect(scenario.mailTexts(serial) == ["a2"])
    }

    @Test("O7: the lease of a mailbox runs from the last look, and not while somebody waits")
    func lease() {
        var scenario = Scenario()
        let serial = scenario.mailbox("a") { $0.lease = 10_000_000_000 }
        scenario.pass(milliseconds: 9_999)
        read(&scenario, serial)
        scenario.pass(milliseconds: 9_999)
        attach(&scenario, serial, 501, isStream: false)
        scenario.pass(milliseconds: 60_000)
        #expect(scenario.center.observer(serial) != nil)
        scenario.apply(.detachReader(observer: serial, connection(501)))
        scenario.pass(milliseconds: 9_999)
        #expect(scenario.center.observer(serial) != nil)
        scenario.pass(milliseconds: 1)
        #expect(scenario.center.tombstone(serial)?.reason == .expired)
        #expect(scenario.center.clientCount == 0)
        guard case .refused(.observerRemoved) = read(&scenario, serial) else {
            Issue.record("it was removed")
            return
        }
    }

    @Test("a removed observer's reader is told to go, and its mail goes too")
    func removed() {
        var scenario = Scenario()
        let serial = scenario.mailbox("a")
        attach(&scenario, serial, 501, isStream: true)
        scenario.say("a1")
        scenario.remove(serial, by: .principal(bytes("root")))
        #expect(
            scenario.effects.notices == [
                .readerReplaced(connection: connection(501), isStream: true)
            ])
        #expect(scenario.center.heldCount == 0 && scenario.center.clientCount == 0)
        #expect(scenario.center.mailbox(of: serial, after: 0, limit: 9) == nil)
    }

    @Test("since fills a mailbox from the replay ring, and tells what the ring lacks")
    func since() {
        var limits = CenterLimits()
        limits.replayCountLimit = 2
        var scenario = Scenario(limits: limits)
        for number in 1...3 { scenario.say("a\(number)") }
        var terms = ObserverTerms()
        terms.suspensionBehavior = .hold
        let registration = scenario.registration("a", nil, terms)
        _ = scenario.connect([registration], since: 0, transport: .mailbox)
        #expect(scenario.mailTexts(registration.serial) == ["a2*", "a3*"])
        let page = scenario.center.mailbox(of: registration.serial, after: 0, limit: 9)
        #expect(page?.gaps.map(\.reason) == [.unknown])
    }

    @Test("only a mailbox is read as one")
    func notAMailbox() {
        var scenario = Scenario()
        let client = scenario.connect()
        let serial = scenario.observe("a", by: client, .hold)
        #expect(read(&scenario, serial) == .refused(.noMailbox))
        attach(&scenario, serial, 501, isStream: true)
        #expect(scenario.effects.outcome == .refused(.noMailbox))
        #expect(read(&scenario, 99) == .refused(.unknownObserver))
        #expect(scenario.center.mailbox(of: serial, after: 0, limit: 9) == nil)
    }
}
