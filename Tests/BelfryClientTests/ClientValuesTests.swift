import BelfryLoop
import Testing

@testable import BelfryClient

@Suite("ClientLoop: values")
struct ClientValuesTests {
    private static var reconnecting: ClientOptions {
        var options = ClientOptions()
        options.reconnects = true
        return options
    }

    @Test("a registration has its place and what the options say, and no name")
    func registration() throws {
        let broker = try ScriptedBroker.opened()
        var options = ValueOptions()
        options.tellsOld = true
        options.suspensionBehavior = .hold
        options.holdLimit = 5
        options.minInterval = .milliseconds(500)
        _ = try Follower(broker, keyPath: "ui.theme", options)
        #expect(
            try broker.heard() == [
                #"{"jsonrpc":"2.0","id":1,"method":"addObserver","params":{"object":"o","#
                    + #""keyPath":"ui.theme","old":true,"selector":"v","#
                    + #""lifetime":"connection","suspensionBehavior":"hold","holdLimit":5,"#
                    + #""minInterval":0.5}}"#
            ])
    }

    @Test("each change has the whole value")
    func whole() async throws {
        let broker = try ScriptedBroker.opened()
        let follower = try Follower(broker)
        try follower.register()
        try broker.change(5, #""kind":"removed","initial":true"#)
        try broker.change(6, #""kind":"set","new":{"a":1,"b":{"c":2}}"#)
        try broker.change(7, #""kind":"merge","new":{"b":{"d":1.0},"a":null},"old":{"a":1}"#)
        try broker.change(8, #""kind":"set","new":[1,2],"old":{"b":{}}"#)
        try broker.change(9, #""kind":"removed""#)
        let changes = try await follower.next(5)
        #expect(changes.map(\.kind) == [.removed, .set, .merge, .set, .removed])
        #expect(changes.map(\.isInitial) == [true, false, false, false, false])
        #expect(
            changes.map(\.value) == [
                nil, #"{"a":1,"b":{"c":2}}"#, #"{"b":{"c":2,"d":1.0}}"#, "[1,2]", nil,
            ])
        #expect(changes[2].patch == #"{"b":{"d":1.0},"a":null}"#)
        #expect(changes.map(\.old) == [nil, nil, #"{"a":1}"#, #"{"b":{}}"#, nil])
        #expect(changes.map(\.notification.sequence) == [5, 6, 7, 8, 9])
    }

    @Test("what the reader is too slow for is lost, and the value is whole")
    func slow() async throws {
        var options = ClientOptions()
        options.bufferCountLimit = 1
        let broker = try ScriptedBroker.opened(options)
        let follower = try Follower(broker, buffered: options)
        try follower.register()
        try broker.change(5, #""kind":"set","initial":true,"new":{}"#)
        for seq in 6...9 { try broker.change(seq, #""kind":"merge","new":{"k\#(seq)":1}"#) }
        let change = try #require(try await follower.next(1).first)
        #expect(change.value == #"{"k6":1,"k7":1,"k8":1,"k9":1}"#)
        #expect(change.notification.gapBefore == .init(lostCount: 4, reason: "overflow"))
    }

    @Test(
        "on a new connection it is registered without a number, and only a value that differs is told"
    )
    func again() async throws {
        let broker = try ScriptedBroker.opened(Self.reconnecting)
        let follower = try Follower(broker)
        try follower.register()
        try broker.change(5, #""kind":"set","initial":true,"new":{"a":1}"#)
        for (seq, value) in [(9, #"{"a":1}"#), (12, #"{"a":2}"#)] {
            broker.peer?.close()
            try broker.crank()
            try broker.reopen(pause: .seconds(2))
            try broker.refuseResume()
            let asked = try #require(try broker.heard().last)
            #expect(asked.contains(#""keyPath":"""#) && !asked.contains("since"))
            try broker.answerLast(#"{"id":"o2","token":"o2.t","since":\#(seq)}"#, asked: asked)
            try broker.change(seq, #""kind":"set","initial":true,"new":\#(value)"#)
        }
        try broker.change(13, #""kind":"merge","new":{"b":3}"#)
        let changes = try await follower.next(3)
        #expect(changes.map(\.value) == [#"{"a":1}"#, #"{"a":2}"#, #"{"a":2,"b":3}"#])
        #expect(changes.allSatisfy { $0.notification.gapBefore == nil })
    }

    @Test("an observer that the broker kept goes on with the value that it has")
    func resumed() async throws {
        let broker = try ScriptedBroker.opened(Self.reconnecting)
        var options = ValueOptions()
        options.lifetime = .token
        let follower = try Follower(broker, options)
        try follower.register()
        try broker.change(5, #""kind":"set","initial":true,"new":{"a":1}"#)
        broker.peer?.close()
        try broker.crank()
        try broker.reopen()
        let asked = try #require(try broker.heard().last)
        #expect(asked.contains(#""method":"resume""#))
        try broker.answerLast(
            #"{"client":"c4","observers":[{"id":"o1"}],"held":0}"#, asked: asked)
        try broker.change(9, #""kind":"merge","new":{"b":2}"#)
        #expect(try await follower.next(2).map(\.value) == [#"{"a":1}"#, #"{"a":1,"b":2}"#])
        #expect(try broker.heard() == [])
    }

    @Test(
        "a change that leads nowhere ends the connection",
        arguments: [
            #""kind":"merge""#, #""kind":"set""#, #""kind":"grown","new":1"#,
            #""kind":"set","new":{"a":1,"a":2}"#,
        ])
    func nonsense(change: String) async throws {
        let broker = try ScriptedBroker.opened()
        let follower = try Follower(broker)
        try follower.register()
        try broker.change(5, change)
        await #expect(throws: ClientError.notUnderstood) { try await follower.next(1) }
    }

    @Test("a write says where, what and under which condition")
    func writes() throws {
        let json = #"{"seq":7,"changed":true,"etag":"\"9f\"","matched":2,"id":"n1"}"#
        let receipt = try ValueReceipt(json: Array(json.utf8))
        #expect(receipt.isChanged && receipt.etag == #""9f""#)
        #expect(receipt.sequence == 7 && receipt.matched == 2)
        let unchanged = try ValueReceipt(json: Array(#"{"seq":6,"changed":false}"#.utf8))
        #expect(!unchanged.isChanged && unchanged.etag == nil && unchanged.matched == 0)
        let value = try StoredValue(json: Array(#"{"value":{"a":1},"etag":"\"x\"","seq":3}"#.utf8))
        #expect(value.json == #"{"a":1}"# && value.etag == #""x""# && value.sequence == 3)
        #expect(throws: ClientError.notUnderstood) { try StoredValue(json: Array("{}".utf8)) }
        #expect(throws: ClientError.notUnderstood) { try ValueReceipt(json: Array("[]".utf8)) }
    }

    @Test("requests have the path, the condition and the type of their content")
    func requests() throws {
        let url = try BrokerURL("http://127.0.0.1:8080")
        func text(_ request: HTTPRequest) -> [String] {
            var bytes: [UInt8] = []
            request.append(url, to: &bytes)
            return String(decoding: bytes, as: UTF8.self).split(separator: "\r\n").map(String.init)
        }
        let put = text(
            try .setValue(
                "a/b", keyPath: "ui.é", json: Array("1".utf8), ttl: .milliseconds(1_500),
                ifMatch: #""9f""#))
        #expect(put.first == "PUT /v1/values/a%2Fb/ui.%C3%A9?ttl=1.5 HTTP/1.1")
        #expect(put.contains(#"If-Match: "9f""#) && put.last == "1")
        let patch = text(
            try .mergeValue("o", patch: Array("{}".utf8), ifNoneMatch: "*"))
        #expect(patch.first == "PATCH /v1/values/o HTTP/1.1")
        #expect(patch.contains("Content-Type: application/merge-patch+json"))
        #expect(patch.contains("If-None-Match: *"))
        #expect(text(.value("o", keyPath: "a")).first == "GET /v1/values/o/a HTTP/1.1")
        #expect(text(try .removeValue("o")).first == "DELETE /v1/values/o HTTP/1.1")
        for tag in ["", "a\r\nb", "é"] {
            #expect(throws: ClientError.invalidEntityTag) {
                try HTTPRequest.removeValue("o", ifMatch: tag)
            }
        }
    }
}

/// An observer of the value of the object `o`.
private struct Follower {
    private let broker: ScriptedBroker
    private let wish: ObserverWish
    private let answer: Answer<Registration>

    init(
        _ broker: ScriptedBroker, keyPath: String = "", _ options: ValueOptions = ValueOptions(),
        buffered: ClientOptions = ClientOptions()
    ) throws {
        self.broker = broker
        let wish = ObserverWish(
            name: nil, object: "o", selector: "v", since: nil, options: options.terms,
            buffer: NotificationBuffer(buffered),
            place: ObserverWish.Place(keyPath: keyPath, options: options))
        self.wish = wish
        answer = try broker.submit { .addObserver(wish, $0) }
    }

    func register() throws {
        try broker.answerLast(#"{"id":"o1","token":"o1.t","since":5}"#)
        try #require(answer.isSuccess)
    }

    func next(_ count: Int) async throws -> [ValueChange] {
        var changes: [ValueChange] = []
        for _ in 0..<count {
            let notification = try #require(try await wish.buffer.next())
            changes.append(try ValueChange(notification))
        }
        return changes
    }
}

extension ScriptedBroker {
    /// Tells the observer of a value what has changed.
    fileprivate func change(_ seq: Int, _ change: String) throws {
        try send(
            #"{"jsonrpc":"2.0","method":"v","params":{"id":"n\#(seq)","seq":\#(seq),"#
                + #""name":"belfry.value","object":"o","keyPath":"","postedAt":"t","change":{\#(change)}}}"#
        )
    }
}
