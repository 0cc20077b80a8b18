import BelfryCenter
import BelfryLoop
import Synchronization
import Testing

@testable import BelfryServer

@Suite("What ends with time has a share of a turn (decision 69)")
struct HostTimeShareTests {
    /// How many observers one share ends.
    private static let share = CenterHost.shareWorkLimit / 16

    /// Clients that go, each with observers for one share, whose leases end a second from now.
    ///
    /// A loop that has no time for anything takes few requests: each client sends one frame.
    private static func leave(
        _ broker: Broker, _ paths: [String], store: HandStore? = nil
    ) throws {
        let calls = (0..<share).map {
            #"{"jsonrpc":"2.0","id":\#($0),"method":"addObserver","params":{"name":"a","lease":1}}"#
        }
        let sockets = try paths.map { try broker.webSocket("\($0)/ws") }
        for socket in sockets {
            try socket.send("[\(calls.joined(separator: ","))]")
            try store?.commit(in: broker)
        }
        for socket in sockets { try socket.cut() }
        try store?.commit(in: broker)
        try #require(observerCount(broker) == paths.count * share)
    }

    private static func observerCount(_ broker: Broker) -> Int {
        broker.shared.totals.observerCount.load(ordering: .relaxed)
    }

    /// Moves the clock without running a turn.
    private static func move(_ broker: Broker, _ duration: Duration) {
        for node in broker.nodes { node.kernel.advance(by: duration) }
    }

    /// Runs one turn after the other, each with a request of another, until nothing is left.
    ///
    /// - Returns: what was left behind each, and how many requests were answered.
    private static func turns(
        of broker: Broker, _ other: HTTPPeer, left: (Broker) -> Int
    ) throws -> (counts: [Int], answeredCount: Int) {
        var counts: [Int] = []
        var answeredCount = 0
        while counts.last != 0, counts.count < 9 {
            other.peer.send(HTTPPeer.text("POST", "/v1/channels/b", "").utf8)
            try broker.nodes[0].turn()
            counts.append(left(broker))
            if try other.read() != nil { answeredCount += 1 }
        }
        return (counts, answeredCount)
    }

    @Test("a turn ends a share of them, and others are answered in between", .withinOneTurn)
    func shares() throws {
        let broker = try Broker { $0.turnWorkLimit = .zero }
        let other = try broker.http()
        try Self.leave(broker, ["/v1", "/v1", "/v1", "/v1"])
        Self.move(broker, .seconds(1))
        let (counts, answeredCount) = try Self.turns(of: broker, other) {
            Self.observerCount($0) / Self.share
        }
        #expect(counts == [3, 2, 1, 0])
        #expect(answeredCount >= 2)
    }

    @Test("with time left a turn ends all of them", .withinOneTurn)
    func whole() throws {
        let broker = try Broker()
        try Self.leave(broker, ["/v1", "/v1", "/v1"])
        Self.move(broker, .seconds(1))
        try broker.nodes[0].turn()
        #expect(Self.observerCount(broker) == 0)
    }

    @Test(
        "timers that are due together fire a share a turn, and others are answered in between",
        .withinOneTurn)
    func timers() throws {
        let broker = try Broker()
        let other = try broker.http()
        let posts = (0..<200).map { #"{"name":"a","object":"\#($0)","after":1}"# }
        #expect(try broker.post("[\(posts.joined(separator: ","))]").status == 200)
        Self.move(broker, .seconds(1))
        let (counts, answeredCount) = try Self.turns(of: broker, other) {
            $0.shared.totals[.timers]
        }
        #expect(counts == [136, 72, 8, 0])
        #expect(answeredCount >= 3)
    }

    @Test("centers take turns: one with many leases does not keep the others back", .withinOneTurn)
    func centers() throws {
        let broker = try Broker { $0.turnWorkLimit = .zero }
        let paths = ["/v1", "/v1", "/v1", "/v1/centers/b", "/v1/centers/c"]
        try Self.leave(broker, paths)
        Self.move(broker, .seconds(1))
        for _ in 0..<3 { try broker.nodes[0].turn() }
        let node = broker.nodes[0]
        let shares = (0..<3).map { node.server.host.centers[$0].observerCount / Self.share }
        #expect(shares == [2, 0, 0])
    }

    @Test("while much waits for the store one share comes at a time, and a rest behind it")
    func store() throws {
        let (broker, store) = try Broker.durable()
        try Self.leave(broker, ["/v1", "/v1", "/v1"], store: store)
        store.isBehind = true
        Self.move(broker, .seconds(1))
        try broker.crank()
        #expect(Self.observerCount(broker) == 2 * Self.share)
        try broker.advance(by: .milliseconds(4))
        #expect(Self.observerCount(broker) == 2 * Self.share)
        try broker.advance(by: .milliseconds(1))
        #expect(Self.observerCount(broker) == Self.share)
        store.isBehind = false
        try broker.advance(by: .milliseconds(5))
        #expect(Self.observerCount(broker) == 0)
    }
}
