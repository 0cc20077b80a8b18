import BelfryCenter
import BelfryLoop
import Testing

@testable import BelfryServer

@Suite("Event streams of mailboxes (Protocol.md section 9)")
struct MailboxStreamTests {
    @Test(
        "a stream of a mailbox names its observer, and Last-Event-ID acknowledges",
        arguments: [1, 2])
    func stream(loopCount: Int) throws {
        let broker = try Broker(loopCount: loopCount)
        let box = try MailboxPeer(broker, loop: loopCount - 1)
        try broker.post(name: "a")
        let stream = try broker.events("/v1/events?token=\(box.token)", loop: loopCount - 1)
        #expect(try box.state() == "live")
        try broker.post(name: "a")
        let events = try stream.takeEvents()
        #expect(events.map { $0.data["seq"] } == [1, 2])
        #expect(events.allSatisfy { $0.data["observer"] == box.row["id"] })
        #expect(events.allSatisfy { $0.data["redelivered"] == .null })
        let last = stream.lastID
        stream.peer.close()
        try broker.crank()
        #expect(try box.state() == "disconnected")
        // Unacknowledged notifications come again.
        let again = try broker.events("/v1/events?token=\(box.token)", loop: loopCount - 1)
        #expect(try again.takeEvents().map { $0.data["redelivered"] } == [true, true])
        again.peer.close()
        try broker.crank()
        let behind = try broker.events(
            "/v1/events?token=\(box.token)", loop: loopCount - 1,
            fields: ["Last-Event-ID: \(last)"])
        #expect(try behind.takeEvents().isEmpty)
        #expect(try box.read().json["notifications"] == [])
    }

    @Test("a position of another life of the center is told as a gap", arguments: [1, 2])
    func foreignPosition(loopCount: Int) throws {
        let broker = try Broker(loopCount: loopCount)
        let box = try MailboxPeer(broker, loop: loopCount - 1)
        try broker.post(name: "a")
        let stream = try broker.events(
            "/v1/events?token=\(box.token)&last_event_id=0123-900", loop: loopCount - 1)
        let events = try stream.takeEvents()
        #expect(events.map(\.type) == ["belfry.gap", ""])
        #expect(events[0].data["reason"] == "unknown")
        #expect(events[0].data["lost"] == .null)
        #expect(events[1].data["seq"] == 1)
    }

    @Test("a second stream takes over, and the first ends", arguments: [1, 2])
    func streamReplaced(loopCount: Int) throws {
        let broker = try Broker(loopCount: loopCount)
        let box = try MailboxPeer(broker, loop: loopCount - 1)
        let first = try broker.events("/v1/events?token=\(box.token)", loop: loopCount - 1)
        let second = try broker.events("/v1/events?token=\(box.token)")
        try broker.post(name: "a")
        #expect(try first.takeEvents().isEmpty)
        #expect(first.peer.sawEndOfOutput)
        #expect(first.retry == 30_000)
        #expect(try second.takeEvents().count == 1)
        // A poll does the same.
        let poll = try box.poll("?after=1")
        #expect(second.peer.sawEndOfOutput)
        #expect(try poll.read() == nil)
        #expect(try box.state() == "live")
    }

    @Test("a stream ends with its observer", arguments: [1, 2])
    func streamRemoved(loopCount: Int) throws {
        let broker = try Broker(loopCount: loopCount)
        let box = try MailboxPeer(broker, loop: loopCount - 1)
        let stream = try broker.events("/v1/events?token=\(box.token)", loop: loopCount - 1)
        _ = try broker.request("DELETE", "/v1/observers/\(box.token)")
        #expect(try stream.takeEvents().map(\.type) == ["belfry.removed"])
        #expect(stream.peer.sawEndOfOutput)
        let gone = try broker.get("/v1/events?token=\(box.token)")
        #expect(gone.problem == "observer-removed")
    }

    @Test(
        "a stream by token has no filter, and needs the token of a mailbox",
        arguments: [
            ("token=x", 422), ("token=o1", 404), ("token=o9.AAAA", 404),
            ("token=o1.AAAAAAAAAAAAAAAAAAAAAA", 404),
        ])
    func badStream(query: String, status: Int) throws {
        let broker = try Broker()
        let box = try MailboxPeer(broker)
        #expect(try broker.get("/v1/events?\(query)").status == status)
        let filtered = try broker.get("/v1/events?token=\(box.token)&name=a")
        #expect(filtered.place == "name")
        let socket = try broker.webSocket()
        let token = try socket.observe("a")["token"].text ?? ""
        #expect(try broker.get("/v1/events?token=\(token)").problem == "no-mailbox")
    }

    @Test("a stream that does not read is suspended, and gets the rest when it reads")
    func slowStream() throws {
        let broker = try Broker()
        let box = try MailboxPeer(broker)
        let stream = try broker.events("/v1/events?token=\(box.token)")
        stream.peer.writeCapacity = 0
        let padding = String(repeating: "x", count: 100_000)
        for k in 1...20 {
            _ = try broker.request("POST", "/v1/channels/a", #"{"k":\#(k),"p":"\#(padding)"}"#)
        }
        #expect(try box.state() == "slow")
        stream.peer.writeCapacity = .max
        try broker.crank()
        #expect(try stream.takeEvents().map { $0.data.key } == (1...20).map { "a\($0)" })
        #expect(try box.state() == "live")
    }
}
