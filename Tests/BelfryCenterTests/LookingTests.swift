import Testing

@testable import BelfryCenter

@Suite("NotificationCenter: looking inside (rule O8)")
struct LookingTests {
    private let all: NotificationCenter.Visibility = { _, _ in true }

    /// Walks through all pages of a listing of observers, and tells their serial numbers.
    private func walk(
        _ center: NotificationCenter, limit: Int,
        _ change: (inout ObserverQuery) -> Void = { _ in }
    ) -> (serials: [UInt64], pageCount: Int) {
        var query = ObserverQuery()
        query.limit = limit
        change(&query)
        var serials: [UInt64] = []
        var pageCount = 0
        while true {
            let page = center.observers(matching: query, visible: all)
            pageCount += 1
            serials += page.rows.map(\.serial)
            #expect(page.rows.count <= max(limit, 1))
            guard let next = page.next else { return (serials, pageCount) }
            query.cursor = next
        }
    }

    @Test("O8 (T33): the listing shows filters, client and principal, null as null")
    func listing() {
        var scenario = Scenario()
        let client = scenario.connect()
        scenario.observe("a", "o", by: client)
        scenario.observe(nil, by: client)
        #expect(scenario.rows.map(\.name) == [bytes("a"), nil])
        #expect(scenario.rows.map(\.object) == [bytes("o"), nil])
        #expect(scenario.rows.map(\.client) == [client, client])
        #expect(scenario.rows.map(\.principal) == [bytes("anonymous"), bytes("anonymous")])
    }

    @Test("O8: a walk by cursor shows each observer once, at each page limit", arguments: 1...12)
    func cursorWalk(limit: Int) {
        var scenario = Scenario()
        let client = scenario.connect()
        for _ in 1...10 { scenario.observe("a", by: client) }
        #expect(walk(scenario.center, limit: limit).serials == Array(1...10))
        for serial in [1, 4, 5, 10] as [UInt64] { scenario.remove(serial, by: .broker) }
        #expect(walk(scenario.center, limit: limit).serials == [2, 3, 6, 7, 8, 9])
    }

    @Test("O8: a page that is exactly full is the last one when nothing follows")
    func exactPage() {
        var scenario = Scenario()
        let client = scenario.connect()
        for _ in 1...4 { scenario.observe("a", by: client) }
        #expect(walk(scenario.center, limit: 4).pageCount == 1)
        #expect(walk(scenario.center, limit: 3).pageCount == 2)
        scenario.remove(4, by: .broker)
        #expect(walk(scenario.center, limit: 3).pageCount == 1)
    }

    @Test("O8: a page limit of nothing is one row, and no trap", arguments: [0, -1])
    func noLimit(limit: Int) {
        var scenario = Scenario()
        let client = scenario.connect()
        for _ in 1...3 { scenario.observe("a", by: client) }
        #expect(walk(scenario.center, limit: limit).serials == [1, 2, 3])
        #expect(
            scenario.center.clients(matching: ObserverQuery(after: 0, limit: limit)).rows.count == 1
        )
        #expect(
            scenario.center.channels(matching: ObserverQuery(after: 0, limit: limit), visible: all)
                .rows.count
                == 1)
    }

    @Test("O8: a cursor of an observer that was removed meanwhile goes on behind it")
    func cursorOfRemoved() {
        var scenario = Scenario()
        let client = scenario.connect()
        for _ in 1...5 { scenario.observe("a", by: client) }
        var query = ObserverQuery()
        query.limit = 2
        let page = scenario.center.observers(matching: query, visible: all)
        #expect(page.next == 2)
        scenario.remove(2, by: .broker)
        scenario.remove(3, by: .broker)
        scenario.observe("a", by: client)
        query.cursor = 2
        let next = scenario.center.observers(matching: query, visible: all)
        #expect(next.rows.map(\.serial) == [4, 5])
        query.cursor = UInt64.max
        #expect(scenario.center.observers(matching: query, visible: all).rows.isEmpty)
    }

    @Test("O8: the listing can be narrowed to name, object, client and principal")
    func filters() {
        var scenario = Scenario()
        let first = scenario.connect()
        let second = scenario.connect()
        scenario.observe("a", "o", by: first)
        scenario.observe("a", by: second)
        scenario.observe("b", "o", by: second)
        #expect(walk(scenario.center, limit: 9) { $0.name = bytes("a") }.serials == [1, 2])
        #expect(walk(scenario.center, limit: 9) { $0.object = bytes("o") }.serials == [1, 3])
        #expect(walk(scenario.center, limit: 9) { $0.client = second }.serials == [2, 3])
        #expect(walk(scenario.center, limit: 9) { $0.principal = bytes("x") }.serials == [])
        let both = walk(scenario.center, limit: 9) {
            $0.name = bytes("a")
            $0.client = second
        }
        #expect(both.serials == [2])
    }

    @Test("O8: rows that the caller may not see are left out of every view")
    func visibility() {
        var scenario = Scenario()
        let client = scenario.connect()
        scenario.observe("a", by: client)
        scenario.observe("a", by: client)
        scenario.observe("secret", by: client)
        scenario.observe("secret", by: client)
        scenario.post("Secret")
        let visible: NotificationCenter.Visibility = { name, _ in
            name != bytes("secret") && name != bytes("Secret")
        }
        let center = scenario.center
        #expect(
            center.observers(matching: ObserverQuery(), visible: visible).rows.map(\.serial)
                == [1, 2])
        #expect(
            center.leaks(limit: 9, at: scenario.time, visible: visible).map(\.observer.serial) == [
                2
            ])
        let explanation = center.explain(name: bytes("secret"), object: nil, visible: visible)
        #expect(explanation.observers.isEmpty && explanation.nearMisses.isEmpty)
        #expect(
            center.explain(name: bytes("SECRET"), object: nil, visible: visible)
                .nearMisses.isEmpty)
        let report = center.unmatched(limit: 9, visible: visible)
        #expect(report.postedNeverObserved.isEmpty)
        #expect(report.observedNeverPosted.map(\.serial) == [1, 2])
        let channels = center.channels(
            matching: ObserverQuery(after: 0, limit: 9), visible: visible)
        #expect(channels.rows.map(\.name) == [bytes("a")])
        let named = center.channels(
            matching: ObserverQuery(after: 0, limit: 9) { $0.name = bytes("secret") },
            visible: visible)
        #expect(named.rows.isEmpty)
    }

    @Test("O8: clients are listed in the order of their numbers, with what they have")
    func clientListing() {
        var scenario = Scenario()
        let first = scenario.connect()
        let second = scenario.connect(transport: .events)
        let third = scenario.connect()
        scenario.observe("a", by: second)
        scenario.disconnect(first)
        let page = scenario.center.clients(matching: ObserverQuery(after: 0, limit: 1))
        #expect(page.rows.map(\.id) == [second])
        #expect(page.rows.map(\.transport) == [.events])
        #expect(page.rows.map(\.observerCount) == [1])
        #expect(page.rows.map(\.connection) == [ConnectionName(node: 1, number: 102)])
        #expect(page.next == second)
        let last = scenario.center.clients(
            matching: ObserverQuery(after: second, limit: 1) { $0.principal = bytes("anonymous") })
        #expect(last.rows.map(\.id) == [third] && last.next == nil)
        #expect(
            scenario.center.clients(
                matching: ObserverQuery(after: 0, limit: 9) { $0.principal = bytes("x") }
            ).rows.isEmpty)
    }

    @Test("O8: channels tell observers and posts, page by page", arguments: 1...5)
    func channelListing(limit: Int) {
        var scenario = Scenario()
        let client = scenario.connect()
        scenario.observe("a", "o", by: client)
        scenario.observe("a", by: client)
        scenario.observe(nil, by: client)
        scenario.milliseconds = 3_000
        for name in ["b", "c", "b"] { scenario.post(name) }
        var rows: [ChannelRow] = []
        var cursor: UInt64? = 0
        while let after = cursor {
            let page = scenario.center.channels(
                matching: ObserverQuery(after: after, limit: limit), visible: all)
            rows += page.rows
            cursor = page.next
        }
        #expect(rows.map(\.name) == ["a", "b", "c"].map(bytes))
        #expect(rows.map(\.observerCount) == [2, 0, 0])
        #expect(rows.map(\.postCount) == [0, 2, 1])
        #expect(rows.map(\.lastPostedAt) == [nil, 3_000, 3_000])
    }

    @Test("O8: one channel is found by its name, and a cursor past the end finds nothing")
    func oneChannel() {
        var scenario = Scenario()
        scenario.post("a")
        let center = scenario.center
        let found = center.channels(
            matching: ObserverQuery(after: 0, limit: 9) { $0.name = bytes("a") }, visible: all)
        #expect(found.rows.map(\.postCount) == [1] && found.next == nil)
        #expect(
            center.channels(
                matching: ObserverQuery(after: 0, limit: 9) { $0.name = bytes("b") }, visible: all
            ).rows.isEmpty)
        let past = center.channels(matching: ObserverQuery(after: .max, limit: 9), visible: all)
        #expect(past.rows.isEmpty && past.next == nil)
    }

    @Test("O8 (T42): explain lists who would get it, delivers nothing and changes nothing")
    func explain() {
        var scenario = Scenario()
        let client = scenario.connect()
        scenario.observe("a", by: client)
        scenario.observe(nil, "o", by: client)
        scenario.observe("b", by: client)
        let before = scenario.center.digest()
        let explanation = scenario.explain("a", "o")
        #expect(explanation.observers.map(\.row.serial) == [1, 2])
        #expect(explanation.next == nil && explanation.nearMisses.isEmpty)
        #expect(scenario.center.digest() == before)
        #expect(scenario.center.sequence == 0)
        #expect(scenario.rows.allSatisfy { $0.delivered == 0 })
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

    @Test("O8 (T38): an observer whose filter and selector its client has already is a leak")
    func duplicates() {
        var scenario = Scenario()
        let client = scenario.connect()
        let other = scenario.connect()
        let first = scenario.observe("a", "o", by: client)
        let second = scenario.observe("a", "o", by: client)
        scenario.observe("a", "o", by: client, selector: "other")
        scenario.observe("a", "o", by: other)
        scenario.observe("a", by: client)
        let third = scenario.observe("a", "o", by: client)
        let leaks = scenario.center.leaks(limit: 9, at: scenario.time, visible: all)
        #expect(leaks.map(\.observer.serial) == [second, third])
        #expect(leaks.map(\.reason) == [.duplicate, .duplicate])
        scenario.remove(first, by: .client(client))
        #expect(
            scenario.center.leaks(limit: 9, at: scenario.time, visible: all).map(\.observer.serial)
                == [third])
    }

    @Test("O8: leaks have pages, at each page limit", arguments: 1...4)
    func leakPages(limit: Int) {
        var scenario = Scenario()
        let clients = [scenario.connect(), scenario.connect()]
        for number in 0..<8 { scenario.observe("a", by: clients[number % 2]) }
        var serials: [UInt64] = []
        var cursor: UInt64? = 0
        while let after = cursor {
            let page = scenario.center.leaks(
                after: after, limit: limit, at: scenario.time, visible: all)
            #expect(page.rows.count <= limit)
            serials += page.rows.map(\.observer.serial)
            cursor = page.next
        }
        #expect(serials == [3, 4, 5, 6, 7, 8])
    }

    @Test("O8: the unmatched report tells names nobody matched, and observers of names not posted")
    func unmatched() {
        var scenario = Scenario()
        let client = scenario.connect()
        scenario.observe("Door", by: client)
        scenario.observe("a", "o", by: client)
        scenario.observe(nil, by: client)
        scenario.remove(3, by: .broker)
        for name in ["door", "a", "door"] { scenario.post(name) }
        let report = scenario.center.unmatched(limit: 9, visible: all)
        #expect(
            report.postedNeverObserved == [
                UnobservedName(name: bytes("door"), postCount: 2),
                UnobservedName(name: bytes("a"), postCount: 1),
            ])
        #expect(report.observedNeverPosted.map(\.serial) == [1])
        scenario.post("a", "o")
        let second = scenario.center.unmatched(limit: 9, visible: all)
        #expect(second.postedNeverObserved.map(\.name) == [bytes("door")])
    }

    @Test("O8: the unmatched report keeps its limit", arguments: [1, 2, 3])
    func unmatchedLimit(limit: Int) {
        var scenario = Scenario()
        let client = scenario.connect()
        for number in 1...3 {
            scenario.post("p\(number)")
            scenario.observe("o\(number)", by: client)
        }
        let report = scenario.center.unmatched(limit: limit, visible: all)
        #expect(report.postedNeverObserved.count == limit)
        #expect(report.observedNeverPosted.count == limit)
    }

    @Test("O8, C17: names without an observer are remembered up to their limit")
    func unobservedNames() {
        var limits = CenterLimits()
        limits.unobservedNameLimit = 2
        var scenario = Scenario(limits: limits)
        for name in ["a", "b", "c"] { scenario.post(name) }
        let report = scenario.center.unmatched(limit: 9, visible: all)
        #expect(report.postedNeverObserved.map(\.name) == [bytes("b"), bytes("c")])
    }
}
