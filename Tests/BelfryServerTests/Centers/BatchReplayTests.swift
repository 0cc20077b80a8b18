import Testing

@testable import BelfryServer

// What registrations in a batch replay stays behind the array of its answers (rule A7).

@Suite("A batch of registrations that begin in the past", .timeLimit(.minutes(1)))
struct BatchReplayTests {
    private static let beginnings = [
        #""last":2"#, #""since":2"#, #""lastEach":2"#, #""since":"oldest""#,
    ]
    /// A call behind the registrations; the last one posts what they observe.
    private static let thirdCalls = [
        nil, #""ping","params":{}"#,
        #""removeObserver","params":{"name":"b"}"#,
        #""setSuspended","params":{"suspended":false}"#,
        #""post","params":{"name":"a","userInfo":{"n":5}}"#,
    ]

    /// The methods of messages with `n` of their notifications; an array of answers is its count.
    private func told(_ peer: SocketPeer) throws -> [String] {
        try peer.takeMessages().map { message in
            if message["method"].text == nil { return "\(message.elements.count) answers" }
            let info = message["params"]["userInfo"]
            return "\(message["method"].text ?? "?") \(info["n"].int ?? -1)"
        }
    }

    /// Calls in one frame, with the ids 1, 2 and so on.
    private func batch(_ calls: [String]) -> String {
        let elements = calls.enumerated().map { place, call in
            #"{"jsonrpc":"2.0","id":\#(place + 1),"method":\#(call)}"#
        }
        return "[\(elements.joined(separator: ","))]"
    }

    private func registrations(_ beginning: String, _ selectors: [String]) -> [String] {
        selectors.map {
            #""addObserver","params":{"name":"a",\#(beginning),"selector":"\#($0)"}"#
        }
    }

    @Test(
        "A7: the array comes first, then what each replays, then what is posted",
        arguments: beginnings, [true, false])
    func replays(beginning: String, isArchived: Bool) throws {
        if !isArchived, !beginning.contains(":2") || beginning.contains("last") { return }
        for (loopCount, call) in Self.thirdCalls.flatMap({ call in [1, 2].map { ($0, call) } }) {
            let stage = try Stage.archiving(Scene(door: .http, loopCount: loopCount))
            if isArchived { try stage.archive("a") }
            try stage.post("a", count: 4)
            let calls = registrations(beginning, ["s0", "s1"]) + (call.map { [$0] } ?? [])
            try stage.x.send(batch(calls))
            var frames = try told(stage.x)
            try #require(!frames.isEmpty)
            #expect(frames.removeFirst() == "\(calls.count) answers", "\(call ?? "")")
            let first = beginning.contains("oldest") ? 1 : 3
            let numbers = first...(call?.contains("post") == true ? 5 : 4)
            for selector in ["s0", "s1"] {
                let own = frames.filter { $0.hasPrefix(selector) }
                #expect(own == numbers.map { "\(selector) \($0)" }, "\(call ?? "")")
            }
            #expect(frames.count == 2 * numbers.count)
            #expect(try stage.broker.get("/v1/clients").json["clients"][0]["state"] == "live")
            try stage.post("a", userInfo: #"{"n":9}"#)
            #expect(try told(stage.x) == ["s0 9", "s1 9"])
        }
    }

    @Test("V6: a present value and a replay wait for one array, whatever follows them")
    func values() throws {
        let stage = try Stage.archiving()
        try stage.archive("a")
        try stage.post("a", count: 2)
        _ = try stage.y.result("setValue", #"{"object":"o","keyPath":"v","value":1}"#)
        let calls =
            [#""addObserver","params":{"object":"o","keyPath":"v","selector":"v"}"#]
            + registrations(#""last":1"#, ["s0"]) + [#""removeObserver","params":{"name":"b"}"#]
        try stage.x.send(batch(calls))
        let told = try told(stage.x)
        #expect(told == ["3 answers", "s0 2", "v -1"])
        let behind = try stage.broker.webSocket()
        try behind.send(batch([calls[0], calls[2]]))
        #expect(try self.told(behind) == ["2 answers", "v -1"])
    }

    @Test("observers beside a replay lose nothing while the array is made")
    func neighbors() throws {
        let stage = try Stage.archiving()
        try stage.archive("a")
        try stage.post("a", count: 2)
        let post = #""post","params":{"name":"b","object":"o","userInfo":{"n":7}}"#
        let drop =
            #""addObserver","params":{"name":"b","selector":"d","suspensionBehavior":"drop"}"#
        try stage.x.send(
            batch(
                registrations(#""last":1"#, ["s0"])
                    + [#""addObserver","params":{"name":"b","selector":"c"}"#, drop, post, post]))
        let told = try told(stage.x)
        #expect(told == ["5 answers", "s0 2", "c 7", "d 7", "c 7", "d 7"])
    }

    @Test("with a store the replay follows the array, which waits for the commit")
    func stored() throws {
        let (broker, store) = try Broker.durable { $0.anonymousGrants = Stage.allGrants }
        for number in 1...2 { _ = try broker.post(#"{"name":"a","userInfo":{"n":\#(number)}}"#) }
        let x = try broker.webSocket()
        try x.send(batch(registrations(#""since":0"#, ["s0", "s1"])))
        #expect(try told(x) == [])
        while store.waitingCount > 0 { try store.commit(in: broker) }
        #expect(try told(x) == ["2 answers", "s0 1", "s1 1", "s0 2", "s1 2"])
    }

    @Test("a client that goes before the array is sent reads on when it is back")
    func leaving() throws {
        let (broker, store) = try Broker.durable { $0.anonymousGrants = Stage.allGrants }
        let put = try broker.http()
        try put.send(
            HTTPPeer.text(
                "PUT", "/v1/archives/a", #"{"stored":false}"#,
                fields: ["Content-Type: application/json"]))
        while store.waitingCount > 0 { try store.commit(in: broker) }
        for number in 1...2 { _ = try broker.post(#"{"name":"a","userInfo":{"n":\#(number)}}"#) }
        let x = try broker.webSocket()
        try x.send(batch(registrations(#""last":2"#, ["s0", "s1"])))
        try x.cut()
        while store.waitingCount > 0 { try store.commit(in: broker) }
        _ = try broker.post(#"{"name":"a","userInfo":{"n":3}}"#)
        let back = try broker.webSocket()
        try back.send(back.call("resume", #"{"session":"\#(x.session)"}"#))
        while store.waitingCount > 0 { try store.commit(in: broker) }
        let frames = try told(back).filter { $0.hasPrefix("s") }
        #expect(frames.filter { $0.hasPrefix("s0") } == ["s0 1", "s0 2", "s0 3"])
        #expect(frames.filter { $0.hasPrefix("s1") } == ["s1 1", "s1 2", "s1 3"])
    }
}
