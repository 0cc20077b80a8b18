import BelfryAccess
import BelfryCenter
import BelfryLoop
import BelfryWebSocket
import Testing

@testable import BelfryServer

@Suite("Timers and the store (rules L6, L10, L11)")
struct StoredTimerRouteTests {
    @Test("L6: it is stored before its 202, and fires after kill -9", arguments: [1, 2])
    func stored(loopCount: Int) throws {
        let (broker, store) = try Broker.durable(loopCount: loopCount)
        let peer = try broker.http(loop: loopCount - 1)
        try peer.send(HTTPPeer.text("POST", "/v1/channels/a?after=60", "{}"))
        #expect(try peer.read() == nil)
        try store.commit(in: broker)
        let answer = try #require(try peer.read())
        #expect(answer.status == 202)
        try peer.send(HTTPPeer.text("POST", "/v1/channels/lost?after=60", "{}"))
        let next = try Broker(
            loopCount: loopCount, beginning: store.beginning(afterOrderlyEnd: false))
        let rows = try next.get("/v1/queue?waiting=true").json["entries"].elements
        #expect(rows.map { $0["id"].text } == [answer.json["id"].text])
        #expect(rows.map { $0["dueAt"].text } == [answer.json["dueAt"].text])
        let x = try next.webSocket()
        try x.result("addObserver", #"{"name":null,"object":null,"lifetime":"connection"}"#)
        try next.advance(by: .milliseconds(59_999))
        #expect(try x.takeNames() == [])
        try next.advance(by: .milliseconds(1))
        #expect(try x.takeNames() == ["a"])
        try store.commit(in: next)
        let last = try Broker(beginning: store.beginning(afterOrderlyEnd: false))
        #expect(try last.get("/v1/queue").json["entries"].elements.isEmpty)
    }

    @Test(
        "L6: one that became due while the broker was down is posted at the start, marked after a crash"
    )
    func due() throws {
        let (broker, store) = try Broker.durable()
        let x = try broker.webSocket()
        try x.send(x.call("addObserver", #"{"name":"a","suspensionBehavior":"hold"}"#))
        let peer = try broker.http()
        try peer.send(HTTPPeer.text("POST", "/v1/channels/a?after=0.001", "{}"))
        try store.commit(in: broker)
        let start = CommandTime.embeddedStart
        let later = CommandTime(
            wallMilliseconds: start.wallMilliseconds + 3_600_000,
            monotonicNanoseconds: start.monotonicNanoseconds)
        let next = try Broker(beginning: store.beginning(afterOrderlyEnd: false, at: later))
        try next.crank()
        try store.commit(in: next)
        let back = try next.webSocket()
        try back.send(back.call("resume", #"{"session":"\#(x.session)"}"#))
        try store.commit(in: next)
        let frames = try back.takeNotifications()
        #expect(frames.map { $0["name"].text } == ["a"])
        #expect(frames.map { $0["redelivered"] } == [true])
    }

    @Test("L11: belfry.center.didStart tells of each start with a store, and of a crash")
    func didStart() throws {
        let (broker, store) = try Broker.durable()
        let x = try broker.webSocket()
        try x.send(
            x.call("addObserver", #"{"name":"belfry.center.didStart","suspensionBehavior":"hold"}"#)
        )
        try store.commit(in: broker)
        #expect(try x.takeNames() == [])
        var session = x.session
        for isClean in [false, true] {
            let next = try Broker(beginning: store.beginning(afterOrderlyEnd: isClean))
            try next.crank()
            try store.commit(in: next)
            let back = try next.webSocket()
            try back.send(back.call("resume", #"{"session":"\#(session)"}"#))
            try store.commit(in: next)
            let frames = try back.takeNotifications().map { $0["userInfo"] }
            #expect(frames.map { $0["unclean"] } == [isClean ? false : true])
            #expect(frames.first?["epoch"] == back.welcome["epoch"])
            try back.cut()
            try store.commit(in: next)
            session = x.session
        }
    }

    @Test("where nothing can be stored no timer is promised")
    func refused() throws {
        let (broker, store) = try Broker.durable()
        store.takesPromises = false
        let response = try broker.request("POST", "/v1/channels/a?after=60", "{}")
        #expect(response.problem == "store-unavailable")
        #expect(try broker.get("/v1/queue").json["entries"].elements.isEmpty)
    }
}
