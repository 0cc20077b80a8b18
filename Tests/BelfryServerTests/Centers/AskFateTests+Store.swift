import BelfryLoop
import Testing

@testable import BelfryServer

// Asks and their fates where answers wait for the store.

extension AskFateTests {
    @Test("what must last is stored before 202 and 204; an answer that is waited for is not stored")
    func stored() throws {
        let (broker, store) = try Broker.durable()
        let d = try broker.webSocket()
        let text = d.call(
            "addObserver", AskStage.registration("w", ["a"], #","lifetime":"connection""#))
        try d.send(text)
        try store.commit(in: broker)
        let asking = try broker.http()
        try asking.send(
            HTTPPeer.text("POST", "/v1/responders/w/a?ttl=60", "", fields: [Self.async]))
        #expect(try asking.read() == nil)
        try store.commit(in: broker)
        #expect(try asking.read()?.status == 202)
        let waiting = try broker.http()
        try waiting.send(HTTPPeer.text("POST", "/v1/responders/w/a", ""))
        let asks = try d.takeMessages(where: { $0.has("method") && $0.has("id") })
        try d.send(#"{"jsonrpc":"2.0","id":"\#(asks.last?["id"].text ?? "")","result":1}"#)
        #expect(try waiting.read()?.status == 200)
        store.takesPromises = false
        let refused = try broker.request(
            "POST", "/v1/responders/w/a", "", fields: [Self.async])
        #expect(refused.problem == "store-unavailable")
    }

    @Test("T229, R20: after a restart an open ask is shown again, and its fate has the answer")
    func restarted() throws {
        let (broker, store) = try Broker.durable()
        let d = try broker.webSocket()
        try d.send(
            d.call(
                "addObserver",
                AskStage.registration("w", ["a"], #","suspensionBehavior":"hold""#)))
        try store.commit(in: broker)
        let asking = try broker.http()
        try asking.send(
            HTTPPeer.text("POST", "/v1/responders/w/a?ttl=600", "{}", fields: [Self.async]))
        try store.commit(in: broker)
        let location = try #require(try asking.read()?.field("location"))
        let first = try d.takeMessages(where: { $0["method"] == "a" })
        #expect(first.count == 1)
        try store.commit(in: broker)
        let next = try Broker(beginning: store.beginning(afterOrderlyEnd: false))
        #expect(try next.get(location).json["state"] == "asked")
        let back = try next.webSocket()
        try back.send(back.call("resume", #"{"session":"\#(d.session)"}"#))
        try store.commit(in: next)
        let again = try #require(try back.takeMessages(where: { $0["method"] == "a" }).first)
        #expect(again["params"]["id"] == first[0]["params"]["id"])
        #expect(again["params"]["redelivered"] == true)
        try back.send(#"{"jsonrpc":"2.0","id":"\#(again["id"].text ?? "")","result":5}"#)
        #expect(try next.get(location).json["answer"] == 5)
    }

    @Test(
        "R1, R20: with a store what waited comes behind the answer of a registration"
    )
    func comesBehindTheAnswer() throws {
        let (broker, store) = try Broker.durable()
        let d = try broker.webSocket()
        try d.send(
            d.call(
                "addObserver",
                AskStage.registration("w", ["a"], #","suspensionBehavior":"hold""#)))
        try d.send(d.call("setSuspended", #"{"suspended":true}"#))
        try store.commit(in: broker)
        let asking = try broker.http()
        try asking.send(
            HTTPPeer.text("POST", "/v1/responders/w/a?ttl=600", "{}", fields: [Self.async]))
        try store.commit(in: broker)
        #expect(try asking.read()?.status == 202)
        let e = try broker.webSocket()
        try e.send(e.call("addObserver", AskStage.registration("w", ["a"])))
        func isToldSomething(_ message: Value) -> Bool {
            message.has("result") || message["method"] == "a"
        }
        #expect(try e.takeMessages(where: isToldSomething).isEmpty)
        var messages: [Value] = []
        for _ in 0..<3 {
            try store.commit(in: broker)
            messages += try e.takeMessages(where: isToldSomething)
        }
        #expect(messages.count == 2)
        #expect(messages.first?.has("result") == true && messages.last?["method"] == "a")
        #expect(messages.last?["params"].has("redelivered") == false)
    }
}
