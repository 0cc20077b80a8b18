import BelfryCenter
import BelfryHTTP
import BelfryLoop
import Testing

@testable import BelfryServer

@Suite("Event streams (Protocol.md section 8, HTML Standard §9.2)")
struct EventStreamTests {
    @Test("a stream begins with a comment and a retry time, and is never stored")
    func start() throws {
        let stream = try Broker().events("/v1/events?name=a")
        #expect(stream.comments.count == 1)
        #expect(stream.client.hasPrefix("c"))
        let retry = try #require(stream.retry)
        #expect((1_000..<3_000).contains(retry))
        #expect(stream.head.contentLength == nil)
        #expect(stream.head.hasToken("text/event-stream", in: "content-type"))
        #expect(stream.head.hasToken("no-cache", in: "cache-control"))
    }

    @Test("the head of a stream tells where it begins, which pages of other origins may read")
    func position() throws {
        let broker = try Broker()
        let epoch = try broker.webSocket().welcome["epoch"].text ?? ""
        let first = try broker.events("/v1/events?name=a").head
        #expect(first.hasToken("\(epoch)-0", in: "belfry-position"))
        try broker.post(name: "b")
        let origin = "Origin: http://localhost:3000"
        let second = try broker.events("/v1/events?name=a", fields: [origin]).head
        #expect(second.hasToken("\(epoch)-1", in: "belfry-position"))
        #expect(second.hasToken("belfry-position", in: "access-control-expose-headers"))
    }

    @Test(
        "an event has its position as id, no type, and the notification as data", arguments: [1, 2])
    func event(loopCount: Int) throws {
        let broker = try Broker(loopCount: loopCount)
        let epoch = try broker.webSocket().welcome["epoch"].text ?? ""
        let stream = try broker.events("/v1/events?name=a", loop: loopCount - 1)
        _ = try broker.request("POST", "/v1/channels/a", "{\"k\":\n[1,\r\n2]}")
        let events = try stream.takeEvents()
        #expect(events.map(\.type) == [""])
        #expect(events[0].data["userInfo"] == ["k": [1, 2]])
        #expect(events[0].data["redelivered"] == .null)
        #expect(stream.lastID == "\(epoch)-1")
    }

    @Test("100 names pass with all that a query may have beside them, and 101 are 422")
    func nameLimit() async throws {
        let broker = try await AccessTests.broker(["all": #"[{"verbs":["post","observe"]}]"#])
        let fields = [Keys.field("all"), "Content-Type: application/json"]
        let names = (0..<100).map { "name=n\($0)" }.joined(separator: "&")
        let more = "&object=o&where=%7B%22v%22%3A1%7D&last=1&last_event_id="
        let made = try broker.request("POST", "/v1/tickets", "", fields: fields)
        let ticket = try #require(made.json["ticket"].text)
        let stream = try broker.events("/v1/events?\(names)\(more)&ticket=\(ticket)")
        let post = #"{"name":"n99","object":"o","userInfo":{"v":1}}"#
        _ = try broker.request("POST", "/v1/notifications", post, fields: fields)
        #expect(try stream.takeNames() == ["n99"])
        let refused = try broker.request(
            "GET", "/v1/events?\(names)&name=x\(more)", fields: fields)
        #expect(refused.status == 422)
        #expect(refused.text.contains("and object make more than 100 observers, the limit"))
    }

    @Test("each name is observed with each object; none is any")
    func filters() throws {
        let broker = try Broker()
        let stream = try broker.events("/v1/events?name=a&name=b&object=o&object=p&name=a")
        let all = try broker.events()
        for (name, object) in [("a", "o"), ("b", "p"), ("a", nil), ("c", "o")] {
            try broker.post(name: name, object: object)
        }
        #expect(try stream.takeNames() == ["a", "b"])
        #expect(try all.takeNames() == ["a", "b", "a", "c"])
    }

    @Test("bad names and too many of them are refused before the stream begins")
    func refusals() throws {
        let broker = try Broker()
        for (query, place) in [("name=", "name"), ("name=a&object=%00", "object"), ("x=1", "x")] {
            let response = try broker.get("/v1/events?\(query)")
            #expect(response.problem == "invalid-fields")
            #expect(response.place == place)
        }
        let objects = (0..<10).map { "object=o\($0)" }
        for (count, status) in [(10, 200), (11, 422)] {
            let names = (0..<count).map { "name=n\($0)" }
            let http = try broker.http()
            let query = (names + objects).joined(separator: "&")
            try http.send(HTTPPeer.text("GET", "/v1/events?\(query)"))
            let head = try http.readHead()
            #expect(head?.status == status)
        }
    }

    @Test(
        "Last-Event-ID replays what came after it, marked as redelivered, then live events",
        arguments: [1, 2])
    func replay(loopCount: Int) throws {
        let broker = try Broker(loopCount: loopCount)
        let first = try broker.events("/v1/events?name=a")
        try broker.post(name: "a")
        _ = try first.takeEvents()
        let position = first.lastID
        first.peer.close()
        try broker.crank()
        try broker.post(name: "a")
        try broker.post(name: "b")
        try broker.post(name: "a")
        for (target, fields) in [
            ("/v1/events?name=a", ["Last-Event-ID: \(position)"]),
            ("/v1/events?name=a&last_event_id=\(position)", []),
            ("/v1/events?name=a&last_event_id=zzz-9", ["Last-Event-ID: \(position)"]),
        ] as [(String, [String])] {
            let stream = try broker.events(target, loop: loopCount - 1, fields: fields)
            let events = try stream.takeEvents()
            #expect(events.map { $0.data["seq"] } == [2, 4])
            #expect(events.allSatisfy { $0.data["redelivered"] == true })
            #expect(stream.lastID.hasSuffix("-4"))
            let live = try broker.post(name: "z")
            #expect(live["matched"] == 0)
            stream.peer.close()
            try broker.crank()
        }
    }

    @Test("what the ring no longer has is told as a gap before what it has", arguments: [1, 2])
    func gap(loopCount: Int) throws {
        let broker = try Broker(loopCount: loopCount) { $0.centerLimits.replayCountLimit = 2 }
        let epoch = try broker.webSocket().welcome["epoch"].text ?? ""
        for _ in 0..<5 { try broker.post(name: "a") }
        let stream = try broker.events(
            "/v1/events?name=a", loop: loopCount - 1, fields: ["Last-Event-ID: \(epoch)-1"])
        let events = try stream.takeEvents()
        #expect(events.map(\.type) == ["belfry.gap", "", ""])
        let gap = try #require(events.first).data
        #expect(gap["reason"] == "unknown")
        #expect(gap["firstSeq"] == 2)
        #expect(gap["lastSeq"] == 3)
        #expect(events.dropFirst().map { $0.data["seq"] } == [4, 5])
        let exact = try broker.events(
            "/v1/events?name=a", fields: ["Last-Event-ID: \(epoch)-3"])
        #expect(try exact.takeEvents().map(\.type) == ["", ""])
    }

    @Test(
        "a position of another epoch is answered with a gap",
        arguments: ["zzz-1", "zzz-0", "nonsense", "-", "zzz-99999999999999999999"])
    func foreignEpoch(position: String) throws {
        let broker = try Broker()
        for _ in 0..<2 { try broker.post(name: "a") }
        let stream = try broker.events(
            "/v1/events?name=a", fields: ["Last-Event-ID: \(position)"])
        let types = try stream.takeEvents().map(\.type)
        #expect(types.filter(\.isEmpty).count == 2)
        let fresh = try Broker().events(
            "/v1/events?name=a", fields: ["Last-Event-ID: \(position)"])
        let freshTypes = try fresh.takeEvents().map(\.type)
        #expect(types == ["belfry.gap", "", ""])
        #expect(freshTypes == ["belfry.gap"])
    }

    @Test("a position that is current replays nothing and tells no gap")
    func current() throws {
        let broker = try Broker()
        let epoch = try broker.webSocket().welcome["epoch"].text ?? ""
        try broker.post(name: "a")
        let stream = try broker.events(
            "/v1/events?name=a", fields: ["Last-Event-ID: \(epoch)-1"])
        #expect(try stream.takeEvents().isEmpty)
    }

    @Test("a stream that is cut before its first event loses nothing", arguments: [1, 2])
    func cutEarly(loopCount: Int) throws {
        let broker = try Broker(loopCount: loopCount)
        try broker.post(name: "a")
        let stream = try broker.events("/v1/events?name=a", loop: loopCount - 1)
        #expect(try stream.takeEvents().isEmpty)
        #expect(stream.position.hasSuffix("-1"))
        stream.peer.close()
        try broker.crank()
        try broker.post(name: "a")
        let again = try broker.events(
            "/v1/events?name=a", loop: loopCount - 1,
            fields: ["Last-Event-ID: \(stream.position)"])
        // The position is that of what came before: the replay may be cut off, too.
        #expect(again.firstPosition == stream.position)
        #expect(try again.takeNames() == ["a"])
        #expect(again.position.hasSuffix("-2"))
        let foreign = try broker.events(
            "/v1/events?name=a", fields: ["Last-Event-ID: other-7"])
        #expect(foreign.firstPosition.hasSuffix("-0"))
    }

    @Test("a silent stream goes on with its position, and with none while something is held")
    func silentPosition() throws {
        let broker = try Broker()
        let stream = try broker.events("/v1/events?name=a")
        for _ in 0..<3 { try broker.post(name: "b") }
        try broker.advance(by: .milliseconds(15_300))
        #expect(try stream.takeEvents().isEmpty)
        #expect(stream.position.hasSuffix("-3"))
        // A reader of a mailbox acknowledges by its position, so it gets none of itself.
        let row = try broker.post(#"{"name":"a"}"#, target: "/v1/observers").json
        let mailbox = try broker.events("/v1/events?token=\(row["token"].text ?? "")")
        try broker.advance(by: .milliseconds(15_300))
        #expect(try mailbox.takeEvents().isEmpty)
        #expect(mailbox.comments.count == 2)
        #expect(mailbox.position.isEmpty)
    }

    @Test("a position that names nothing is none", arguments: ["field", "query"])
    func emptyPosition(place: String) throws {
        let broker = try Broker()
        try broker.post(name: "a")
        let stream =
            place == "field"
            ? try broker.events("/v1/events?name=a", fields: ["Last-Event-ID:"])
            : try broker.events("/v1/events?name=a&last_event_id=")
        #expect(try stream.takeEvents().isEmpty)
        #expect(stream.position.hasSuffix("-1"))
        let both = try broker.events(
            "/v1/events?name=a&last_event_id=\(stream.epoch)-0", fields: ["Last-Event-ID:"])
        #expect(try both.takeNames() == ["a"])
    }

    @Test("who lost a stream of a ticket goes on with another ticket, behind what was seen")
    func nextTicket() throws {
        var keys = Keys()
        keys.add("a", #"[{"verbs":["post","observe"]}]"#)
        let keyring = try keys.keyring()
        let broker = try Broker { $0.keyring = keyring }
        let field = [Keys.field("a")]
        func ticket() throws -> String {
            try broker.request("POST", "/v1/tickets", "", fields: field).json["ticket"].text ?? ""
        }
        let spent = try ticket()
        let stream = try broker.events("/v1/events?name=Mail&ticket=\(spent)")
        _ = try broker.request("POST", "/v1/channels/Mail", "", fields: field)
        #expect(try stream.takeNames() == ["Mail"])
        stream.peer.close()
        try broker.crank()
        _ = try broker.request("POST", "/v1/channels/Mail", "", fields: field)
        // As an EventSource comes back by itself: the position makes no spent ticket good.
        let position = "Last-Event-ID: \(stream.lastID)"
        let again = try broker.get("/v1/events?name=Mail&ticket=\(spent)", fields: [position])
        #expect(again.problem == "credentials-invalid")
        let next = "/v1/events?name=Mail&ticket=\(try ticket())&last_event_id=\(stream.lastID)"
        #expect(try broker.events(next).takeNames() == ["Mail"])
    }

    @Test("a silent stream gets a comment every 15 s, one that is busy too", arguments: [1, 2])
    func comments(loopCount: Int) throws {
        let broker = try Broker(loopCount: loopCount)
        let stream = try broker.events("/v1/events?name=a", loop: loopCount - 1)
        try broker.advance(by: .milliseconds(14_900))
        _ = try stream.takeEvents()
        #expect(stream.comments.count == 1)
        try broker.advance(by: .milliseconds(400))
        _ = try stream.takeEvents()
        #expect(stream.comments.count == 2)
        for _ in 0..<10 { try broker.advance(by: .seconds(16)) }
        _ = try stream.takeEvents()
        #expect(stream.comments.count == 12)
        #expect(!stream.peer.isClosed)
    }

    @Test("an event stream ends with its connection, and its observers with it", arguments: [1, 2])
    func end(loopCount: Int) throws {
        let broker = try Broker(loopCount: loopCount)
        let stream = try broker.events("/v1/events?name=a", loop: loopCount - 1)
        #expect(try broker.post(name: "a")["matched"] == 1)
        stream.peer.close()
        try broker.crank()
        #expect(try broker.post(name: "a")["matched"] == 0)
        #expect(try broker.get("/v1/clients").json["clients"] == [])
    }
}
