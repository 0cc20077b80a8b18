import Testing

@testable import BelfryCenter

@Suite("NotificationCenter: rows by a part of their texts, and in an order (rule O8)")
struct SurveyTests {
    /// Six observers of three clients, with other numbers each.
    private func scenario() -> Scenario {
        var scenario = Scenario()
        let clients = (0..<3).map { _ in scenario.connect() }
        for (place, name) in ["Mail", "order", "Order", "Sale", "Sale", "x"].enumerated() {
            scenario.milliseconds += 1_000
            scenario.observe(name, place == 3 ? "shop" : nil, by: clients[place % 3], .hold)
        }
        scenario.suspend(clients[0])
        for _ in 0..<3 { scenario.post("Sale", "shop") }
        for _ in 0..<2 { scenario.post("Mail") }
        scenario.post("x")
        return scenario
    }

    private func observers(
        _ scenario: Scenario, scanLimit: Int = .max, _ change: (inout ObserverQuery) -> Void
    ) -> Page<ObserverRow> {
        scenario.center.observers(
            matching: ObserverQuery(change), scanLimit: scanLimit, visible: all)
    }

    @Test(
        "a part of name, object, principal or id is found, the letters of ASCII in either case",
        arguments: [
            ("rder", [2, 3]), ("ORD", [2, 3]), ("shop", [4]), ("o5", [5]),
            ("nony", [1, 2, 3, 4, 5, 6]),
            ("sale", [4, 5]), ("salex", []), ("mail", [1]),
        ] as [(String, [UInt64])])
    func contained(text: String, expected: [UInt64]) {
        let page = observers(scenario()) { $0.contained = bytes(text) }
        #expect(page.rows.map(\.serial) == expected)
        #expect(page.total == expected.count && page.unseenCount == 0 && page.next == nil)
    }

    @Test(
        "observers stand in the order that is asked for",
        arguments: [
            (.name, [1, 3, 4, 5, 2, 6]), (.age, [1, 2, 3, 4, 5, 6]), (.newest, [6, 5, 4, 3, 2, 1]),
            (.held, [4, 1, 2, 3, 5, 6]), (.delivered, [5, 6, 1, 2, 3, 4]),
            (.dropped, [1, 2, 3, 4, 5, 6]),
        ] as [(RowOrder, [UInt64])])
    func observerOrder(order: RowOrder, expected: [UInt64]) {
        let scenario = scenario()
        let page = observers(scenario) { $0.order = order }
        #expect(page.rows.map(\.serial) == expected)
        let first = observers(scenario) { ($0.order, $0.limit) = (order, 2) }
        #expect(first.rows.map(\.serial) == Array(expected.prefix(2)))
        #expect(first.total == 6 && first.next == nil)
        // The next pages go on behind it, to the last.
        let rest = observers(scenario) { ($0.order, $0.last) = (order, first.last) }
        #expect(rest.rows.map(\.serial) == Array(expected.dropFirst(2)))
        #expect(rest.total == 6 && rest.last == nil)
    }

    @Test("an exact page of an order is the last one, and one of long texts is not")
    func orderEnds() {
        var scenario = scenario()
        #expect(observers(scenario) { ($0.order, $0.limit) = (.name, 6) }.last == nil)
        #expect(observers(scenario) { ($0.order, $0.limit) = (.name, 5) }.last != nil)
        let client = scenario.connect()
        for number in 0..<300 {
            scenario.observe("\(number)" + String(repeating: "é", count: 250), by: client)
        }
        var serials: Set<UInt64> = []
        var (pageCount, last): (Int, RowKey?) = (0, nil)
        repeat {
            let page = observers(scenario) {
                ($0.order, $0.limit, $0.last) = (.name, 1_000, last)
            }
            serials.formUnion(page.rows.map(\.serial))
            (pageCount, last) = (pageCount + 1, page.last)
        } while last != nil
        #expect(serials.count == 306 && pageCount > 1)
    }

    @Test("an order and a part of a text go together")
    func both() {
        let page = observers(scenario()) {
            $0.contained = bytes("SALE")
            $0.order = .newest
        }
        #expect(page.rows.map(\.serial) == [5, 4] && page.total == 2)
    }

    @Test("a part of a text without an order has pages, each with the total")
    func pages() {
        let scenario = scenario()
        var serials: [UInt64] = []
        var cursor: UInt64? = 0
        while let after = cursor {
            let page = scenario.center.observers(
                matching: ObserverQuery(after: after, limit: 4) { $0.contained = bytes("anon") },
                visible: all)
            serials += page.rows.map(\.serial)
            #expect(page.total == 6)
            cursor = page.next
        }
        #expect(serials == [1, 2, 3, 4, 5, 6])
    }

    @Test("clients and channels have orders of their own")
    func others() {
        let center = scenario().center
        func clients(_ order: RowOrder) -> [UInt64] {
            center.clients(matching: ObserverQuery { $0.order = order }).rows.map(\.id)
        }
        #expect(clients(.newest) == [3, 2, 1] && clients(.age) == [1, 2, 3])
        #expect(clients(.held) == [1, 2, 3] && clients(.name) == [1, 2, 3])
        func channels(_ change: (inout ObserverQuery) -> Void) -> [String] {
            center.channels(matching: ObserverQuery(change), visible: all).rows.map {
                String(decoding: $0.name, as: UTF8.self)
            }
        }
        #expect(channels { $0.order = .name } == ["Mail", "Order", "Sale", "order", "x"])
        #expect(channels { $0.order = .posts } == ["Sale", "Mail", "x", "Order", "order"])
        #expect(channels { $0.order = .observers }.first == "Sale")
        #expect(channels { $0.contained = bytes("ORDER") }.sorted() == ["Order", "order"])
        let found = center.clients(matching: ObserverQuery { $0.contained = bytes("C2") })
        #expect(found.rows.map(\.id) == [2] && found.total == 1)
    }

    /// Two responders with an ask each, four values, three entries and two timers.
    private func furnished() -> Scenario {
        var scenario = Scenario()
        let client = scenario.connect()
        for (place, object) in ["b", "A"].enumerated() {
            scenario.milliseconds += 1_000
            scenario.respond(object, ["go"], by: client)
            scenario.ask(object, "go")
            scenario.put(object, "", place == 0 ? #"{"long":"text"}"# : "{}")
        }
        scenario.milliseconds += 1_000
        scenario.put("b", "x", "1")
        for text in ["c/w", "a/v", "b"] { scenario.say(text, style: .asap, modes: ["night"]) }
        for text in ["f", "d/W"] { scenario.later(text, after: 60_000) }
        return scenario
    }

    @Test("responders, asks, values and the queue have orders of their own, and parts of texts")
    func everyList() {
        let center = furnished().center
        func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }
        func responders(_ change: (inout ObserverQuery) -> Void) -> [String] {
            center.responders(matching: ObserverQuery(change), visible: all).rows.map {
                text($0.observer.object ?? [])
            }
        }
        #expect(responders { $0.order = .object } == ["A", "b"])
        #expect(responders { $0.order = .newest } == ["A", "b"])
        #expect(responders { $0.order = .age } == ["b", "A"])
        #expect(responders { $0.contained = bytes("O2") } == ["A"])
        func asks(_ change: (inout ObserverQuery) -> Void) -> [String] {
            center.asks(matching: ObserverQuery(change), visible: all).rows.map { text($0.object) }
        }
        #expect(
            asks { $0.order = .object } == ["A", "b"] && asks { $0.order = .age } == ["b", "A"])
        #expect(asks { $0.order = .newest } == ["A", "b"])
        #expect(asks { $0.contained = bytes("GO") }.count == 2)
        func values(_ change: (inout ObserverQuery) -> Void) -> [String] {
            center.values(matching: ObserverQuery(change), visible: all).rows.map {
                text($0.object)
            }
        }
        #expect(values { $0.order = .object } == ["A", "b"])
        #expect(values { $0.order = .newest } == ["b", "A"])
        #expect(values { $0.order = .bytes } == ["b", "A"])
        #expect(values { $0.contained = bytes("B") } == ["b"])
        #expect(values { ($0.contained, $0.object) = (bytes("B"), bytes("A")) } == [])
        func queue(_ change: (inout ObserverQuery) -> Void) -> [String] {
            center.queue(matching: ObserverQuery(change), visible: all).rows.map {
                text($0.content.nameText)
            }
        }
        #expect(queue { $0.order = .name } == ["a", "b", "c", "d", "f"])
        #expect(queue { $0.contained = bytes("w") } == ["c", "d"])
        #expect(queue { ($0.contained, $0.isWaiting) = (bytes("w"), true) } == ["d"])
        #expect(queue { ($0.order, $0.isWaiting) = (.name, false) } == ["a", "b", "c"])
        #expect(Set(queue { $0.order = .age }.prefix(3)) == ["a", "b", "c"])
    }

    @Test("every list tells its total where all is seen, and what a look left")
    func everyTotal() {
        let center = furnished().center
        let (query, sorted) = (ObserverQuery(), ObserverQuery { $0.order = .age })
        func totals(_ visible: @escaping NotificationCenter.Visibility) -> [Int?] {
            [
                center.responders(matching: query, visible: visible).total,
                center.asks(matching: query, visible: visible).total,
                center.values(matching: query, visible: visible).total,
                center.queue(matching: query, visible: visible).total,
                center.queue(matching: ObserverQuery { $0.isWaiting = true }, visible: visible)
                    .total,
            ]
        }
        #expect(totals(all) == [2, 2, 2, 5, 2])
        #expect(totals { _, object in object != nil } == [nil, nil, nil, nil, nil])
        let queue = center.queue(matching: sorted, scanLimit: 4, visible: all)
        #expect(queue.total == 4 && queue.unseenCount == 1)
        let asks = center.asks(matching: sorted, scanLimit: 1, visible: all)
        #expect(asks.total == 1 && asks.unseenCount == 1)
    }

    @Test("a look says how many rows it did not go through")
    func scanLimit() {
        let page = observers(scenario(), scanLimit: 4) { $0.order = .newest }
        #expect(page.rows.map(\.serial) == [4, 3, 2, 1])
        #expect(page.total == 4 && page.unseenCount == 2)
        let exact = observers(scenario(), scanLimit: 6) { $0.order = .newest }
        #expect(exact.total == 6 && exact.unseenCount == 0)
    }

    @Test("long texts end a search, which says so")
    func searchLimit() {
        var scenario = Scenario()
        let client = scenario.connect()
        let name = String(repeating: "é", count: 255)
        for _ in 0..<5_000 { scenario.observe(name, name, by: client, .hold) }
        let page = observers(scenario) { $0.contained = bytes("nowhere") }
        #expect(page.total == 0 && page.unseenCount > 0 && page.unseenCount < 5_000)
    }

    @Test("nobody counts what a caller may not see")
    func visibility() {
        let center = scenario().center
        let query = ObserverQuery { $0.order = .name }
        let page = center.observers(matching: query) { name, _ in name == bytes("Sale") }
        #expect(page.rows.map(\.serial) == [4, 5] && page.total == 2)
        let plain = center.observers(matching: ObserverQuery()) { name, _ in name != nil }
        #expect(plain.rows.count == 6 && plain.total == nil)
        #expect(center.observers(matching: ObserverQuery(), visible: all).total == 6)
    }

    @Test("the first rows are those of a whole sort", arguments: 0..<20)
    func firstRows(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        let limit = Int.random(in: 1...20, using: &generator)
        var first = FirstRows<UInt64>(limit: limit)
        var keys: [RowKey] = []
        for row in 0..<UInt64.random(in: 0...200, using: &generator) {
            let key = RowKey(number: Int64.random(in: -5...5, using: &generator), row: row)
            keys.append(key)
            first.offer(key, row)
        }
        let rows = first.rows()
        #expect(first.hasMore == (keys.count > limit))
        #expect(rows.map(\.item) == keys.sorted().prefix(limit).map(\.row))
    }

    @Test("a search finds what a plain one finds", arguments: 0..<20)
    func search(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<200 {
            func text(_ range: ClosedRange<Int>) -> String {
                let count = Int.random(in: range, using: &generator)
                return String(
                    (0..<count).map { _ in "abAB".randomElement(using: &generator) ?? "a" })
            }
            let (wanted, other) = (text(1...5), text(0...20))
            var search = TextSearch(for: bytes(wanted), byteLimit: 1_000)
            let isThere = other.lowercased().contains(wanted.lowercased())
            #expect(search.finds(in: [bytes(other)]) == isThere, "\(wanted) in \(other)")
        }
    }
}
