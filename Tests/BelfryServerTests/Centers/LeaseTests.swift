import BelfryAccess
import BelfryCenter
import BelfryLoop
import BelfryWebSocket
import Synchronization
import Testing

@testable import BelfryServer

@Suite("Leases, leaks and removals (rules O6 to O9)")
struct LeaseTests {
    @Test(
        "O7, T37: an observer outlives its connection for its lease, and no longer",
        arguments: Scene.all)
    func lease(scene: Scene) throws {
        let stage = try Stage(scene)
        let row = try stage.observe(stage.x, "a", nil, terms: #","lease":1"#)
        try stage.broker.advance(by: .seconds(5))
        #expect(try stage.observers()[0]["state"] == "live")
        try stage.x.cut()
        try stage.broker.advance(by: .milliseconds(900))
        #expect(try stage.observers()[0]["state"] == "disconnected")
        try stage.broker.advance(by: .milliseconds(200))
        let tombstone = try stage.broker.get("/v1/observers/\(row["token"].text ?? "")")
        #expect(tombstone.problem == "observer-removed")
        #expect(tombstone.json["reason"] == "expired")
        #expect(tombstone.json["removedBy"] == "broker")
        #expect(stage.broker.shared.totals.observerCount.load(ordering: .relaxed) == 0)
        #expect(
            try stage.broker.webSocket().problem("resume", #"{"session":"\#(stage.x.session)"}"#)[
                "status"] == 404)
    }

    @Test("O7: a lease that would be over already is refused; another one runs from the same end")
    func leaseOfOneThatIsAway() throws {
        let broker = try Broker()
        let x = try broker.webSocket()
        try x.observe("a")
        let kept = try x.result("addObserver", #"{"name":"a"}"#)
        #expect(kept["lease"] == 3_600)
        try x.cut()
        try broker.advance(by: .seconds(10))
        func register(_ lease: Int) throws -> Response {
            try broker.post(
                #"{"name":"b","lease":\#(lease),"session":"\#(x.session)"}"#,
                target: "/v1/observers")
        }
        for lease in [1, 10] {
            let refused = try register(lease)
            #expect(refused.status == 422 && refused.problem == "invalid-fields")
            #expect(refused.json["errors"][0]["pointer"] == "#/lease")
            #expect(refused.json["errors"][0]["detail"].text?.contains("11 s") == true)
        }
        let row = try register(11)
        #expect(row.status == 201)
        let target = "/v1/observers/\(row.json["token"].text ?? "")"
        try broker.advance(by: .milliseconds(900))
        #expect(try broker.get(target).json["state"] == "disconnected")
        try broker.advance(by: .milliseconds(200))
        #expect(try broker.get(target).status == 410)
    }

    @Test("a lease that is too long is lowered, and the answer shows it")
    func longest() throws {
        let broker = try Broker()
        let socket = try broker.webSocket()
        let row = try socket.result("addObserver", #"{"name":"a","lease":99999999}"#)
        #expect(row["lease"] == 2_592_000)
        #expect(try socket.observe("a")["lease"] == 3_600)
    }

    @Test("a lease for ever is a grant")
    func forever() throws {
        let socket = try Broker().webSocket()
        let problem = try socket.problem("addObserver", #"{"name":"a","lease":null}"#)
        #expect(problem["status"] == 403)
        let open = try Broker { $0.anonymousGrants = Grants([Grant(.all)]) }
        let owner = try open.webSocket()
        let row = try owner.result("addObserver", #"{"name":"a","lease":null}"#)
        #expect(row["lease"] == .null)
        try owner.cut()
        try open.advance(by: .seconds(10_000_000))
        #expect(try open.get("/v1/observers").json["observers"].elements.count == 1)
        // One of its connection's lifetime asks for nothing of the kind.
        try socket.result("addObserver", #"{"name":"a","lease":null,"lifetime":"connection"}"#)
    }

    @Test("a mailbox's lease runs from the last look, and not while somebody waits")
    func mailboxLease() throws {
        let broker = try Broker()
        let row = try broker.post(#"{"name":"a","lease":10}"#, target: "/v1/observers").json
        let path = "/v1/observers/\(row["token"].text ?? "")/notifications"
        for _ in 0..<3 {
            try broker.advance(by: .seconds(8))
            #expect(try broker.get(path).status == 200)
        }
        let peer = try broker.http()
        try peer.send(HTTPPeer.text("GET", path, fields: ["Prefer: wait=30"]))
        try broker.advance(by: .milliseconds(30_100))
        #expect(try peer.read()?.status == 200)
        try broker.advance(by: .milliseconds(10_100))
        #expect(try broker.get(path).json["reason"] == "expired")
    }

    @Test("O6, O7, T36: who was away for longer than orphanAfter is reported", arguments: Scene.all)
    func leaks(scene: Scene) throws {
        let stage = try Stage(scene) { $0.centerLimits.orphanAfter = .seconds(60) }
        try stage.observe(stage.x, "a")
        _ = try stage.broker.post(#"{"name":"b"}"#, target: "/v1/observers")
        let row = try stage.observe(stage.y, "a").json
        #expect(!row["id"].keys.contains("x"))
        try stage.observe(stage.y, "a")
        try stage.x.cut()
        func leaks() throws -> [Value] {
            try stage.broker.get("/v1/reports/leaks").json["observers"].elements
        }
        try stage.broker.advance(by: .seconds(50))
        #expect(try leaks().map { $0["reason"] } == ["duplicate"])
        for peer in [stage.y, stage.poster] { try peer.send(.pong, []) }
        try stage.broker.advance(by: .seconds(11))
        let reasons = try leaks().map { $0["reason"] }
        #expect(reasons == ["disconnected", "never-looked", "duplicate"])
        #expect(try leaks()[0]["id"] == "o1")
        #expect(try leaks()[0]["stateSince"].text != nil)
        let page = try stage.broker.get("/v1/reports/leaks?limit=2").json
        #expect(page["observers"].elements.count == 2)
        let rest = try stage.broker.get("/v1/reports/leaks?cursor=\(page["next"].text ?? "")").json
        #expect(rest["observers"].elements.map { $0["reason"] } == ["duplicate"])
    }

    @Test("O9, T32: the owner hears who removed its observer, and why", arguments: Scene.all)
    func removedFrame(scene: Scene) throws {
        let stage = try Stage(scene)
        let row = try stage.observe(stage.x, "a").json
        #expect(try !stage.remove(row["token"]).isRefused)
        let frame = try #require(try stage.x.takeMessages().first)
        #expect(frame["method"] == "belfry.removed")
        #expect(frame["params"]["observer"] == row["id"])
        #expect(frame["params"]["reason"] == "removed")
        let remover = scene.door == .http ? "anonymous" : stage.poster.client
        #expect(frame["params"]["removedBy"].text == remover)
    }

    @Test("O8: a listing tells state, counts and when the last one came", arguments: Scene.all)
    func listing(scene: Scene) throws {
        let stage = try Stage(scene)
        try stage.observe(stage.x, "a", nil, terms: #","suspensionBehavior":"hold""#)
        try stage.post("a")
        try stage.suspend(stage.x)
        try stage.post("a")
        let row = try stage.observers()[0]
        #expect(row["state"] == "asked")
        #expect(row["delivered"] == 1)
        #expect(row["held"] == 1)
        #expect(row["lifetime"] == "token")
        #expect(row["lease"] == 3_600)
        #expect(row["lastDeliveredAt"].text != nil)
    }
}
