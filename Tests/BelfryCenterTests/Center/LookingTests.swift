import Testing

@testable import BelfryCenter

@Suite("NotificationCenter: looking inside (rule O8)")
struct LookingTests {
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
        #expect(rows.map(\.namedCount) == [2, 0, 0])
        // The observer without a name gets what is posted to each of them.
        #expect(rows.map(\.observerCount) == [3, 1, 1])
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
