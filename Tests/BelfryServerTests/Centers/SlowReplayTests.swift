import BelfryLoop
import Testing

@testable import BelfryServer

@Suite("Clients that do not read what comes again (law 5, rule A8)")
struct SlowReplayTests {
    private static let count = 30

    /// A broker that has 3 MB of the past of one channel.
    private static func stage(loopCount: Int = 1) throws -> Stage {
        let stage = try Stage.archiving(Scene(door: .http, loopCount: loopCount)) {
            $0.slowTimeout = .seconds(5)
        }
        try stage.archive("a")
        try post(stage)
        return stage
    }

    private static func post(_ stage: Stage) throws {
        let text = String(repeating: "x", count: 100_000)
        for _ in 0..<count { try stage.post("a", userInfo: #"{"s":"\#(text)"}"#) }
    }

    /// The states of the clients of a transport.
    private static func states(_ transport: String, _ stage: Stage) throws -> [String] {
        try stage.broker.get("/v1/clients").json["clients"].elements
            .filter { $0["transport"].text == transport }.compactMap { $0["state"].text }
    }

    /// Opens a stream whose peer reads nothing behind the head.
    private static func deafStream(
        _ query: String, fields: [String] = [], _ stage: Stage
    ) throws -> HTTPPeer {
        let http = try stage.broker.http(loop: stage.postLoop)
        http.peer.writeCapacity = 1_000
        try http.send(HTTPPeer.text("GET", "/v1/events?\(query)", fields: fields))
        return http
    }

    @Test(
        "a stream that reads nothing of its replay ends",
        arguments: ["since=oldest", "since=1", "last=20", "last_event_id"], [1, 2])
    func stream(beginning: String, loopCount: Int) throws {
        let stage = try Self.stage(loopCount: loopCount)
        let epoch = try stage.past("name=a&limit=1").json["epoch"].text ?? ""
        let isPosition = beginning == "last_event_id"
        let peer = try Self.deafStream(
            "name=a" + (isPosition ? "" : "&\(beginning)"),
            fields: isPosition ? ["Last-Event-ID: \(epoch)-1"] : [], stage)
        try stage.broker.advance(by: .milliseconds(4_900))
        #expect(try Self.states("events", stage) == ["slow"])
        try stage.broker.advance(by: .milliseconds(400))
        #expect(try Self.states("events", stage) == [])
        peer.peer.writeCapacity = .max
        try stage.broker.crank()
        #expect(peer.peer.sawEndOfOutput)
        #expect(try stage.broker.get("/metrics").text.contains("belfry_clients_too_slow_total 1\n"))
    }

    @Test("a WebSocket that reads nothing of its replay is closed with 4008", arguments: [1, 2])
    func webSocket(loopCount: Int) throws {
        let stage = try Self.stage(loopCount: loopCount)
        stage.x.peer.writeCapacity = 1_000
        try stage.x.send(stage.x.call("addObserver", #"{"name":"a","since":"oldest"}"#))
        try stage.broker.advance(by: .milliseconds(4_900))
        // Its requests do not make it any faster.
        try stage.x.send(stage.x.call("ping", "{}"))
        try stage.broker.advance(by: .milliseconds(400))
        stage.x.peer.writeCapacity = .max
        try stage.broker.crank()
        _ = try stage.x.takeMessages()
        #expect(stage.x.closeCode == 4008)
    }

    @Test("one that comes back, and reads nothing of what it lacks, is closed, too")
    func resume() throws {
        let stage = try Self.stage()
        try stage.x.result("addObserver", #"{"name":"a","suspensionBehavior":"hold"}"#)
        try stage.x.cut()
        try Self.post(stage)
        let back = try stage.broker.webSocket()
        back.peer.writeCapacity = 1_000
        try back.send(
            back.call("resume", #"{"session":"\#(stage.x.session)","after":\#(Self.count)}"#))
        try stage.broker.advance(by: .milliseconds(5_300))
        back.peer.writeCapacity = .max
        try stage.broker.crank()
        _ = try back.takeMessages()
        #expect(back.closeCode == 4008)
    }

    @Test("a client that reads slowly, but reads, gets all", arguments: [1, 2])
    func steady(loopCount: Int) throws {
        let stage = try Self.stage(loopCount: loopCount)
        stage.x.peer.writeCapacity = 1_000
        try stage.x.send(stage.x.call("addObserver", #"{"name":"a","since":"oldest"}"#))
        var seconds = 0
        var names = 0
        while names < Self.count, seconds < 100 {
            seconds += 4
            stage.x.peer.writeCapacity = 300_000
            try stage.broker.advance(by: .seconds(4))
            names += try stage.x.takeNames().count
        }
        #expect(names == Self.count && seconds > 30)
        stage.x.peer.writeCapacity = .max
        // It is asked for a sign of life again, as every silent client is.
        try stage.broker.advance(by: .seconds(24))
        #expect(stage.x.closeCode == nil)
        #expect(try Self.states("websocket", stage).allSatisfy { $0 == "live" })
    }
}
