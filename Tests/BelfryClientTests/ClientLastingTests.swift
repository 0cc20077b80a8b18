import BelfryLoop
import Testing

@testable import BelfryClient

@Suite("ClientLoop: values with a lease and farewells, for the next connection")
struct ClientLastingTests {
    /// A client with these writes, each with a tag, whose connection is lost.
    private func lostBroker(
        _ writes: (method: String, params: String)...
    ) throws -> ScriptedBroker {
        var options = ClientOptions()
        options.reconnects = true
        let broker = try ScriptedBroker.opened(options)
        for (number, write) in writes.enumerated() {
            try broker.write(write.method, write.params, etag: "t\(number + 1)")
        }
        broker.peer?.close()
        try broker.crank()
        try broker.reopen()
        return broker
    }

    /// The calls that came since the last look, without their envelope.
    private func calls(_ broker: ScriptedBroker) throws -> [String] {
        try broker.heard().map { text in
            let call = try #require(JSONObject(Array(text.utf8)))
            let params = String(decoding: call.raw("params") ?? [], as: UTF8.self)
            return "\(call.string("method") ?? "") \(params)"
        }
    }

    @Test("a new client sets a value again where it is as it was, then where it is gone")
    func valueAgain() throws {
        let broker = try lostBroker(
            ("setValue", #"{"object":"o","keyPath":"who.a","value":{"n":1},"lease":10}"#),
            ("setValue", #"{"object":"o","keyPath":"plain","value":1}"#))
        try broker.refuseResume()
        let first = try #require(try broker.heard().first)
        #expect(
            first.hasSuffix(
                #""setValue","params":{"object":"o","keyPath":"who.a","value":{"n":1},"lease":10,"#
                    + #""ifMatch":"t1"}}"#))
        try broker.refuse(first, status: 412)
        #expect(
            try calls(broker) == [
                #"setValue {"object":"o","keyPath":"who.a","value":{"n":1},"lease":10,"#
                    + #""ifNoneMatch":"*"}"#
            ])
    }

    @Test(
        "a value that another client has set is left alone from then on",
        arguments: [412, 403])
    func foreignValue(status: Int) throws {
        let broker = try lostBroker(
            ("setValue", #"{"object":"o","value":{"n":1},"lease":10}"#))
        try broker.refuseResume()
        try broker.refuse(try #require(try broker.heard().first), status: status)
        if status == 412 { try broker.refuse(try #require(try broker.heard().first), status: 412) }
        broker.peer?.close()
        try broker.crank()
        try broker.reopen(pause: .seconds(2))
        try broker.refuseResume()
        #expect(try broker.heard() == [])
    }

    @Test(
        "a later write ends the lease, or is followed",
        arguments: [
            ("setValue", #"{"object":"o","keyPath":"who.a","value":2}"#, nil),
            ("setValue", #"{"object":"o","value":{}}"#, nil),
            ("removeValue", #"{"object":"o","keyPath":"who"}"#, nil),
            ("mergeValue", #"{"object":"o","patch":{"who":{"a":null}}}"#, nil),
            ("mergeValue", #"{"object":"o","patch":{"who":7}}"#, nil),
            ("mergeValue", #"{"object":"o","patch":{"who":{"b":1}}}"#, #"{"n":1}"#),
            ("mergeValue", #"{"object":"o","patch":{"who":{"a":{"m":2}}}}"#, #"{"m":2,"n":1}"#),
            ("setValue", #"{"object":"o","keyPath":"who.a.n","value":{"x":0}}"#, #"{"n":{"x":0}}"#),
            ("mergeValue", #"{"object":"o","keyPath":"who.a","patch":{"m":2}}"#, nil),
            ("removeValue", #"{"object":"o","keyPath":"who.a.n"}"#, "{}"),
            ("removeValue", #"{"object":"p","keyPath":"who.a"}"#, #"{"n":1}"#),
        ] as [(String, String, String?)])
    func laterWrite(method: String, params: String, value: String?) throws {
        let broker = try lostBroker(
            ("setValue", #"{"object":"o","keyPath":"who.a","value":{"n":1},"lease":10}"#),
            (method, params))
        try broker.refuseResume()
        let values = try calls(broker)
        #expect(values.count == (value == nil ? 0 : 1))
        if let value { #expect(values.first?.contains(#""value":\#(value),"#) == true) }
    }

    @Test("a ttl runs on: what is left of it goes out, and a value whose time is over does not")
    func timeToLive() throws {
        let broker = try lostBroker(
            ("setValue", #"{"object":"a","value":{},"lease":10,"ttl":0.5}"#),
            ("setValue", #"{"object":"b","value":{},"lease":10,"ttl":61}"#))
        try broker.refuseResume()
        #expect(
            try calls(broker) == [
                #"setValue {"object":"b","value":{},"lease":10,"ttl":60,"ifMatch":"t2"}"#
            ])
    }

    @Test("a farewell is posted again for a new client, and the id that is known takes it out")
    func farewell() throws {
        var options = ClientOptions()
        options.reconnects = true
        let broker = try ScriptedBroker.opened(options)
        var terms = PostOptions()
        terms.onDisconnect = true
        terms.after = .seconds(5)
        terms.idempotencyKey = "k"
        let wish = PostWish(name: "Gone", options: terms)
        let receipt = try broker.submit { .post(wish, $0) }
        try broker.answerLast(#"{"id":"n1","seq":1,"matched":0}"#)
        #expect(receipt.isSuccess)
        broker.peer?.close()
        try broker.crank()
        try broker.reopen()
        try broker.refuseResume()
        let again = try #require(try broker.heard().first)
        #expect(again.hasSuffix(#""params":{"name":"Gone","after":5,"onDisconnect":true}}"#))
        try broker.answerLast(#"{"id":"n2","seq":1,"matched":0}"#, asked: again)
        try broker.submit {
            .call(method: "dequeue", params: Array(#"{"id":"n1"}"#.utf8), $0)
        }
        #expect(try calls(broker) == [#"dequeue {"id":"n2"}"#])
        broker.peer?.close()
        try broker.crank()
        try broker.reopen(pause: .seconds(2))
        try broker.refuseResume()
        #expect(try broker.heard() == [])
    }

    @Test(
        "a session that goes on has its farewell, unless the delay was over",
        arguments: [(60, 0), (0, 2)])
    func resumed(after: Int, callCount: Int) throws {
        let broker = try ScriptedBroker.farewell(after: .seconds(after))
        broker.peer?.close()
        try broker.crank()
        try broker.reopen()
        try broker.answerLast(#"{"client":"c4","observers":[],"held":0}"#)
        #expect(try calls(broker).count == callCount)
    }
}

extension ScriptedBroker {
    /// Writes to a value, and answers with a tag.
    fileprivate func write(_ method: String, _ params: String, etag: String) throws {
        let answer: Answer<[UInt8]> = try submit {
            .call(method: method, params: Array(params.utf8), $0)
        }
        try answerLast(#"{"changed":true,"seq":1,"etag":"\#(etag)"}"#)
        try #require(answer.isSuccess)
    }

    /// Refuses a call with this status.
    fileprivate func refuse(_ call: String, status: Int) throws {
        let id = try #require(JSONObject(Array(call.utf8))?.integer("id"))
        try send(
            #"{"jsonrpc":"2.0","id":\#(id),"error":{"code":-32000,"message":"No","#
                + #""data":{"status":\#(status)}}}"#)
    }

    /// A client that has left a post for its disconnection.
    fileprivate static func farewell(after: Duration) throws -> ScriptedBroker {
        var options = ClientOptions()
        options.reconnects = true
        let broker = try opened(options)
        var terms = PostOptions()
        terms.onDisconnect = true
        terms.after = after
        let wish = PostWish(name: "Gone", options: terms)
        try broker.submit { .post(wish, $0) }
        try broker.answerLast(#"{"id":"n1","seq":1,"matched":0}"#)
        return broker
    }
}
