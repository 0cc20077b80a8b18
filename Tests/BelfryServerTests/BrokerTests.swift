import Testing

@Suite("Broker: the tests' own instrument")
struct BrokerTests {
    @Test("a post reaches a WebSocket and an event stream, and its poster has a receipt")
    func endToEnd() throws {
        let broker = try Broker()
        let socket = try broker.webSocket()
        let stream = try broker.events("/v1/events?name=a")
        try socket.observe("a")
        let receipt = try broker.post(name: "a")
        #expect(receipt["matched"] == 2)
        #expect(try socket.takeNames() == ["a"])
        #expect(try stream.takeNames() == ["a"])
    }
}
