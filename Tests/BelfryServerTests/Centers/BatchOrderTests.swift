import Testing

@testable import BelfryServer

// Deliveries of a registration stay behind its answer, which is in the array of its batch.

@Suite("What a batch of calls brings its client", .timeLimit(.minutes(1)))
struct BatchOrderTests {
    @Test(
        "V6, R1: a value, and asks that waited, come behind the answers of a batch",
        arguments: [1, 2])
    func behindTheAnswers(loopCount: Int) throws {
        let stage = try AskStage(loopCount: loopCount)
        let share = AskStage.registration(
            "w", ["a"], #","ifHeld":"share","suspensionBehavior":"hold""#)
        _ = try stage.d.result("addObserver", share)
        _ = try stage.d.result("setSuspended", #"{"suspended":true}"#)
        let peer = try stage.begin("w", "a")
        _ = try stage.e.result("setValue", #"{"object":"o","keyPath":"v","value":1}"#)
        try stage.asker.send(
            batch(
                #""addObserver","params":{"object":"o","keyPath":"v"}"#,
                #""addObserver","params":\#(share)"#, #""post","params":{"name":"x"}"#))
        let told = try stage.asker.takeMessages()
        try #require(told.count == 3)
        #expect(told[0].elements.map { $0["id"].int } == [1, 2, 3])
        #expect(told[1]["params"]["change"]["initial"] == true)
        #expect(told[2]["method"] == "a")
        try stage.asker.send(#"{"jsonrpc":"2.0","id":"\#(told[2]["id"].text ?? "")","result":7}"#)
        #expect(try peer.read()?.json["answer"] == 7)
    }

    @Test("a batch whose answer waits for its own client keeps nothing from it", arguments: [1, 2])
    func asksItself(loopCount: Int) throws {
        let stage = try AskStage(loopCount: loopCount)
        _ = try stage.e.result("setValue", #"{"object":"o","keyPath":"v","value":1}"#)
        try stage.asker.send(
            batch(
                #""addObserver","params":{"object":"o","keyPath":"v"}"#,
                #""addObserver","params":\#(AskStage.registration("w", ["a"]))"#,
                #""ask","params":{"object":"w","selector":"a"}"#))
        let told = try stage.asker.takeMessages()
        let ask = try #require(told.first { $0["method"] == "a" })
        #expect(told.contains { $0["params"]["change"]["initial"] == true })
        try stage.asker.send(#"{"jsonrpc":"2.0","id":"\#(ask["id"].text ?? "")","result":7}"#)
        let answers = try #require(try stage.asker.takeMessages().first).elements
        #expect(answers.map { $0["id"].int } == [1, 2, 3])
        #expect(answers.last?["result"]["answer"] == 7)
    }

    @Test("V6: behind a batch that is stored the present value comes, and then what followed")
    func stored() throws {
        let (broker, store) = try Broker.durable(loopCount: 1)
        let x = try broker.webSocket()
        let y = try broker.webSocket()
        try x.send(batch(#""addObserver","params":{"object":"o","keyPath":"v"}"#))
        try y.send(y.call("setValue", #"{"object":"o","keyPath":"v","value":2}"#))
        #expect(try x.takeMessages().isEmpty)
        while store.waitingCount > 0 { try store.commit(in: broker) }
        let told = try x.takeMessages()
        try #require(told.count == 3)
        #expect(told[0].elements.map { $0["id"].int } == [1])
        #expect(told[1]["params"]["change"]["initial"] == true)
        #expect(told[2]["params"]["change"]["new"] == 2)
    }

    /// Calls in one frame, with the ids 1, 2 and so on.
    private func batch(_ calls: String...) -> String {
        let elements = calls.enumerated().map { place, call in
            #"{"jsonrpc":"2.0","id":\#(place + 1),"method":\#(call)}"#
        }
        return "[\(elements.joined(separator: ","))]"
    }
}
