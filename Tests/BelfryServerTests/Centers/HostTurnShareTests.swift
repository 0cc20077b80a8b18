import BelfryCenter
import BelfryLoop
import Testing

@testable import BelfryServer

@Suite("Asap entries have a share of a turn (decision 66)")
struct HostTurnShareTests {
    /// How many entries for one observer one command posts.
    private static let shareCount = (CenterHost.shareWorkLimit + 16) / 17

    /// Centers whose asap entries wait for their mode to be left.
    private final class Bench {
        let broker: Broker
        let sockets: [SocketPeer]
        private let paths: [String]
        private var tokens: [String] = []
        private let peer: HTTPPeer

        init(isAlwaysLong: Bool = true, centers: [String] = [""]) throws {
            broker = try Broker { if isAlwaysLong { $0.turnWorkLimit = .zero } }
            paths = centers.map { "/v1\($0)" }
            let broker = broker
            sockets = try paths.map { try broker.webSocket("\($0)/ws") }
            peer = try broker.http()
            for (path, socket) in zip(paths, sockets) {
                try socket.observe(nil)
                let entered = try broker.post(#"{"mode":"held"}"#, target: "\(path)/modes")
                tokens.append(try #require(entered.json["token"].text))
            }
        }

        /// Enqueues entries with names of their own, which all wait.
        func enqueue(_ count: Int, center: Int = 0, userInfo: String = "{}") throws {
            let posts = (0..<count).map {
                #"{"name":"a\#($0)","style":"asap","coalesce":[],"userInfo":\#(userInfo)}"#
            }
            let body = "[" + posts.joined(separator: ",") + "]"
            let answer = try broker.post(body, target: "\(paths[center])/notifications")
            try #require(answer.status == 200, "\(answer.text)")
        }

        /// Leaves the mode of all centers, and runs the turn.
        func leave() throws {
            let requests = zip(paths, tokens).map { HTTPPeer.text("DELETE", "\($0)/modes/\($1)") }
            peer.peer.send(requests.joined().utf8)
            try turn()
        }

        @discardableResult
        func turn() throws -> Bool { try broker.nodes[0].turn() }
    }

    @Test(
        "a turn posts a share of them, others are answered, and what is enqueued meanwhile is last",
        .withinOneTurn)
    func shares() throws {
        let bench = try Bench()
        let share = Self.shareCount
        let all = (0..<3 * share + 5).map { "a\($0)" }
        try bench.enqueue(all.count)
        let other = try bench.broker.http()
        try bench.leave()
        #expect(try bench.sockets[0].takeNames() == Array(all[..<share]))
        other.peer.send(
            (HTTPPeer.text("POST", "/v1/channels/late?style=asap", "")
                + HTTPPeer.text("POST", "/v1/channels/plain", "")).utf8)
        // This turn has looked at its input before.
        try bench.turn()
        #expect(try bench.sockets[0].takeNames() == Array(all[share..<2 * share]))
        try bench.turn()
        #expect(try other.read()?.status == 202)
        #expect(try other.read()?.status == 200)
        #expect(try bench.sockets[0].takeNames() == ["plain"] + all[2 * share..<3 * share])
        try bench.turn()
        #expect(try bench.sockets[0].takeNames() == Array(all.suffix(5)))
        try bench.turn()
        #expect(try bench.sockets[0].takeNames() == ["late"])
        try bench.broker.crank()
        #expect(try bench.sockets[0].takeNames().isEmpty)
    }

    @Test("centers take turns: one with many entries does not keep the others back", .withinOneTurn)
    func centers() throws {
        let bench = try Bench(centers: ["", "/centers/b", "/centers/c"])
        let share = Self.shareCount
        for (center, count) in [3 * share, 2, 1].enumerated() {
            try bench.enqueue(count, center: center)
        }
        try bench.leave()
        var counts = [try bench.sockets.map { try $0.takeNames().count }]
        for _ in 0..<4 {
            try bench.turn()
            counts.append(try bench.sockets.map { try $0.takeNames().count })
        }
        // It begins behind the center that was the last to post, which is any of them.
        #expect(counts.map { $0.count { $0 > 0 } } == [1, 1, 1, 1, 1])
        #expect(counts[..<3].map { $0[1] + $0[2] }.sorted() == [0, 1, 2])
        #expect(counts.map { $0[0] }.sorted() == [0, 0, share, share, share])
    }

    @Test("with time left a turn posts all of them", .withinOneTurn)
    func whole() throws {
        let bench = try Bench(isAlwaysLong: false)
        try bench.enqueue(3 * Self.shareCount)
        try bench.leave()
        #expect(try bench.sockets[0].takeNames().count == 3 * Self.shareCount)
    }

    @Test(
        "a turn with much output leaves the rest to the next one, whatever its time", .withinOneTurn
    )
    func output() throws {
        let bench = try Bench(isAlwaysLong: false)
        let large = #"{"k":"\#(String(repeating: "x", count: 30_000))"}"#
        for _ in 0..<5 { try bench.enqueue(20, userInfo: large) }
        try bench.leave()
        let count = try bench.sockets[0].takeNames().count
        #expect(count * 30_000 > Outbox.shareOutputByteLimit && count < 100)
        try bench.broker.crank()
        #expect(try bench.sockets[0].takeNames().count == 100 - count)
    }
}
