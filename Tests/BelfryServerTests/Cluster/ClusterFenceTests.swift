import BelfryCenter
import BelfryCluster
import BelfryLoop
import BelfryWire
import SimulatedLog
import Testing

@testable import BelfryServer

@Suite("Brokers that lose the log that they share")
struct ClusterFenceTests {
    @Test("a broker that is cut off closes its clients, and comes back by itself")
    func fence() throws {
        let cluster = try BrokerCluster(count: 3)
        let socket = try cluster[0].webSocket()
        _ = try socket.observe("a")
        let poster = try cluster[0].http()
        cluster.journals[0].isCut = true
        // Its outcome is unknown.
        try poster.send(HTTPPeer.text("POST", "/v1/channels/a", ""))
        try cluster.advance(by: 2_500)
        try socket.read()
        #expect(socket.closeCode == 1012)
        let response = try #require(try poster.read())
        #expect(response.status == 504)
        #expect(response.problem == "outcome-unknown")
        let refused = try cluster[0].request("POST", "/v1/channels/a", "")
        #expect(refused.status == 503)
        #expect(refused.json["reason"].text == "fenced")
        #expect(try cluster[0].get("/readyz").status == 503)
        #expect(try cluster[1].get("/readyz").status == 200)
        let cutOff = try MetricsPage(cluster[0])
        #expect(cutOff["belfry_cluster_ready"] == 0)
        #expect(cutOff["belfry_cluster_unknown_outcomes_total"] == 1)
        #expect(cutOff.troubles("belfry_cluster_fenced_total") == ["heard-nothing": 1])
        try cluster.advance(by: 1_000)
        let other = try MetricsPage(cluster[1])
        #expect(other["belfry_cluster_ready"] == 1)
        #expect(other[#"belfry_cluster_nodes{state="up"}"#] == 2)
        #expect(other[#"belfry_cluster_nodes{state="down"}"#] == 1)
        cluster.journals[0].isCut = false
        try cluster.advance(by: 3_000)
        #expect(try cluster[0].get("/readyz").status == 200)
        #expect(try MetricsPage(cluster[0])["belfry_cluster_ready"] == 1)
    }

    @Test(
        "who waits for observers at a broker that loses the cluster is told, and its stop waits for nobody"
    )
    func waitingAtTheFence() throws {
        let cluster = try BrokerCluster(count: 2)
        let observer = try cluster[1].webSocket()
        _ = try observer.result("addObserver", #"{"name":"a","acknowledge":true}"#)
        _ = try observer.result("addObserver", AskStage.registration("w", ["a"]))
        let caller = try cluster[0].webSocket()
        try caller.send(
            #"{"jsonrpc":"2.0","id":7,"method":"post","params":{"name":"a","wait":60}}"#
        )
        let (poster, asker) = (try cluster[0].http(), try cluster[0].http())
        try poster.send(
            HTTPPeer.text("POST", "/v1/channels/a", "", fields: ["Prefer: wait=60"]))
        try asker.send(
            HTTPPeer.text("POST", "/v1/responders/w/a", "{}", fields: ["Prefer: wait=60"]))
        try cluster.advance(by: 500)
        #expect(try poster.read() == nil)
        #expect(try asker.read() == nil)
        cluster.journals[0].isCut = true
        try cluster.advance(by: 2_500)
        for peer in [poster, asker] {
            let response = try #require(try peer.read())
            #expect(response.status == 504)
            #expect(response.problem == "outcome-unknown")
        }
        try caller.read()
        let problem = try #require(try caller.takeAnswer(7))
        #expect(problem["error"]["data"]["type"].text?.hasSuffix("outcome-unknown") == true)
        #expect(caller.closeCode == 1012)
        #expect(cluster[0].nodes[0].server.host.completions.waiting.isEmpty)
    }

    @Test(
        "a long poll is answered in its time while the log stands still, and a withdrawal after 8 s"
    )
    func standstill() throws {
        let cluster = try BrokerCluster(count: 2)
        let mailbox = try cluster[0].post(#"{"name":"a"}"#, target: "/v1/observers").json
        let token = mailbox["token"].text ?? ""
        let responder = try cluster[1].webSocket()
        _ = try responder.result("addObserver", AskStage.registration("w", ["a"]))
        let asked = try cluster[0].request(
            "POST", "/v1/responders/w/a?ttl=60", "{}", fields: ["Prefer: respond-async"])
        let fate = asked.field("location") ?? ""
        let (reader, withdrawer) = (try cluster[0].http(), try cluster[0].http())
        try reader.send(
            HTTPPeer.text(
                "GET", "/v1/observers/\(token)/notifications", fields: ["Prefer: wait=3"]))
        try cluster.advance(by: 500)
        cluster.engine.loseLeader(for: 20_000_000_000)
        try withdrawer.send(HTTPPeer.text("DELETE", fate))
        try cluster.advance(by: 3_000)
        let page = try #require(try reader.read())
        #expect(page.status == 200)
        #expect(page.json["notifications"].elements.isEmpty)
        #expect(try withdrawer.read() == nil)
        try cluster.advance(by: 5_500)
        let withdrawal = try #require(try withdrawer.read())
        #expect(withdrawal.status == 504)
        #expect(withdrawal.problem == "outcome-unknown")
    }

    @Test("a log that stands still for 30 s costs readiness, and the reason is the engine")
    func noQuorum() throws {
        let cluster = try BrokerCluster(count: 2)
        let whole =
            #"{"ready":true,"parts":{"loops":"1","store":"none","restore":"done","drain":"none","#
            + #""limits":"ok","cluster":"ok"}}"#
        #expect(try cluster[0].get("/readyz?verbose").text == whole)
        cluster.engine.loseLeader(for: 40_000_000_000)
        let poster = try cluster[0].http()
        try poster.send(HTTPPeer.text("POST", "/v1/channels/a", ""))
        try cluster.advance(by: 29_000)
        #expect(try cluster[0].get("/readyz").status == 200)
        try cluster.advance(by: 2_000)
        let response = try cluster[0].get("/readyz?verbose")
        #expect(response.status == 503)
        #expect(response.json["reason"] == "no-quorum")
        #expect(response.json["parts"]["cluster"] == "no-quorum")
        try cluster.advance(by: 12_000)
        #expect(try cluster[0].get("/readyz").status == 200)
    }
}
