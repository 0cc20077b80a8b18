import Testing

@testable import BelfryClient

@Suite("ClientLoop: what cannot be taken")
struct ClientPassingOverTests {
    @Test("a frame whose members cannot be taken is passed over with a gap, and refused if it asks")
    func passedOver() async throws {
        let broker = try ScriptedBroker.opened()
        let buffer = try broker.observe()
        try broker.send(#"{"jsonrpc":"2.0","method":"notify","params":{"id":1,"seq":5}}"#)
        try broker.send(
            #"{"jsonrpc":"2.0","method":"notify","params":{"id":"n6","seq":6,"name":"A"}}"#)
        #expect(try broker.heard().isEmpty)
        let next = try await buffer.next()
        #expect(next?.sequence == 6)
        #expect(next?.gapBefore == .init(lostCount: 1, reason: "unknown"))
        var terms = ObserverOptions()
        terms.acknowledges = true
        _ = try broker.observe(selector: "owe", terms: terms)
        try broker.send(#"{"jsonrpc":"2.0","id":"o1:7","method":"owe","params":{"seq":7}}"#)
        #expect(try broker.heard().contains { $0.contains(#""error""#) && $0.contains("o1:7") })
    }
}
