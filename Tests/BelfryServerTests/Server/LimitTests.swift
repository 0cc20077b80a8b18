import BelfryCenter
import BelfryLoop
import Testing

@testable import BelfryServer

@Suite("Limits of the configuration (Protocol.md section 11), at each and one past it")
struct LimitTests {
    @Test("a request line has so many bytes")
    func requestLine() throws {
        let broker = try Broker { $0.requestLineByteLimit = 300 }
        // GET, two spaces and HTTP/1.1 have 13 bytes.
        let target = "/livez?" + String(repeating: "q", count: 300 - 13 - 7)
        #expect(try broker.get(target).status == 200)
        #expect(try broker.get(target + "q").status == 414)
    }

    @Test("a field has so many bytes, and a request so many fields")
    func fields() throws {
        let broker = try Broker {
            $0.fieldLineByteLimit = 300
            $0.fieldCountLimit = 20
        }
        let field = "X: " + String(repeating: "x", count: 297)
        #expect(try broker.get("/livez", fields: [field]).status == 200)
        #expect(try broker.get("/livez", fields: [field + "x"]).status == 431)
        let many = (0..<19).map { "X-\($0): x" }
        #expect(try broker.get("/livez", fields: many).status == 200)
        #expect(try broker.get("/livez", fields: many + ["Y: y"]).status == 431)
    }

    @Test("large fields need a large head, and get it")
    func largeHead() throws {
        let broker = try Broker {
            $0.requestLineByteLimit = 65_536
            $0.fieldLineByteLimit = 65_536
        }
        let fields = ["X: ", "Y: "].map { $0 + String(repeating: "x", count: 65_400) }
        let target = "/livez?" + String(repeating: "q", count: 65_000)
        #expect(try broker.get(target, fields: fields).status == 200)
    }

    @Test("a batch is delivered so often at most, and one post as often as it must")
    func batchDeliveries() throws {
        let broker = try Broker { $0.batchDeliveryLimit = 6 }
        let socket = try broker.webSocket()
        for _ in 0..<3 { try socket.observe("a") }
        func batch(_ count: Int) -> String {
            "[" + [String](repeating: #"{"name":"a"}"#, count: count).joined(separator: ",") + "]"
        }
        #expect(try broker.post(batch(2)).status == 200)
        let refused = try broker.post(batch(3))
        #expect(refused.status == 413)
        #expect(refused.problem == "content-too-large")
        #expect(refused.json["limit"] == 6)
        #expect(try socket.takeNames().count == 6)
        // A batch of names without observers costs nothing.
        let others = [String](repeating: #"{"name":"b"}"#, count: 100).joined(separator: ",")
        #expect(try broker.post("[\(others)]").status == 200)
        for _ in 0..<7 { try socket.observe("c") }
        #expect(try broker.post(name: "c")["delivered"] == 7)
        #expect(try broker.post(#"[{"name":"c"}]"#).status == 200)
    }

    @Test("a batch pays for observers whose conditions are false, and for each distinct condition")
    func batchConditions() throws {
        let broker = try Broker { $0.batchDeliveryLimit = 21 }
        let socket = try broker.webSocket()
        for number in 0..<3 {
            let fields = #"{"name":"a","where":{"v":\#(number)}}"#
            _ = try socket.result("addObserver", fields)
        }
        // A post looks up one pair, asks three conditions, and could make three deliveries.
        func batch(_ count: Int) -> String {
            "[" + [String](repeating: #"{"name":"a"}"#, count: count).joined(separator: ",") + "]"
        }
        #expect(try broker.post(batch(3)).status == 200)
        let refused = try broker.post(batch(4))
        #expect(refused.status == 413 && refused.json["limit"] == 21)
        #expect(refused.json["detail"].text?.contains("deliveries and looks at conditions") == true)
        #expect(try socket.takeNames().isEmpty)
        // Observers with the same condition ask it once.
        _ = try socket.result("addObserver", #"{"name":"a","where":{"v":0}}"#)
        #expect(try broker.post(batch(2)).status == 200)
        #expect(try broker.post(batch(3)).status == 413)
    }

    @Test("calls of one frame are a batch too; each that is too much is refused by itself")
    func batchOfCalls() throws {
        let broker = try Broker { $0.batchDeliveryLimit = 2 }
        let observer = try broker.webSocket()
        try observer.observe("a")
        let poster = try broker.webSocket()
        let calls = (1...3).map {
            #"{"jsonrpc":"2.0","id":\#($0),"method":"post","params":{"name":"a"}}"#
        }
        try poster.send("[" + calls.joined(separator: ",") + "]")
        #expect(try observer.takeNames().count == 2)
        try poster.send(calls[2])
        #expect(try observer.takeNames().count == 1)
    }

    @Test("unsent bytes of all connections: at the limit nobody goes, past it the slowest does")
    func unsent() throws {
        let broker = try Broker { $0.unsentByteLimit = 60_000 }
        let (large, small) = (try broker.http(), try broker.http())
        large.peer.writeCapacity = 0
        small.peer.writeCapacity = 0
        for _ in 0..<2 { try large.send(HTTPPeer.text("GET", "/metrics")) }
        try small.send(HTTPPeer.text("GET", "/metrics"))
        let loop = { broker.nodes[0].server.context.loop.unsentByteTotal }
        #expect(!large.peer.isClosed && !small.peer.isClosed && loop() <= 60_000)
        var others: [HTTPPeer] = []
        while loop() <= 60_000, others.count < 50, !large.peer.isClosed {
            let other = try broker.http()
            other.peer.writeCapacity = 0
            try other.send(HTTPPeer.text("GET", "/metrics"))
            others.append(other)
        }
        // The end of the next turn looks at what the last one left.
        #expect(try broker.get("/livez").status == 200)
        #expect(large.peer.isClosed)
        #expect(!small.peer.isClosed)
        #expect(loop() <= 60_000)
    }

    @Test("a batch of looks is bounded: pages get shorter, and every one goes on")
    func looks() throws {
        let broker = try Broker()
        let socket = try broker.webSocket()
        for _ in 0..<4 {
            let calls = (0..<500).map {
                #"{"jsonrpc":"2.0","id":\#($0),"method":"addObserver","params":{"name":"n"}}"#
            }
            try socket.send("[" + calls.joined(separator: ",") + "]")
        }
        _ = try socket.takeMessages()
        let look = #"{"jsonrpc":"2.0","id":1,"method":"observers","params":{"name":"none"}}"#
        try socket.send("[" + [String](repeating: look, count: 1_000).joined(separator: ",") + "]")
        #expect(broker.nodes[0].server.host.scanBudget == ScanBudget())
        let alone = try socket.result("observers", #"{"name":"none"}"#)
        #expect(alone["next"] == .null)
    }
}
