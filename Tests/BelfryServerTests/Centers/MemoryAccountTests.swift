import BelfryCenter
import BelfryLoop
import Synchronization
import Testing

@testable import BelfryServer

@Suite("The account of memory")
struct MemoryAccountTests {
    /// The memory of a kind in all centers of a broker, counted anew.
    private static func kept(_ kind: KeptKind, by broker: Broker) -> Int {
        broker.nodes.reduce(0) { sum, node in
            (0..<node.server.host.centers.count).reduce(sum) { sum, position in
                sum + node.server.host.centers.kept(kind, at: position)
            }
        }
    }

    /// The kinds of which the account is not what all centers keep.
    private static func wrongKinds(_ broker: Broker) -> [String] {
        for node in broker.nodes { node.server.accountForAllKept() }
        return
            KeptKind.allCases.filter { broker.shared.totals[$0] != kept($0, by: broker) }
            .map { "\($0): \(broker.shared.totals[$0]), not \(kept($0, by: broker))" }
    }

    @Test("whatever happens, the account is the sum of what the centers keep", arguments: [1, 2])
    func sum(loopCount: Int) throws {
        let broker = try Broker(loopCount: loopCount)
        let socket = try broker.webSocket("/v1/centers/a/ws")
        for number in 0..<40 {
            try socket.observe("n\(number % 7)", "o\(number)")
            _ = try broker.post(
                #"[{"name":"n\#(number)"},{"name":"q","style":"asap","modes":["never"]}]"#,
                target: "/v1/centers/c\(number % 5)/notifications")
        }
        #expect(Self.wrongKinds(broker) == [])
        _ = try socket.result("removeObserver", #"{"name":"n3"}"#)
        _ = try broker.request("DELETE", "/v1/centers/c1/queue?name=q&coalesce=name")
        #expect(Self.wrongKinds(broker) == [])
        #expect(broker.shared.totals[.observers] > 0 && broker.shared.totals[.queue] > 0)
    }

    @Test("observers: up to their memory they are registered, past it 503 names the option")
    func observers() throws {
        let broker = try Broker { $0.memory.observers = 40_000 }
        let socket = try broker.webSocket()
        var count = 0
        while broker.shared.totals[.observers] < 40_000, count < 1_000 {
            try socket.observe("n", "o\(count)")
            count += 1
        }
        #expect((20...200).contains(count))
        let problem = try socket.problem("addObserver", #"{"name":"n"}"#)
        #expect(problem["status"] == 503)
        #expect(problem["detail"].text?.contains("--observer-memory") == true)
        let response = try broker.post(#"{"name":"n"}"#, target: "/v1/observers")
        #expect(response.status == 503 && response.problem == "overloaded")
        // A removal makes room.
        _ = try socket.result("removeObserver", #"{"name":"n"}"#)
        try socket.observe("n")
    }

    @Test("V18: an observer of a value is refused where the queue's memory is full")
    func observersOfValues() throws {
        let broker = try Broker { $0.memory.queue = 60_000 }
        let socket = try broker.webSocket()
        let path = (0..<15).map { "key\($0)" }.joined(separator: ".")
        func fields(_ number: Int) -> String {
            #"{"object":"v","keyPath":"n\#(number).\#(path)"}"#
        }
        var count = 0
        while broker.shared.totals[.queue] < 60_000, count < 1_000 {
            _ = try socket.result("addObserver", fields(count))
            count += 1
        }
        #expect((5...40).contains(count))
        let problem = try socket.problem("addObserver", fields(count))
        #expect(problem["status"] == 503)
        #expect(problem["detail"].text?.contains("--queue-memory") == true)
        let mailbox = try broker.post(fields(count), target: "/v1/observers")
        #expect(mailbox.status == 503 && mailbox.problem == "overloaded")
        try socket.observe("n")
        #expect(Self.wrongKinds(broker) == [])
        // A removal makes room.
        _ = try socket.result("removeObserver", #"{"object":"v"}"#)
        _ = try socket.result("addObserver", fields(0))
    }

    @Test("V18: observers of values of one turn count at once", .withinOneTurn)
    func observersOfValuesOfOneTurn() throws {
        let broker = try Broker { $0.memory.queue = 60_000 }
        let socket = try broker.webSocket()
        let calls = (0..<1_000).map {
            #"{"jsonrpc":"2.0","id":\#($0),"method":"addObserver","params":"#
                + #"{"object":"v","keyPath":"n\#($0).a.b.c.d.e.f.g.h.i"}}"#
        }
        try socket.send("[" + calls.joined(separator: ",") + "]")
        #expect(broker.shared.totals[.queue] < 80_000)
    }

    @Test("V18: a new place that ends is refused where the queue's memory is full")
    func places() throws {
        let broker = try Broker { $0.memory.queue = 60_000 }
        let peer = try broker.http()
        func put(_ number: Int) throws -> Response {
            try peer.request(
                "PUT", "/v1/values/v/n\(number).a.b.c.d.e.f.g?ttl=60", "1",
                fields: ["Content-Type: application/json"])
        }
        var count = 0
        while try put(count).status == 201, count < 1_000 { count += 1 }
        #expect((10...60).contains(count))
        #expect(try put(count).problem == "values-full")
        #expect(try put(0).status == 200)
        #expect(Self.wrongKinds(broker) == [])
    }

    @Test("many registrations of one turn count at once, not only when it ends", .withinOneTurn)
    func observersOfOneTurn() throws {
        let broker = try Broker { $0.memory.observers = 40_000 }
        let socket = try broker.webSocket()
        let calls = (0..<1_000).map {
            #"{"jsonrpc":"2.0","id":\#($0),"method":"addObserver","params":{"name":"n"}}"#
        }
        try socket.send("[" + calls.joined(separator: ",") + "]")
        #expect(broker.shared.totals[.observers] < 50_000)
    }

    @Test(
        "rings, fates and names are forgotten, the oldest of the center that keeps most first",
        arguments: [KeptKind.replay, .fates, .channels])
    func trimmed(kind: KeptKind) throws {
        let limit = 300_000
        let broker = try Broker { $0[keyPath: MemoryKind(kind).limit] = limit }
        let text = String(repeating: "x", count: 200)
        _ = try broker.post(#"{"name":"first"}"#, target: "/v1/centers/small/notifications")
        for center in 0..<3 {
            for batch in 0..<4 {
                let posts = (0..<500).map {
                    #"{"name":"\#(batch)-\#($0)\#(text.prefix(60))","userInfo":{"t":"\#(text)"}}"#
                }
                let response = try broker.post(
                    "[" + posts.joined(separator: ",") + "]",
                    target: "/v1/centers/c\(center)/notifications")
                #expect(response.status == 200)
            }
        }
        // A request more, so that the turn behind the last one has been.
        _ = try broker.get("/livez")
        #expect(broker.shared.totals[kind] <= limit)
        #expect(broker.shared.totals[kind] > limit / 4)
        #expect(Self.wrongKinds(broker) == [])
        let small = try #require(
            broker.nodes[0].position(of: "small"))
        #expect(broker.nodes[0].trimmableCount(of: kind, at: small) == 1)
    }

    @Test("tombstones and keys are forgotten too")
    func tombstonesAndKeys() throws {
        let broker = try Broker {
            $0.memory.tombstones = 100_000
            $0.memory.keys = 100_000
        }
        let socket = try broker.webSocket()
        let peer = try broker.http()
        for number in 0..<1_500 {
            try socket.observe("tombstone\(number)")
            _ = try socket.result("removeObserver", #"{"name":"tombstone\#(number)"}"#)
            let response = try peer.request(
                "POST", "/v1/channels/k", "{}",
                fields: ["Content-Type: application/json", "Idempotency-Key: \"\(number)\""])
            #expect(response.status == 200)
        }
        _ = try broker.get("/livez")
        #expect(broker.shared.totals[.tombstones] <= 100_000)
        #expect(broker.shared.totals[.keys] <= 100_000)
        #expect(broker.nodes[0].trimmableCount(of: .keys, at: 0) > 50)
        #expect(Self.wrongKinds(broker) == [])
    }

    @Test("tombstones of many long names are forgotten as soon as they are too many bytes")
    func namesOfTombstones() throws {
        let broker = try Broker { $0.memory.tombstones = 1_000_000 }
        let socket = try broker.webSocket()
        let text = String(repeating: "x", count: 200)
        for number in 0..<300 {
            let names = (0..<32).map { #""\#(number).\#($0)\#(text)""# }.joined(separator: ",")
            _ = try socket.result("addObserver", #"{"names":[\#(names)],"object":"o"}"#)
            _ = try socket.result("removeObserver", #"{"object":"o"}"#)
            // One turn may go past it by what it reads.
            #expect(broker.shared.totals[.tombstones] <= 1_050_000)
        }
        #expect(broker.shared.totals[.tombstones] > 700_000)
        #expect((60...120).contains(broker.nodes[0].trimmableCount(of: .tombstones, at: 0)))
        #expect(Self.wrongKinds(broker) == [])
    }

    @Test("what is held goes by its cost in memory, the oldest first, with a gap")
    func held() throws {
        let broker = try Broker { $0.memory.held = 200_000 }
        let mailbox = try broker.post(
            #"{"name":"h","suspensionBehavior":"hold","holdLimit":10000}"#, target: "/v1/observers")
        let token = mailbox.json["token"].text ?? ""
        let peer = try broker.http()
        for _ in 0..<2_000 {
            #expect(try peer.request("POST", "/v1/channels/h", "").status == 200)
        }
        _ = try broker.get("/livez")
        #expect(broker.shared.totals[.held] <= 200_000)
        let page = try broker.get("/v1/observers/\(token)/notifications?limit=1").json
        #expect(page["gaps"][0]["reason"] == "overflow")
        #expect(page["notifications"].elements.count == 1)
    }

    @Test(
        "far too much that is held goes in shares, and rests while the store is behind",
        .withinOneTurn)
    func heldInShares() throws {
        let (broker, store) = try Broker.durable()
        let mailbox = try broker.http()
        mailbox.peer.send(
            HTTPPeer.text(
                "POST", "/v1/observers",
                #"{"name":"h","suspensionBehavior":"hold","holdLimit":100}"#
            ).utf8)
        try broker.crank()
        try store.commit(in: broker)
        let text = #"{"k":"\#(String(repeating: "x", count: 64 << 10))"}"#
        let poster = try broker.http()
        for _ in 0..<40 {
            poster.peer.send(HTTPPeer.text("POST", "/v1/channels/h", text).utf8)
            try broker.crank()
            try store.commit(in: broker)
        }
        func heldByteCount() -> Int { broker.shared.totals.heldByteCount.load(ordering: .relaxed) }
        let before = heldByteCount()
        try #require(before > 40 << 16)
        // As at a start with less room than before.
        broker.nodes[0].server.context.configuration.heldByteLimit = 1 << 20
        store.isBehind = true
        broker.nodes[0].server.trimHeldLater()
        try broker.crank()
        #expect(heldByteCount() == before)
        store.isBehind = false
        for node in broker.nodes { node.kernel.advance(by: .milliseconds(5)) }
        var growths: [Int] = []
        while heldByteCount() > 1 << 20, growths.count < 9 {
            let count = heldByteCount()
            try broker.nodes[0].turn()
            growths.append(count - heldByteCount())
        }
        #expect(growths.count { $0 > 0 } == 4)
        #expect(growths.allSatisfy { $0 <= CenterHost.heldTrimByteCount + (65 << 10) })
    }

    @Test("queues: past their memory a post that would wait is 503, and a plain one is not")
    func queue() throws {
        let broker = try Broker { $0.memory.queue = 100_000 }
        let peer = try broker.http()
        var status = 0
        for number in 0..<2_000 where status != 503 {
            status = try peer.request(
                "POST", "/v1/channels/q\(number)?style=asap&modes=never", ""
            ).status
        }
        #expect(status == 503)
        // The tables of the last entry may double.
        #expect(broker.shared.totals[.queue] < 120_000)
        #expect(try broker.post(#"{"name":"q"}"#).status == 200)
    }

    @Test("centers: as many as their memory has room for, one more is 503 with the option")
    func centers() throws {
        let room = 5
        let broker = try Broker { $0.memory.centers = room * MemoryKind.centerByteCount }
        // The default center is one of them.
        for number in 1..<room {
            #expect(
                try broker.post(#"{"name":"p"}"#, target: "/v1/centers/c\(number)/notifications")
                    .status == 200)
        }
        let refused = try broker.post(#"{"name":"p"}"#, target: "/v1/centers/more/notifications")
        #expect(refused.status == 503)
        #expect(refused.json["detail"].text?.contains("--center-memory") == true)
    }

    @Test("the metrics tell each kind, and its limit")
    func metrics() throws {
        let broker = try Broker { $0.memory.observers = 12_345_678 }
        let text = try broker.get("/metrics").text
        for kind in MemoryKind.allCases {
            #expect(text.contains("\nbelfry_memory_bytes{kind=\"\(kind.rawValue)\"} "))
            #expect(text.contains("\nbelfry_memory_limit_bytes{kind=\"\(kind.rawValue)\"} "))
        }
        #expect(text.contains("belfry_memory_limit_bytes{kind=\"observers\"} 12345678\n"))
    }
}

extension ServerLoop {
    fileprivate mutating func trimHeldLater() { host.kept.trimLater(.held, &context) }
}
