import Testing

@testable import BelfryClient

@Suite("RemoteCenter: explain")
struct RemoteExplainTests {
    @Test("what is explained is what was named, and the answer is that of the broker")
    func explain() async throws {
        let thread = try BrokerThread()
        let broker = AnsweringBroker()
        let url = try await thread.start { broker.answer($0) }
        let center = try await RemoteCenter.connect(to: url, options: patient)
        let answer = try await center.explain(name: "A", object: "a", limit: 5, cursor: "c")
        #expect(JSONObject(Array(answer.utf8)) != nil)
        #expect(
            broker.calls.contains(
                #""method":"explain","params":{"name":"A","object":"a","limit":5,"cursor":"c"}"#))
        _ = try await center.explain(ask: "w", "s")
        #expect(
            broker.calls.contains(#""method":"explain","params":{"object":"w","selector":"s"}"#))
        await center.close()
    }
}
