import BelfryLoop
import Testing

@testable import BelfryServer

/// A loop reads its clock when a turn begins, and a turn that has much to do reads some requests
/// later.
@Suite("A delay counts from the request, however late in its turn that was read (rules L2, L4)")
struct ArrivalTests {
    /// A broker that reads each request 5 ms after its turn has begun.
    private static func lateReader() throws -> Broker {
        let broker = try Broker()
        let kernel = broker.nodes[0].kernel
        broker.nodes[0].beforeEvent = { event in
            if case .received = event { kernel.pause(for: .milliseconds(5)) }
        }
        return broker
    }

    @Test(
        "L2: a timer of one post, of one in a batch, and one that repeats",
        arguments: [
            #"{"name":"n","after":0.2}"#, #"[{"name":"n","after":0.2}]"#,
            #"{"name":"n","every":0.2,"lease":10}"#,
        ])
    func overHTTP(body: String) throws {
        let broker = try Self.lateReader()
        let x = try broker.webSocket()
        try x.observe("n")
        let answer = try broker.post(body)
        #expect(answer.status == 202 || answer.status == 200)
        broker.nodes[0].beforeEvent = nil
        try broker.advance(by: .milliseconds(199))
        #expect(try x.takeNames() == [])
        try broker.advance(by: .milliseconds(1))
        #expect(try x.takeNames() == ["n"])
    }

    @Test("L2: so it is over a WebSocket, and what is due at a time comes then")
    func overWebSocket() throws {
        let broker = try Self.lateReader()
        let x = try broker.webSocket()
        try x.observe("n")
        let answer = try x.result("post", #"{"name":"n","after":0.2}"#)
        broker.nodes[0].beforeEvent = nil
        let dueAt = answer["dueAt"].text ?? "?"
        try broker.advance(by: .milliseconds(199))
        #expect(try x.takeNames() == [])
        try broker.advance(by: .milliseconds(1))
        #expect(try x.takeNotifications().map { $0["postedAt"].text } == [dueAt])
        _ = try x.result("post", #"{"name":"n","at":"2026-01-01T00:10:00.000Z"}"#)
        try broker.advance(by: .seconds(600))
        let frames = try x.takeNotifications()
        #expect(frames.count == 1)
        #expect(frames.allSatisfy { ($0["postedAt"].text ?? "") >= "2026-01-01T00:10:00.000Z" })
    }
}
