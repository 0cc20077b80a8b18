import TestSupport
import Testing

@testable import BelfryCenter

@Suite("NotificationCenter: explain, and near misses (rule O8)")
struct ExplainingTests {
    @Test("O8 (T42): explain lists who would get it, delivers nothing and changes nothing")
    func explain() {
        var scenario = Scenario()
        let client = scenario.connect()
        scenario.observe("a", by: client)
        scenario.observe(nil, "o", by: client)
        scenario.observe("b", by: client)
        let before = stateDigest(of: scenario.center)
        let explanation = scenario.explain("a", "o")
        #expect(explanation.observers.map(\.row.serial) == [1, 2])
        #expect(explanation.next == nil && explanation.nearMisses.isEmpty)
        #expect(stateDigest(of: scenario.center) == before)
        #expect(scenario.center.sequence == 0)
        #expect(scenario.rows.allSatisfy { $0.tally.delivered == 0 })
    }

    @Test("O8, D8: explain knows what goes along with what is delivered immediately")
    func explainTakesAlong() {
        var scenario = Scenario()
        let (client, other) = (scenario.connect(), scenario.connect())
        scenario.observe("a", by: client, .hold)
        scenario.observe("a", by: other, .hold)
        scenario.observe("a", by: client, .deliverImmediately)
        scenario.observe("a", by: client, .hold)
        scenario.suspend(client)
        scenario.suspend(other)
        let explained = scenario.explain("a").observers.map(\.report)
        #expect(explained.map(\.outcome) == [.delivered, .held, .delivered, .held])
        scenario.say("a1") { $0.reportsObservers = true }
        #expect(scenario.effects.reports == [explained])
    }

    @Test("O8: explain of a suspended mailbox at which somebody waits says what a post says")
    func explainMailbox() throws {
        var scenario = Scenario()
        let held = scenario.mailbox("a")
        let client = try #require(scenario.center.observer(held)).client
        let immediate = scenario.observe("a", by: client, .deliverImmediately)
        for (number, observer) in [(71, held), (72, immediate)] as [(UInt64, UInt64)] {
            let connection = ConnectionName(node: 1, number: number)
            scenario.apply(.readMailbox(observer: observer, through: nil, wait: connection))
        }
        scenario.suspend(client)
        let explained = scenario.explain("a").observers.map(\.report)
        #expect(explained.map(\.outcome) == [.held, .held])
        scenario.say("a1") { $0.reportsObservers = true }
        #expect(scenario.effects.reports == [explained])
    }

    @Test("O8 (C5): a near miss is another object, case, Unicode form or spelling")
    func nearMisses() {
        var scenario = Scenario()
        let client = scenario.connect()
        let object = scenario.observe("Order", "p", by: client)
        let upper = scenario.observe("ORDER", by: client)
        let plural = scenario.observe("Orders", by: client)
        scenario.observe("Order", "o", by: client)
        let misses = scenario.explain("Order", "o").nearMisses
        #expect(misses.map(\.observer.serial) == [object, upper, plural])
        #expect(
            misses.map(\.reason) == [.objectDiffers, .nameDiffersInCase, .nameDiffersInSpelling])
        let accented = scenario.observe("\u{c9}t\u{e9}", by: client)
        let decomposed = scenario.observe("e\u{301}te\u{301}", by: client)
        let beyond = scenario.explain("\u{e9}t\u{e9}").nearMisses
        #expect(beyond.map(\.observer.serial) == [accented, decomposed])
        #expect(beyond.map(\.reason) == [.nameDiffersInCase, .nameDiffersInUnicodeForm])
    }

    @Test(
        "O8 (C5): a name that is typed wrong is a near miss",
        arguments: [
            ("Ordr", NearMiss.Reason.nameDiffersInSpelling), ("Odrer", .nameDiffersInSpelling),
            ("Orders", .nameDiffersInSpelling), ("orders", .nameDiffersInSpelling),
            (" Order", .nameDiffersInBlanks), ("Or der ", .nameDiffersInBlanks),
            ("order ", .nameDiffersInBlanks), (" Ordr", .nameDiffersInSpelling),
            ("Border", .nameDiffersInSpelling), ("Recorder", nil), ("Ord", .nameDiffersInSpelling),
            ("Or", nil), ("Invoice", nil),
        ])
    func misspelt(name: String, reason: NearMiss.Reason?) {
        var scenario = Scenario()
        let serial = scenario.observe("Order", by: scenario.connect())
        let explanation = scenario.explain(name)
        #expect(explanation.nearMisses.map(\.reason) == (reason.map { [$0] } ?? []))
        #expect(explanation.nearMisses.allSatisfy { $0.observer.serial == serial })
        #expect(!explanation.isPartial)
    }

    @Test("O8: a plural that ends in ies is near its singular")
    func plural() {
        var scenario = Scenario()
        scenario.observe("NewEntries", by: scenario.connect())
        #expect(scenario.explain("NewEntry").nearMisses.map(\.reason) == [.nameDiffersInSpelling])
    }

    @Test("O8: at most 20 near misses are told, and that there are more", arguments: [20, 21])
    func nearMissLimit(count: Int) {
        var scenario = Scenario()
        let client = scenario.connect()
        for number in 1...count { scenario.observe("a", "o\(number)", by: client) }
        let explanation = scenario.explain("a", "x")
        #expect(explanation.nearMisses.count == 20)
        #expect(explanation.isPartial == (count == 21))
    }

    @Test("O8: a look at near misses compares 4 bytes of names a row, and says when there are more")
    func spellingLimit() {
        for (count, found) in [(2, 2), (3, 2)] {
            var scenario = Scenario()
            let client = scenario.connect()
            for number in 1...count { scenario.observe("Order \(number)A", by: client) }
            let explanation = scenario.center.explain(
                name: bytes("Order AA"), object: nil, scanLimit: 4, visible: all)
            #expect(explanation.nearMisses.count == found)
            #expect(explanation.isPartial == (count > found))
        }
    }

    @Test("O8: a look at near misses ends with the names and observers it may look at")
    func nearMissScanLimit() {
        for (count, isPartial) in [(3, false), (4, true)] {
            var scenario = Scenario()
            let client = scenario.connect()
            for number in 1...count { scenario.observe("\(number)", by: client) }
            let explanation = scenario.center.explain(
                name: bytes("x"), object: nil, scanLimit: 3, visible: all)
            #expect(explanation.isPartial == isPartial)
        }
    }

    @Test("O8: a name that is too long to be compared makes the answer one of a part")
    func longNames() {
        for (byteCount, isPartial) in [
            (EditDistance.byteLimit, false), (EditDistance.byteLimit + 1, true),
        ] {
            var scenario = Scenario()
            let name = String(repeating: "n", count: byteCount)
            scenario.observe(name, by: scenario.connect())
            let explanation = scenario.explain(name.dropLast() + "m")
            #expect(explanation.nearMisses.isEmpty == isPartial)
            #expect(explanation.isPartial == isPartial)
        }
    }

    @Test("O8: explain has pages as a listing has, near misses on the first", arguments: 1...7)
    func explainPages(limit: Int) {
        var scenario = Scenario()
        let client = scenario.connect()
        let filters: [(String?, String?)] = [
            ("a", nil), (nil, nil), ("a", "o"), (nil, "o"), ("a", "p"), ("a", nil),
        ]
        for filter in filters { scenario.observe(filter.0, filter.1, by: client) }
        var serials: [UInt64] = []
        var missCounts: [Int] = []
        var cursor: UInt64? = 0
        while let after = cursor {
            let page = scenario.center.explain(
                name: bytes("a"), object: bytes("o"), after: after, limit: limit, visible: all)
            #expect(page.observers.count <= limit)
            serials += page.observers.map(\.row.serial)
            missCounts.append(page.nearMisses.count)
            cursor = page.next
        }
        #expect(serials == [1, 2, 3, 4, 6])
        #expect(missCounts.reduce(0, +) == 1 && missCounts[0] == 1)
        #expect(missCounts.count == (5 + limit - 1) / limit)
    }
}
