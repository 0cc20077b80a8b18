import BelfryAccess
import Testing

@testable import BelfryServer

@Suite("Modes (rule Q16)")
struct ModeTests {
    private static func enter(_ broker: Broker, _ body: String) throws -> Response {
        try broker.post(body, target: "/v1/modes")
    }

    @Test("entering answers 201 with the token, which no cache keeps and no listing shows")
    func entering() throws {
        let broker = try Broker()
        let response = try Self.enter(broker, #"{"mode":"held"}"#)
        #expect(response.status == 201)
        #expect(response.json["id"] == "m1")
        #expect(response.json["mode"] == "held")
        #expect(response.json["token"].text?.hasPrefix("m1.") == true)
        #expect(response.field("cache-control") == "no-store")
        let modes = try broker.get("/v1/modes").json
        #expect(modes["stack"] == [["id": "m1", "mode": "held"]])
        #expect(modes["current"] == "held")
        #expect(modes["common"] == ["default"])
    }

    @Test(
        "a mode is checked at once",
        arguments: [
            ("{}", "#/mode"), (#"{"mode":""}"#, "#/mode"), (#"{"mode":"common"}"#, "#/mode"),
            (#"{"mode":"a","lease":0.5}"#, "#/lease"), (#"{"mode":"a","lease":3601}"#, "#/lease"),
            (#"{"mode":"a","client":"c1"}"#, "#/client"),
        ])
    func checked(body: String, place: String) throws {
        let response = try Self.enter(try Broker(), body)
        #expect(response.problem == "invalid-fields")
        #expect(response.place == place)
    }

    @Test("over HTTP a lease ends after its time: 60 s when none is given, up to 3,600")
    func leases() throws {
        let broker = try Broker()
        func current() throws -> String? { try broker.get("/v1/modes").json["current"].text }
        let token = try Self.enter(broker, #"{"mode":"long","lease":3600}"#).json["token"].text
        _ = try Self.enter(broker, #"{"mode":"usual"}"#)
        _ = try Self.enter(broker, #"{"mode":"short","lease":1}"#)
        #expect(try current() == "short")
        try broker.advance(by: .milliseconds(1_100))
        #expect(try current() == "usual")
        try broker.advance(by: .seconds(60))
        #expect(try current() == "long")
        try broker.advance(by: .seconds(3_600))
        #expect(try current() == "default")
        #expect(try broker.request("DELETE", "/v1/modes/\(token ?? "")").problem == "not-found")
    }

    @Test("over WebSocket a lease ends with the connection", arguments: [1, 2])
    func connection(loopCount: Int) throws {
        let broker = try Broker(loopCount: loopCount)
        let socket = try broker.webSocket(loop: loopCount - 1)
        let token = try socket.result("enterMode", #"{"mode":"held"}"#)["token"].text ?? ""
        #expect(try socket.problem("enterMode", #"{"mode":"a","lease":5}"#)["status"] == 422)
        try broker.advance(by: .seconds(20))
        #expect(try broker.get("/v1/modes").json["current"] == "held")
        try socket.cut()
        #expect(try broker.get("/v1/modes").json["current"] == "default")
        #expect(try broker.request("DELETE", "/v1/modes/\(token)").status == 404)
    }

    @Test("leaving needs the token; the id alone needs admin; a wrong secret is 404")
    func leaving() throws {
        let broker = try Broker()
        let token = try Self.enter(broker, #"{"mode":"held"}"#).json["token"].text ?? ""
        for path in ["m1", "m1.AAAAAAAAAAAAAAAAAAAAAA", "m2.AAAA", "x1", "m"] {
            #expect(try broker.request("DELETE", "/v1/modes/\(path)").problem == "not-found")
        }
        #expect(try broker.request("DELETE", "/v1/modes/\(token)").status == 204)
        #expect(try broker.request("DELETE", "/v1/modes/\(token)").status == 404)
        let open = try Broker { $0.anonymousGrants = Grants([Grant(.all)]) }
        _ = try Self.enter(open, #"{"mode":"held"}"#)
        #expect(try open.request("DELETE", "/v1/modes/m1").status == 204)
    }

    @Test("the stack has 32 leases, and one more is 409")
    func limit() throws {
        let broker = try Broker()
        for number in 1...33 {
            let response = try Self.enter(broker, #"{"mode":"a"}"#)
            #expect(response.status == (number <= 32 ? 201 : 409))
            if number > 32 { #expect(response.problem == "mode-stack-full") }
        }
    }

    @Test("each center has its own modes, and a look makes none")
    func centers() throws {
        let broker = try Broker(loopCount: 2)
        #expect(try broker.get("/v1/centers/other/modes").problem == "not-found")
        _ = try broker.post(#"{"mode":"held"}"#, target: "/v1/centers/other/modes")
        #expect(try broker.get("/v1/centers/other/modes").json["current"] == "held")
        #expect(try broker.get("/v1/modes").json["current"] == "default")
    }
}
