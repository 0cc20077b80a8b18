import BelfryCenter
import BelfryLoop
import BelfrySystem
import Testing

@testable import BelfryServer

@Suite("ReachedLimits and SeldomLines")
struct ReachedLimitsTests {
    private func second(_ number: Int64) -> MonotonicTime {
        MonotonicTime(nanoseconds: number * 1_000_000_000)
    }

    @Test("a limit is told when it is reached, and when it was not reached for 10 s")
    func once() {
        var limits = ReachedLimits()
        #expect(limits.nextEnd == nil)
        let begins: [Bool] = [
            limits.meet(.queue, at: second(0)), limits.meet(.queue, at: second(3)),
            limits.meet(.centers, at: second(4)),
        ]
        #expect(begins == [true, false, true])
        #expect(limits.nextEnd == second(13))
        let early = limits.takeEnded(at: second(12))
        #expect(early.isEmpty)
        let ended = limits.takeEnded(at: second(13))
        #expect(ended.map(\.limit) == [.queue] && ended.map(\.count) == [2])
        #expect(limits.nextEnd == second(14))
        let beginsAgain = limits.meet(.queue, at: second(13))
        #expect(beginsAgain)
        let last = limits.takeEnded(at: second(23))
        #expect(last.count == 2)
        #expect(limits.nextEnd == nil)
    }

    @Test("of a kind of line one a second is told, with how many were not")
    func seldom() {
        var lines = SeldomLines()
        let almost = MonotonicTime(nanoseconds: 1_999_999_999)
        let told: [Int?] = [
            lines.admit(.slowest, at: second(1)), lines.admit(.slowest, at: second(1)),
            lines.admit(.tooSlow, at: second(1)), lines.admit(.slowest, at: almost),
            lines.admit(.slowest, at: second(2)), lines.admit(.slowest, at: second(3)),
        ]
        #expect(told == [0, nil, 0, nil, 2, 0])
    }
}

@Suite("What the log tells of requests, clients and limits")
struct TellingTests {
    @Test("a limit that many meet is two lines")
    func limit() throws {
        let lines = LogLines()
        let broker = try Broker(log: lines.log(.info)) { $0.centerLimit = 2 }
        for number in 0..<50 {
            let path = "/v1/centers/c\(number)/channels/a"
            _ = try broker.request("POST", path, "")
        }
        let option = "option=--max-centers, --center-memory"
        let reached = "a limit is reached limit=centers \(option) loop=0"
        #expect(lines.take() == [reached])
        try broker.advance(by: .seconds(9))
        #expect(lines.take().isEmpty)
        try broker.advance(by: .seconds(2))
        #expect(
            lines.take() == ["a limit is not reached any more limit=centers times=49 loop=0"])
        _ = try broker.request("POST", "/v1/centers/x/channels/a", "")
        #expect(lines.take() == [reached])
    }

    @Test("a full queue and too many connections are told once")
    func queueAndConnections() throws {
        let lines = LogLines()
        let broker = try Broker(connectionLimit: 3, log: lines.log(.info)) {
            $0.centerLimits.queueEntryLimit = 1
        }
        let peer = try broker.http()
        let fields = ["Content-Type: application/json"]
        for number in 0..<5 {
            let idle = #"{"name":"a\#(number)","style":"idle","modes":["m"]}"#
            _ = try peer.request("POST", "/v1/notifications", idle, fields: fields)
        }
        for _ in 0..<5 { _ = try broker.http() }
        #expect(
            lines.take() == [
                "a limit is reached limit=queue entries option=--queue-limit, "
                    + "--queue-memory loop=0",
                "a limit is reached limit=connections option=--max-connections, "
                    + "--connection-memory loop=0",
            ])
    }

    @Test("what was refused is told at debug, without anything that somebody has written")
    func refusals() throws {
        let lines = LogLines()
        let broker = try Broker(log: lines.log(.debug))
        _ = try broker.request("POST", "/v1/channels/Secret?object=o&what=1", "{}")
        _ = try broker.request("POST", "/v1/channels/Secret", "[")
        _ = try broker.get("/v1/observers/o1.hidden")
        _ = try broker.request("PUT", "/v1/notifications", nil)
        let client = try broker.webSocket()
        _ = try client.answer("removeObserver", #"{"token":"o7.hidden"}"#)
        let told = lines.take()
        let refused = told.filter { $0.hasPrefix("a request was refused") }
        #expect(
            refused.map { $0.split(separator: " ").dropFirst(4).dropLast().joined(separator: " ") }
                == [
                    "method=POST route=/v1/channels/{name} type=invalid-fields",
                    "method=POST route=/v1/channels/{name} type=malformed-json",
                    "method=GET route=/v1/observers/{idOrToken} type=not-found",
                    "method=PUT route=/v1/notifications type=method-not-allowed",
                ])
        let call = try #require(told.last)
        #expect(call.hasPrefix("a call was refused method=removeObserver type="))
        #expect(call.hasSuffix(" client=c1"))
        #expect(!told.contains { $0.contains("Secret") || $0.contains("hidden") })
    }

    @Test("each request and call is told at trace, and none of them before", arguments: Scene.all)
    func requests(scene: Scene) throws {
        let lines = LogLines()
        let broker = try Broker(loopCount: scene.loopCount, log: lines.log(.trace))
        let loop = scene.loopCount - 1
        switch scene.door {
        case .http:
            for _ in 0..<3 { try broker.post(name: "a", loop: loop) }
            _ = try broker.post(#"{"name":"a","object":"o"}"#, loop: loop)
            let told = lines.take().filter { $0.hasPrefix("a request was answered") }
            #expect(told.count == 4)
            #expect(
                told.prefix(3).allSatisfy {
                    $0.contains("method=POST route=/v1/channels/{name} status=200 bytes=")
                })
            #expect(told.last?.contains("route=/v1/notifications status=200") == true)
        case .webSocket:
            let client = try broker.webSocket(loop: loop)
            _ = lines.take()
            _ = try client.result("post", #"{"name":"a"}"#)
            #expect(lines.take() == ["a call method=post client=c1"])
        }
        let quiet = LogLines()
        let other = try Broker(log: quiet.log(.debug))
        try other.post(name: "a")
        #expect(quiet.all.isEmpty)
    }

    @Test("suspensions, their ends and gaps are told at debug, by id")
    func suspensions() throws {
        let lines = LogLines()
        let broker = try Broker(log: lines.log(.debug))
        let client = try broker.webSocket()
        _ = try client.result("addObserver", #"{"name":"a","suspensionBehavior":"drop"}"#)
        _ = try client.result("setSuspended", #"{"suspended":true}"#)
        try broker.post(name: "a")
        _ = try client.result("setSuspended", #"{"suspended":false}"#)
        #expect(
            lines.take() == [
                "a client is suspended client=c1 reason=asked",
                "a suspension is over client=c1 reason=asked",
                "an observer is told a gap observer=o1 reason=dropped count=1 firstSeq=1 lastSeq=1",
            ])
    }
}
