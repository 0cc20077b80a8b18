import BelfryAccess
import BelfryCenter
import Testing

@testable import BelfryServer

@Suite("Targets and actions (rules K1 to K11)")
struct ActionRouteTests {
    private static let wire =
        #"{"name":"touchUp","object":"s1","target":"lamp","selector":"toggle"}"#

    /// Takes the frames of methods that are not those of the broker.
    private func frames(_ peer: SocketPeer) throws -> [Value] {
        try peer.takeMessages(where: {
            $0.has("method") && !($0["method"].text ?? "").hasPrefix("belfry.")
        })
    }

    private func press(
        _ stage: AskStage, _ query: String = "object=s1&report=observers", wait: Int? = nil
    ) throws -> HTTPPeer {
        let peer = try stage.broker.http(loop: stage.loop)
        try peer.send(
            HTTPPeer.text(
                "POST", "/v1/channels/touchUp?\(query)", #"{"x":1}"#,
                fields: wait.map { ["Prefer: wait=\($0)"] } ?? []))
        return peer
    }

    private func receipt(_ stage: AskStage, _ query: String = "object=s1&report=observers") throws
        -> Value
    {
        try #require(try press(stage, query).read()).json
    }

    @Test(
        "T240, K1, K3: the responder gets method, event, sender, target and userInfo",
        arguments: [1, 2])
    func action(loopCount: Int) throws {
        let stage = try AskStage(loopCount: loopCount)
        let responder = try stage.respond(stage.d, "lamp", ["toggle"])
        let row = try stage.e.result("addObserver", Self.wire)
        #expect(row["target"] == "lamp" && row["selector"] == "toggle" && row["name"] == "touchUp")
        let receipt = try receipt(stage)
        #expect(receipt["matched"] == 1 && receipt["delivered"] == 1)
        let told = receipt["observers"][0]
        #expect(told["id"] == row["id"] && told["outcome"] == "delivered")
        #expect(told["target"] == "lamp" && told["observer"] == responder["id"])
        #expect(!told.has("path") && !told.has("reason"))
        let frame = try #require(try frames(stage.d).first)
        #expect(frame["method"] == "toggle" && !frame.has("id"))
        let params = frame["params"]
        #expect(params["name"] == "touchUp" && params["object"] == "s1")
        #expect(params["target"] == "lamp" && params["userInfo"]["x"] == 1)
        #expect(params["seq"] == receipt["seq"] && params["id"] == receipt["id"])
        #expect(!params.has("observer") && !params.has("selector"))
        #expect(try frames(stage.e).isEmpty)
    }

    @Test(
        "K2 (T242): two events of one action, and two actions of one event, in their order",
        arguments: [1, 2])
    func several(loopCount: Int) throws {
        let stage = try AskStage(loopCount: loopCount)
        try stage.respond(stage.d, "lamp", ["on", "off"])
        for (name, action) in [("touchUp", "on"), ("touchUp", "off"), ("touchDown", "on")] {
            _ = try stage.e.result(
                "addObserver", #"{"name":"\#(name)","target":"lamp","selector":"\#(action)"}"#)
        }
        _ = try receipt(stage)
        _ = try stage.broker.post(name: "touchDown", loop: stage.loop)
        let frames = try frames(stage.d)
        #expect(frames.map { $0["method"] } == ["on", "off", "on"])
        #expect(frames.map { $0["params"]["name"] } == ["touchUp", "touchUp", "touchDown"])
    }

    @Test(
        "K4 (T244): nobody takes it: 200, dropped 1, unhandled, with reason and path",
        arguments: [1, 2])
    func unhandled(loopCount: Int) throws {
        let stage = try AskStage(loopCount: loopCount)
        _ = try stage.e.result("addObserver", Self.wire)
        let receipt = try receipt(stage)
        #expect(receipt["dropped"] == 1 && receipt["matched"] == 1)
        let row = receipt["observers"][0]
        #expect(row["outcome"] == "unhandled" && row["reason"] == "no-responder")
        #expect(row["target"] == "lamp" && row["path"].elements.map(\.text) == ["lamp"])
        #expect(!row.has("observer"))
        #expect(try stage.e.takeMessages().isEmpty)
        let explained = try stage.broker.get("/v1/explain?name=touchUp&object=s1").json
        let outcome = explained["observers"][0]
        #expect(outcome["outcome"] == "unhandled" && outcome["reason"] == "no-responder")
        try stage.respond(stage.d, "lamp", ["toggle"])
        let after = try stage.broker.get("/v1/explain?name=touchUp&object=s1").json
        #expect(after["observers"][0]["outcome"] == "delivered")
        #expect(after["observers"][0]["target"] == "lamp")
        #expect(try frames(stage.d).isEmpty)
    }

    @Test(
        "K5, K7 (T246): the control's own address hands on to whatever its next is",
        arguments: [1, 2])
    func ownAddress(loopCount: Int) throws {
        let stage = try AskStage(loopCount: loopCount)
        _ = try stage.e.result(
            "addObserver", #"{"name":"touchUp","object":"s1","target":"s1","selector":"doIt"}"#)
        for (address, peer) in [("panel", stage.d), ("hall", stage.e)] {
            let responder = try stage.respond(peer, address, ["doIt"])
            try stage.respond(stage.d, "s1", [], #","next":"\#(address)""#)
            let row = try receipt(stage)["observers"][0]
            #expect(row["observer"] == responder["id"])
            #expect(row["path"].elements.map(\.text) == ["s1", address])
            #expect(try frames(peer).map { $0["params"]["target"] } == [.text(address)])
        }
    }

    @Test(
        "K6 (T248): the lamp is away and holds: two toggles come in their order when it is back",
        arguments: [1, 2])
    func held(loopCount: Int) throws {
        let stage = try AskStage(loopCount: loopCount)
        try stage.respond(stage.d, "lamp", ["toggle"], #","suspensionBehavior":"hold""#)
        _ = try stage.e.result("addObserver", Self.wire)
        _ = try stage.d.result("setSuspended", #"{"suspended":true}"#)
        var numbers: [Value] = []
        for _ in 0..<2 {
            let receipt = try receipt(stage)
            #expect(receipt["held"] == 1)
            #expect(receipt["observers"][0]["outcome"] == "held")
            numbers.append(receipt["seq"])
        }
        #expect(try frames(stage.d).isEmpty)
        try stage.d.send(stage.d.call("setSuspended", #"{"suspended":false}"#))
        #expect(try frames(stage.d).map { $0["params"]["seq"] } == numbers)
    }

    @Test(
        "K8: an action is not matched again: observers of its selector get nothing",
        arguments: [1, 2])
    func notMatchedAgain(loopCount: Int) throws {
        let stage = try AskStage(loopCount: loopCount)
        try stage.respond(stage.d, "lamp", ["toggle"])
        _ = try stage.e.result("addObserver", Self.wire)
        _ = try stage.asker.observe("toggle")
        #expect(try receipt(stage)["matched"] == 1)
        #expect(try frames(stage.asker).isEmpty)
    }

    @Test(
        "K9 (T252): lamp says -32601, hall acknowledges, and the poster has its result",
        arguments: [1, 2])
    func acknowledged(loopCount: Int) throws {
        let stage = try AskStage(loopCount: loopCount)
        try stage.respond(stage.d, "lamp", ["toggle"], #","next":"hall""#)
        let hall = try stage.respond(stage.e, "hall", ["toggle"])
        _ = try stage.asker.result(
            "addObserver",
            #"{"name":"touchUp","target":"lamp","selector":"toggle","acknowledge":true}"#)
        let peer = try press(stage, wait: 5)
        #expect(try peer.read() == nil)
        let first = try stage.pass(stage.d)
        #expect(first["method"] == "toggle" && first["params"]["observer"].text != nil)
        #expect(try peer.read() == nil)
        let second = try stage.answer(stage.e, #"{"on":true}"#)
        #expect(second["params"]["target"] == "hall" && second["params"]["observer"] == hall["id"])
        #expect(second["params"]["id"] == first["params"]["id"])
        let receipt = try #require(try peer.read()).json
        #expect(receipt["acknowledged"] == 1 && receipt["pending"] == 0)
        let row = receipt["observers"][0]
        #expect(row["outcome"] == "acknowledged" && row["result"]["on"] == true)
        #expect(row["observer"] == hall["id"])
        #expect(row["path"].elements.map(\.text) == ["lamp", "hall"])
    }

    @Test(
        "K9: over HTTP a row without a session is a mailbox that stays empty, and may acknowledge")
    func mailboxRow() throws {
        let stage = try AskStage()
        try stage.respond(stage.d, "lamp", ["toggle"])
        let row = try stage.broker.post(
            #"{"name":"touchUp","target":"lamp","selector":"toggle","acknowledge":true}"#,
            target: "/v1/observers")
        #expect(row.status == 201 && row.json["acknowledge"] == true)
        let peer = try press(stage, wait: 5)
        try stage.answer(stage.d, "null")
        #expect(try #require(try peer.read()).json["acknowledged"] == 1)
        let token = row.json["token"].text ?? ""
        let page = try stage.broker.get("/v1/observers/\(token)/notifications").json
        #expect(page["notifications"].elements.isEmpty)
        let session = try stage.broker.post(
            #"{"name":"a","target":"b","selector":"c","acknowledge":true,"session":"\#(row.json["session"].text ?? "")"}"#,
            target: "/v1/observers")
        #expect(session.status == 201)
    }

    @Test(
        "K3, K6: in a mailbox and in its stream an action has target and selector",
        arguments: [1, 2])
    func mailbox(loopCount: Int) throws {
        let stage = try AskStage(loopCount: loopCount)
        let lamp = try stage.broker.post(
            AskStage.registration("lamp", ["toggle"]), target: "/v1/observers", loop: stage.loop
        ).json
        _ = try stage.e.result("addObserver", Self.wire)
        #expect(try receipt(stage)["observers"][0]["outcome"] == "held")
        let token = lamp["token"].text ?? ""
        let page = try stage.broker.get("/v1/observers/\(token)/notifications", loop: stage.loop)
        let element = page.json["notifications"][0]
        #expect(element["selector"] == "toggle" && element["target"] == "lamp")
        #expect(element["name"] == "touchUp" && element["observer"] == lamp["id"])
        let stream = try stage.broker.events("/v1/events?token=\(token)", loop: stage.loop)
        let events = try stream.takeEvents()
        #expect(events.contains { $0.data["selector"] == "toggle" })
    }

    @Test("T250: removeObserver takes target and selector; listings take target")
    func removal() throws {
        let stage = try AskStage()
        for members in [
            #""name":"changed","target":"lamp","selector":"x""#,
            #""name":"changed","target":"fan","selector":"y""#,
            #""name":"down","target":"lamp","selector":"x""#,
        ] { _ = try stage.d.result("addObserver", "{\(members)}") }
        func listed(_ query: String) throws -> Int {
            try stage.broker.get("/v1/observers?\(query)").json["observers"].elements.count
        }
        #expect(try listed("target=lamp") == 2 && (try listed("target=lamp&name=down")) == 1)
        #expect(try listed("target=nobody") == 0)
        let removed = try stage.d.result("removeObserver", #"{"target":"fan","selector":"y"}"#)
        #expect(removed["removed"] == 1)
        #expect(try stage.d.result("removeObserver", #"{"name":"changed"}"#)["removed"] == 1)
        #expect(try listed("target=lamp") == 1)
    }

    @Test(
        "K10: a target takes observe on name and object, and ask on selector and target",
        arguments: [
            (#"{"verbs":["observe"]}"#, 403), (#"{"verbs":["ask"]}"#, 403),
            (
                #"{"verbs":["observe"],"names":["touchUp"],"objects":["s1"]},"#
                    + #"{"verbs":["ask"],"names":["toggle"],"objects":["lamp"]}"#, 201
            ),
            (#"{"verbs":["observe"]},{"verbs":["ask"],"names":["toggl"]}"#, 403),
            (#"{"verbs":["observe"]},{"verbs":["ask"],"objects":["lamps"]}"#, 403),
            (
                #"{"verbs":["observe"]},{"verbs":["ask"],"names":["toggle*"],"objects":["la*"]}"#,
                201
            ),
            (#"{"verbs":["observe"],"objects":["s2"]},{"verbs":["ask"]}"#, 403),
            (#"{"verbs":["observe"]},{"verbs":["ask"],"centers":["team"]}"#, 403),
        ])
    func access(grants: String, status: Int) async throws {
        var keys = Keys()
        keys.add("wirer", "[\(grants)]")
        let keyring = try keys.keyring()
        let broker = try Broker {
            $0.keyring = keyring
            $0.anonymousGrants = Grants.none
        }
        let answer = try broker.request(
            "POST", "/v1/observers", Self.wire, fields: [Keys.field("wirer")])
        #expect(answer.status == status)
    }

    @Test(
        "K11: a target that nobody has held for --orphan-after is a leak; a row is never never-looked"
    )
    func leaks() throws {
        let stage = try AskStage { $0.centerLimits.orphanAfter = .seconds(60) }
        _ = try stage.broker.post(Self.wire, target: "/v1/observers")
        func reasons() throws -> [Value] {
            try stage.broker.get("/v1/reports/leaks").json["observers"].elements.map {
                $0["reason"]
            }
        }
        try stage.broker.advance(by: .seconds(59))
        #expect(try reasons() == [])
        try stage.broker.advance(by: .seconds(2))
        #expect(try reasons() == ["no-target"])
        try stage.respond(stage.d, "lamp", ["toggle"])
        #expect(try reasons() == [])
    }
}
