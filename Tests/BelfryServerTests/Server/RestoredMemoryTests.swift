import BelfryCenter
import BelfryStore
import Testing

@testable import BelfryServer

@Suite("A start whose state does not fit takes the oldest of it, and comes up (D21)")
struct RestoredMemoryTests {
    /// A broker with a store, and what it is asked over one connection.
    private struct Durable {
        let broker: Broker
        let store: HandStore
        let peer: HTTPPeer

        init(_ broker: Broker, _ store: HandStore) throws {
            self.broker = broker
            self.store = store
            peer = try broker.http()
        }

        init() throws {
            let (broker, store) = try Broker.durable()
            try self.init(broker, store)
        }

        @discardableResult
        func ask(_ method: String, _ target: String, _ body: String = "") throws -> Response {
            try peer.send(
                HTTPPeer.text(
                    method, target, body, fields: ["Content-Type: application/json"]))
            try store.commit(in: broker)
            return try #require(try peer.read())
        }

        /// Makes a mailbox, and tells its token.
        func mailbox(_ fields: String) throws -> String {
            try #require(try ask("POST", "/v1/observers", fields).json["token"].text)
        }

        /// Starts anew with so much memory.
        func restarted(
            _ adjust: (inout MemoryLimits) -> Void = { _ in }
        ) throws -> (Durable, leftOut: [RestoredMemory.Row: Int]) {
            var memory = MemoryLimits()
            adjust(&memory)
            let beginning = try store.beginning(afterOrderlyEnd: false, memory: memory)
            let next = try Durable(Broker(beginning: beginning), store)
            return (next, beginning.leftOut)
        }
    }

    @Test("D21: the youngest observers are left out, and come back with a gap when there is room")
    func observers() throws {
        let first = try Durable()
        var tokens: [String] = []
        for number in 0..<200 {
            tokens.append(try first.mailbox(#"{"name":"a","object":"o\#(number)"}"#))
        }
        let (second, leftOut) = try first.restarted { $0.observers = 30_000 }
        let count = try #require(leftOut[.observers])
        #expect(count > 20 && count < 180 && leftOut[.clients] ?? 0 < 200)
        func isThere(_ token: String, _ life: Durable) throws -> Bool {
            try life.ask("GET", "/v1/observers/\(token)").status == 200
        }
        #expect(try isThere(tokens[0], second) && isThere(tokens[199 - count], second))
        #expect(try !isThere(tokens[200 - count], second) && !isThere(tokens[199], second))
        // No client is served as if it had nothing to do.
        #expect(second.broker.nodes[0].server.host.centers[0].clientCount == 200 - count)
        try second.ask("POST", "/v1/notifications", #"{"name":"a","object":"o199"}"#)
        // Again, and then with room.
        let (third, again) = try second.restarted { $0.observers = 30_000 }
        #expect(again[.observers] == count)
        try third.ask("POST", "/v1/notifications", #"{"name":"a","object":"o0"}"#)
        let (fourth, none) = try third.restarted()
        #expect(none.isEmpty)
        let page = try fourth.ask("GET", "/v1/observers/\(tokens[199])/notifications").json
        #expect(page["notifications"].elements.isEmpty)
        #expect(page["gaps"].elements.count == 1 && page["gaps"][0]["reason"] == "unknown")
        let other = try fourth.ask("GET", "/v1/observers/\(tokens[0])/notifications").json
        #expect(other["notifications"].elements.count == 1 && other["gaps"].elements.isEmpty)
    }

    @Test("D21: observers of values leave room for values, and these for none that is younger")
    func values() throws {
        let first = try Durable()
        let path = (0..<15).map { "key\($0)" }.joined(separator: ".")
        var tokens: [String] = []
        for number in 0..<60 {
            tokens.append(
                try first.mailbox(#"{"object":"v","keyPath":"n\#(number).\#(path)"}"#))
        }
        for number in 0..<40 { try first.ask("PUT", "/v1/values/w\(number)", #"{"a":1,"b":2}"#) }
        let (second, leftOut) = try first.restarted { $0.queue = 50_000 }
        let (observers, values) = (leftOut[.observers] ?? 0, leftOut[.values] ?? 0)
        #expect(observers > 5 && observers < 60)
        #expect(values < 40)
        #expect(try second.ask("GET", "/v1/values/w0").status == 200)
        // Rows that are written over are not those that were left out.
        let (third, none) = try second.restarted()
        #expect(none.isEmpty)
        #expect(try third.ask("GET", "/v1/values/w39").json == ["a": 1, "b": 2])
        let page = try third.ask("GET", "/v1/observers/\(tokens[59])/notifications").json
        #expect(page["gaps"].elements.isEmpty)
    }

    @Test("D21: who holds a notification that is left out is told a gap of it")
    func held() throws {
        let first = try Durable()
        let token = try first.mailbox(#"{"name":"a","suspensionBehavior":"hold","holdLimit":1000}"#)
        let text = String(repeating: "x", count: 900)
        for _ in 0..<200 {
            try first.ask(
                "POST", "/v1/notifications", #"{"name":"a","userInfo":{"t":"\#(text)"}}"#)
        }
        let (second, leftOut) = try first.restarted { $0.held = 50_000 }
        let count = try #require(leftOut[.notifications])
        #expect(count > 50 && count < 150)
        let page = try second.ask("GET", "/v1/observers/\(token)/notifications?limit=1000").json
        #expect(page["notifications"].elements.count == 200 - count)
        #expect(page["gaps"][0]["reason"] == "overflow")
        #expect(page["gaps"][0]["lost"] == Value(integerLiteral: count))
    }

    @Test("D21: what was made under a limit is never left out by it")
    func sameLimit() throws {
        let first = try Durable()
        for number in 0..<100 {
            _ = try first.mailbox(#"{"object":"v","keyPath":"n\#(number).a.b.c.d.e"}"#)
        }
        var memory = MemoryLimits()
        memory.observers = first.broker.shared.totals[.observers]
        memory.queue = first.broker.shared.totals[.queue]
        let (next, leftOut) = try first.restarted { $0 = memory }
        #expect(leftOut.isEmpty)
        #expect(next.broker.nodes[0].server.host.centers[0].needs.observerCount == 100)
    }
}
