import BelfryCenter
import BelfryLoop
import Testing

@testable import BelfryServer

@Suite("The modes of the queue (Rules.md, Q15 to Q18)")
struct QueueModeRouteTests {
    @Test("Q9, D19: a plain post is delivered in whatever mode the center is", arguments: Scene.all)
    func plainInAnyMode(scene: Scene) throws {
        let stage = try Stage.watched(scene)
        _ = try stage.enter("held")
        try stage.post("a")
        #expect(try stage.x.takeKeys() == ["a"])
    }

    @Test("Q15, Q17, T84: common stands for the modes of the common set", arguments: Scene.all)
    func commonModes(scene: Scene) throws {
        let stage = try Stage(scene) {
            $0.centerLimits.commonModes = [Array("default".utf8), Array("modal".utf8)]
        }
        try stage.observe(stage.x, nil)
        let modal = try stage.enter("modal")
        let common = #","modes":["common"]"#
        try stage.batch(asap("c", more: common), asap("d"))
        #expect(try stage.x.takeKeys() == ["c"])
        #expect(try stage.broker.get("/v1/modes").json["common"] == ["default", "modal"])
        _ = try stage.enter("other")
        try stage.batch(asap("c", more: common), asap("e", more: #","modes":["other"]"#))
        #expect(try stage.x.takeKeys() == ["e"])
        try stage.leave(modal)
        #expect(try stage.broker.get("/v1/modes").json["current"] == "other")
    }

    @Test("Q16, T87: modes nest", arguments: Scene.all)
    func nestedModes(scene: Scene) throws {
        let stage = try Stage.watched(scene)
        func current() throws -> String? {
            try stage.broker.get("/v1/modes").json["current"].text
        }
        let a = try stage.enter("a")
        let b = try stage.enter("b")
        #expect(try current() == "b")
        let stack = try stage.broker.get("/v1/modes").json["stack"].elements
        #expect(stack.map { $0["mode"] } == ["a", "b"])
        #expect(stack[0].has("token") == false)
        #expect(stack[0].has("client") == (scene.door == .webSocket))
        #expect(try stage.leave(b) == 204)
        #expect(try current() == "a")
        #expect(try stage.leave(a) == 204)
        #expect(try current() == "default")
        #expect(try stage.leave(a) == 404)
        #expect(try stage.leave("m99.AAAA") == 404)
    }

    @Test(
        "Q18: a now post whose modes are not current is 409 with the current one",
        arguments: Scene.all)
    func wrongMode(scene: Scene) throws {
        let stage = try Stage.watched(scene)
        let mode = try stage.enter("held")
        let refused = try stage.post(json: now("s"))
        #expect(refused.status == 409)
        #expect(refused.json["current"] == "held")
        #expect(try !stage.post(json: now("t", more: #","modes":["held"]"#)).isRefused)
        // A plain post knows no modes.
        #expect(try !stage.post(json: json(nil, "u")).isRefused)
        #expect(try stage.queue().isEmpty)
        try stage.leave(mode)
        #expect(try stage.x.takeKeys() == ["t", "u"])
    }
}
