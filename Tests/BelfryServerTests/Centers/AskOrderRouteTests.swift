import BelfryLoop
import Testing

@testable import BelfryServer

@Suite("What a responder hears, and in which order (rules R6, R8, R10, R20)")
struct AskOrderRouteTests {
    private static let holdsOne = #","suspensionBehavior":"hold","concurrency":1"#

    /// A batch of calls that ask.
    private static func batch(_ peer: SocketPeer, count: Int) -> String {
        let calls = (0..<count).map { _ in
            peer.call("ask", #"{"object":"w","selector":"a","wait":1}"#)
        }
        return "[" + calls.joined(separator: ",") + "]"
    }

    private static func methods(_ peer: SocketPeer) throws -> [String] {
        try peer.takeMessages(where: { $0.has("method") }).map { $0["method"].text ?? "?" }
    }

    @Test("R10: of asks that expire together none is written; one end is told", arguments: [1, 2])
    func expireTogether(loopCount: Int) throws {
        let stage = try AskStage(loopCount: loopCount)
        try stage.respond(stage.d, "w", ["a"], Self.holdsOne)
        try stage.asker.send(Self.batch(stage.asker, count: 5))
        #expect(try Self.methods(stage.d) == ["a"])
        try stage.broker.advance(by: .milliseconds(1_000))
        #expect(try Self.methods(stage.d) == ["belfry.settled"])
        // The responder has its room again.
        let peer = try stage.begin("w", "a")
        try stage.answer(stage.d, "1")
        #expect(try peer.read()?.status == 200)
    }

    @Test("R10, R16: an asker of several that is cut leaves no frame behind", arguments: [1, 2])
    func askerIsCut(loopCount: Int) throws {
        let stage = try AskStage(loopCount: loopCount)
        try stage.respond(stage.d, "w", ["a"], Self.holdsOne)
        try stage.asker.send(Self.batch(stage.asker, count: 5))
        let other = try stage.begin("w", "a")
        #expect(try Self.methods(stage.d) == ["a"])
        try stage.asker.cut()
        #expect(try Self.methods(stage.d) == ["belfry.settled", "a"])
        #expect(try other.read() == nil)
    }

    @Test("R10, R20: so it is with a store, and of asks that were answered 202")
    func expireStored() throws {
        let (broker, store) = try Broker.durable()
        let d = try broker.webSocket()
        try d.send(d.call("addObserver", AskStage.registration("w", ["a"], Self.holdsOne)))
        try store.commit(in: broker)
        for _ in 1...3 {
            let asking = try broker.http()
            try asking.send(
                HTTPPeer.text(
                    "POST", "/v1/responders/w/a?ttl=1", "", fields: ["Prefer: respond-async"]))
            try store.commit(in: broker)
            #expect(try asking.read()?.status == 202)
        }
        #expect(try Self.methods(d) == ["a"])
        try broker.advance(by: .milliseconds(1_000))
        try store.commit(in: broker)
        #expect(try Self.methods(d) == ["belfry.settled"])
    }

    @Test("R6, R8: the stream of a mailbox is sent what waits, also when the mailbox has an action")
    func streamOfMailbox() throws {
        let stage = try AskStage()
        let broker = stage.broker
        let mailbox = try broker.post(
            AskStage.registration("w", ["a", "b"], Self.holdsOne), target: "/v1/observers"
        ).json
        let token = mailbox["token"].text ?? "?"
        let stream = try broker.events("/v1/events?token=\(token)")
        try stage.d.result("addObserver", #"{"name":"e","selector":"b","target":"w"}"#)
        try broker.post(name: "e")
        let askers = [try stage.begin("w", "a"), try stage.begin("w", "a")]
        var events = try stream.takeEvents()
        #expect(events.count == 2)
        for asker in askers {
            let id = events.last?.data["id"].text ?? "?"
            let answer = try broker.request(
                "PUT", "/v1/notifications/\(id)/answer", "1", fields: ["Belfry-Token: \(token)"])
            #expect(answer.status == 204)
            #expect(try asker.read()?.status == 200)
            events = try stream.takeEvents()
        }
    }

    @Test(
        "R6, R11: an ask whose holder is cut goes to another one that is idle", arguments: [1, 2])
    func idleTakes(loopCount: Int) throws {
        let stage = try AskStage(loopCount: loopCount)
        let terms = #","suspensionBehavior":"hold","ifHeld":"share""#
        try stage.respond(stage.d, "w", ["a"], terms)
        try stage.respond(stage.e, "w", ["a"], terms)
        let peer = try stage.begin("w", "a")
        #expect(try stage.asks(stage.d).count == 1)
        try stage.d.cut()
        try stage.answer(stage.e, "1")
        #expect(try peer.read()?.json["answer"] == 1)
    }

    @Test("law 3, R3: the gap of a responder has no selector: it is null, as in a listing")
    func gapOfResponder() throws {
        let stage = try AskStage()
        let row = try stage.respond(stage.d, "w", ["a"], #","suspensionBehavior":"drop""#)
        #expect(row["selector"] == .null)
        try stage.d.result("setSuspended", #"{"suspended":true}"#)
        try stage.broker.post(name: "a", object: "w")
        try stage.d.send(stage.d.call("setSuspended", #"{"suspended":false}"#))
        let gaps = try stage.d.takeMessages(where: { $0["method"] == "belfry.gap" })
        #expect(gaps.count == 1)
        #expect(gaps.first?["params"].has("selector") == true)
        #expect(gaps.first?["params"]["selector"] == .null)
    }

    @Test("C19: the row of a mailbox counts the changes that were read out of it")
    func changesAreCounted() throws {
        let broker = try Broker()
        let mailbox = try broker.post(
            #"{"object":"v","keyPath":"a","initial":false,"suspensionBehavior":"hold"}"#,
            target: "/v1/observers"
        ).json
        let target = "/v1/observers/\(mailbox["token"].text ?? "?")"
        for number in 1...2 {
            _ = try broker.request("PUT", "/v1/values/v/a", "\(number)")
        }
        let page = try broker.get("\(target)/notifications").json
        #expect(page["notifications"].elements.count == 2)
        _ = try broker.get("\(target)/notifications?after=\(page["next"].int ?? 0)")
        #expect(try broker.get(target).json["delivered"] == 2)
    }
}
