import BelfryLoop
import BelfryWebSocket
import Testing

@testable import BelfryServer

@Suite("Pauses of the process (decision 63)")
struct PauseTests {
    @Test(
        "a pause does not end the lease of an observer, and what is left of it goes on",
        arguments: Scene.all)
    func lease(scene: Scene) throws {
        let stage = try Stage(scene)
        try stage.observe(stage.x, "a", nil, terms: #","lease":60"#)
        try stage.x.cut()
        try stage.broker.advance(by: .seconds(10))
        try stage.broker.pause(for: .seconds(86_400))
        func states() throws -> [Value] {
            try stage.broker.get("/v1/observers").json["observers"].elements.map { $0["state"] }
        }
        #expect(try states() == ["disconnected"])
        try stage.broker.advance(by: .seconds(48))
        #expect(try states() == ["disconnected"])
        try stage.broker.advance(by: .seconds(2))
        #expect(try states().isEmpty)
    }

    @Test("a pause does not end the lease of a mailbox, that of a mode, or a ttl")
    func others() throws {
        let broker = try Broker()
        let row = try broker.post(#"{"name":"a","lease":60}"#, target: "/v1/observers").json
        let path = "/v1/observers/\(row["token"].text ?? "")/notifications"
        _ = try broker.post(#"{"mode":"held","lease":60}"#, target: "/v1/modes")
        #expect(try broker.post(#"{"name":"a","ttl":60}"#).status == 200)
        try broker.pause(for: .seconds(3_600))
        #expect(try broker.get("/v1/modes").json["current"] == "held")
        #expect(try broker.get(path).json["notifications"].elements.count == 1)
        try broker.advance(by: .seconds(59))
        #expect(try broker.get("/v1/modes").json["current"] == "default")
        let page = try broker.get(path).json
        #expect(page["notifications"].elements.isEmpty)
        #expect(page["gaps"].elements.map { $0["reason"] } == ["expired"])
    }

    @Test("a pong that came in a pause is heard; who did not answer has a second for it")
    func pongs() throws {
        let broker = try Broker {
            $0.pingInterval = .seconds(4)
            $0.pongTimeout = .seconds(5)
        }
        let (first, second) = (try broker.webSocket(), try broker.webSocket())
        try broker.advance(by: .milliseconds(4_300))
        first.put(.pong, [])
        try broker.pause(for: .seconds(600))
        #expect(!first.peer.sawEndOfOutput && !second.peer.sawEndOfOutput)
        try broker.advance(by: .milliseconds(1_300))
        #expect(!first.peer.sawEndOfOutput && second.peer.sawEndOfOutput)
    }
}
