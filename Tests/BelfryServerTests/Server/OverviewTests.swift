import BelfryAccess
import BelfryLoop
import Testing

@testable import BelfryServer

@Suite("GET /v1/overview: how the broker stands")
struct OverviewTests {
    private func overview(_ broker: Broker, since number: Int = 0) throws -> Value {
        let answer = try broker.get("/v1/overview?since=\(number)")
        try #require(answer.status == 200)
        return answer.json
    }

    /// Lets much happen, on all loops.
    private func act(_ broker: Broker, loop: Int) throws {
        let socket = try broker.webSocket(loop: loop)
        try socket.observe("a")
        _ = try socket.result(
            "addObserver", #"{"name":"b","selector":"b","suspensionBehavior":"drop"}"#)
        for name in ["a", "b", "c"] { try broker.post(name: name, loop: loop) }
        try socket.result("setSuspended", #"{"suspended":true}"#)
        try broker.post(name: "b")
        let mailbox = try broker.post(
            #"{"name":"a","suspensionBehavior":"hold"}"#, target: "/v1/observers")
        let token = try #require(mailbox.json["token"].text)
        let number = try #require(try broker.post(name: "a", loop: loop)["seq"].int)
        _ = try broker.get("/v1/observers/\(token)/notifications?after=\(number)")
        _ = try broker.request("POST", "/v1/responders/nobody/a", "", loop: loop)
        _ = try broker.request("PUT", "/v1/values/settings/theme", #""dark""#, loop: loop)
        _ = try broker.request("POST", "/v1/channels/late?after=60", "", loop: loop)
        _ = try broker.events("/v1/events?name=a", loop: loop)
    }

    @Test(
        "each figure is that of /metrics, and so is each counter of the last point",
        arguments: [1, 2])
    func metrics(loopCount: Int) throws {
        let broker = try Broker(loopCount: loopCount)
        try act(broker, loop: loopCount - 1)
        try broker.advance(by: .seconds(4))
        let overview = try overview(broker)
        let page = try MetricsPage(broker)
        func sum(_ metric: String) -> Int {
            let samples = page.samples(metric).filter {
                $0.key == metric[...] || $0.key.hasPrefix(metric + "{")
            }
            return samples.values.compactMap { Int($0) }.reduce(0, +)
        }
        let last = try #require(overview["series"]["recent"]["points"].elements.last?.elements)
        let names = overview["series"]["counters"].elements.compactMap(\.text)
        #expect(names == CounterHistory.counters.map(\.name))
        for (counter, value) in zip(CounterHistory.counters, last.dropFirst(2)) {
            // The looks themselves come over connections.
            let count = counter.name == "connections" ? value.int : sum(counter.metric)
            #expect(value.int == count, "\(counter.name)")
            #expect(value != 0, "\(counter.name)")
        }
        for (part, member, metric) in [
            ("observers", "count", "belfry_observers"), ("values", "bytes", "belfry_value_bytes"),
            ("timers", "count", "belfry_timers"), ("timers", "bytes", "belfry_timer_bytes"),
            ("held", "count", "belfry_held_notifications"), ("centers", "count", "belfry_centers"),
        ] {
            #expect(overview[part][member].int == sum(metric), "\(part).\(member)")
        }
        for metric in Overview.metrics { #expect(MetricGroup.byName[metric] != nil, "\(metric)") }
    }

    @Test("clients are counted by what they are told over, and by their state", arguments: [1, 2])
    func clients(loopCount: Int) throws {
        let broker = try Broker(loopCount: loopCount)
        let socket = try broker.webSocket(loop: loopCount - 1)
        let other = try broker.webSocket(loop: loopCount - 1)
        let stream = try broker.events("/v1/events?name=a", loop: loopCount - 1)
        _ = try broker.post(#"{"name":"a"}"#, target: "/v1/observers")
        try socket.observe("a")
        try socket.result("setSuspended", #"{"suspended":true}"#)
        try expect(
            [
                "websocket": 2, "events": 1, "mailbox": 1, "disconnected": 1, "slow": 0, "asked": 1,
                "live": 2,
            ],
            broker)
        stream.http.peer.close()
        other.http.peer.close()
        socket.http.peer.close()
        try broker.crank()
        try expect(
            [
                "websocket": 1, "events": 0, "mailbox": 1, "disconnected": 2, "slow": 0, "asked": 0,
                "live": 0,
            ],
            broker)
    }

    private func expect(_ counts: [String: Int], _ broker: Broker) throws {
        let clients = try overview(broker)["clients"]
        #expect(clients == .object(counts.mapValues { .number(Double($0)) }))
    }

    @Test("it tells version, times, readiness and limits, and what there is not as null")
    func state() throws {
        let broker = try Broker { $0.observerLimit = 7 }
        let overview = try overview(broker)
        #expect(overview["version"] == .text(Server.version))
        #expect(overview["ready"] == .boolean(true) && overview["draining"] == .boolean(false))
        #expect(overview["observers"]["limit"] == 7)
        #expect(overview["store"] == .null && overview["certificate"] == .null)
        #expect(overview["asOf"].text?.count == 24 && overview["startedAt"].text?.count == 24)
    }

    @Test("a point is noted each 4 s, and only those after one that is known are told")
    func points() throws {
        let broker = try Broker()
        let first = try overview(broker)["series"]["recent"]
        #expect(first["step"] == 4)
        #expect(first["points"].elements.map { $0[0] } == [1])
        try broker.advance(by: .seconds(4))
        try broker.advance(by: .seconds(4))
        let points = try overview(broker, since: 1)["series"]["recent"]["points"].elements
        #expect(points.map { $0[0] } == [2, 3])
        #expect(points.allSatisfy { $0.elements.count == 10 })
        #expect((points[1][1].int ?? 0) - (points[0][1].int ?? 0) == 4_000)
        #expect(try overview(broker, since: 3)["series"]["recent"]["points"] == .array([]))
    }

    @Test("150 points are kept of each 4 s, and 288 of each 5 min; older ones go")
    func limits() {
        var history = CounterHistory()
        for number in 1...150 { history.note([UInt64(number)], at: Int64(number)) }
        #expect(history.recent.map(\.number) == Array(1...150))
        history.note([151], at: 151)
        #expect(history.recent.map(\.number) == Array(2...151))
        #expect(history.day.map(\.number) == [1, 76, 151])
        for number in 152...(287 * 75 + 1) { history.note([UInt64(number)], at: Int64(number)) }
        #expect(history.day.count == 288 && history.day[0].number == 1)
        for number in 1...75 { history.note([UInt64(number)], at: 0) }
        #expect(history.day.count == 288 && history.day[0].number == 76)
    }

    @Test("it needs `inspect` in some center, as /metrics does")
    func access() throws {
        let some = Grants([Grant([.inspect], names: [Pattern("Mail")], centers: [Pattern("team")])])
        #expect(try Broker { $0.anonymousGrants = some }.get("/v1/overview").status == 200)
        let none = Grants([Grant(.all.subtracting(.inspect))])
        let broker = try Broker { $0.anonymousGrants = none }
        #expect(try broker.get("/v1/overview").problem == "forbidden")
        #expect(
            try broker.get("/v1/overview", fields: ["Origin: https://evil.example"]).status == 403)
    }

    @Test(
        "a position that is none is refused",
        arguments: ["since=-1", "since=", "since=x", "sinc=1"])
    func refused(query: String) throws {
        let answer = try Broker().get("/v1/overview?\(query)")
        #expect(answer.problem == "invalid-fields")
        #expect(answer.place == String(query.prefix { $0 != "=" }))
    }
}
