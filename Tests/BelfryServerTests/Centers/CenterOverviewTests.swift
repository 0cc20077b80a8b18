import BelfryAccess
import BelfryCenter
import BelfryLoop
import Testing

@testable import BelfryServer

@Suite("GET /v1/centers/{center}/overview: how one center stands")
struct CenterOverviewTests {
    private static let target = "/v1/centers/team/overview"

    private static func post(_ broker: Broker, _ path: String, _ body: String = "") throws {
        let method = path.hasPrefix("values") ? "PUT" : "POST"
        let answer = try broker.request(
            method, "/v1/centers/team/\(path)", body, fields: ["Content-Type: application/json"])
        try #require((200..<300).contains(answer.status), "\(path): \(answer.text)")
    }

    @Test("it counts what the center has, beside its limits", arguments: [1, 2])
    func figures(loopCount: Int) throws {
        let broker = try Broker(loopCount: loopCount) {
            $0.centerLimits.queueEntryLimit = 7
            $0.centerLimits.askLimit = 8
            $0.centerLimits.timerLimit = 9
            $0.centerLimits.valueLimit = 10
            $0.centerLimits.replayCountLimit = 11
        }
        let socket = try broker.webSocket("/v1/centers/team/ws", loop: loopCount - 1)
        _ = try socket.result("addObserver", #"{"name":"a"}"#)
        _ = try socket.result("addObserver", AskStage.registration("w", ["a"]))
        try Self.post(broker, "observers", #"{"name":"h","suspensionBehavior":"hold"}"#)
        try Self.post(broker, "channels/a", "{}")
        try Self.post(broker, "channels/h", "{}")
        try Self.post(broker, "notifications", #"{"name":"q","style":"asap","modes":["never"]}"#)
        try Self.post(broker, "channels/late?after=60")
        try Self.post(broker, "values/o/t", "1")
        let asking = try broker.http(loop: loopCount - 1)
        try asking.send(HTTPPeer.text("POST", "/v1/centers/team/responders/w/a"))
        #expect(try asking.read() == nil)
        // Objects of another center do not count.
        _ = try broker.post(#"{"name":"a"}"#, target: "/v1/observers")
        let json = try broker.get(Self.target).json
        let row = try #require(
            try broker.get("/v1/centers").json["centers"].elements.last { $0["name"] == "team" })
        for member in ["name", "epoch", "seq"] { #expect(json[member] == row[member]) }
        #expect(json["observers"]["count"] == row["observers"] && row["observers"] == 3)
        #expect(json["mode"] == "default" && json["asOf"].text?.count == 24)
        let counts: [String: Double] = [
            "websocket": 1, "events": 0, "mailbox": 1, "disconnected": 1, "slow": 0, "asked": 0,
            "live": 1,
        ]
        #expect(json["clients"] == .object(counts.mapValues { .number($0) }))
        #expect(json["responders"]["count"] == 1)
        #expect(json["asks"]["open"] == 1 && json["asks"]["limit"] == 8)
        #expect(json["queue"]["entries"] == 1 && json["queue"]["limit"] == 7)
        #expect(json["queue"]["bytes"] == 1)
        #expect(json["timers"]["count"] == 1 && json["timers"]["limit"] == 9)
        #expect(json["timers"]["bytes"] == 4)
        #expect(json["values"]["count"] == 1 && json["values"]["limit"] == 10)
        #expect(json["values"]["bytes"] == 8)
        #expect(json["held"]["count"] == 1 && json["held"]["bytes"].int ?? 0 > 0)
        #expect((2...3).contains(json["replay"]["count"].int ?? 0))
        #expect(json["replay"]["limit"] == 11)
        #expect(json["channels"]["count"].int ?? 0 >= 2)
        asking.peer.close()
        try broker.crank()
        #expect(try broker.get(Self.target).json["asks"]["open"] == 0)
    }

    @Test("the default center has one too, and it is not that of the broker")
    func defaultCenter() throws {
        let broker = try Broker()
        let json = try broker.get("/v1/centers/default/overview").json
        #expect(json["name"] == "default" && json["observers"]["count"] == 0)
        #expect(try broker.get("/v1/overview").json["centers"]["count"] == 1)
        #expect(try broker.get("/v1/overview").json["name"] == .null)
    }

    @Test("a look makes no center, and one at a name that is none is refused")
    func missing() throws {
        let broker = try Broker()
        #expect(try broker.get(Self.target).problem == "not-found")
        #expect(try broker.get("/v1/centers").json["centers"].elements.count == 1)
        let name = String(repeating: "c", count: 256)
        #expect(try broker.get("/v1/centers/\(name)/overview").problem == "invalid-fields")
        #expect(try broker.get("/v1/centers//overview").problem == "not-found")
        #expect(try broker.get("/v1/centers/team/overview/x").problem == "not-found")
        #expect(try broker.get("/v1/centers/default/overview?since=1").place == "since")
    }

    @Test("it needs `inspect` on something of this center")
    func access() throws {
        let some = Grants([Grant([.inspect], names: [Pattern("Mail")], centers: [Pattern("team")])])
        let broker = try Broker { $0.anonymousGrants = some }
        #expect(try broker.get("/v1/centers/default/overview").problem == "forbidden")
        // Only callers that may look into it learn whether it is there.
        #expect(try broker.get("/v1/centers/other/overview").problem == "forbidden")
        #expect(try broker.get(Self.target).problem == "not-found")
        let none = Grants([Grant(.all.subtracting(.inspect))])
        let other = try Broker { $0.anonymousGrants = none }
        #expect(try other.get("/v1/centers/default/overview").problem == "forbidden")
    }
}
