import BelfryAccess
import BelfryHTTP
import BelfryLoop
import BelfryStore
import Synchronization
import Testing

@testable import BelfryServer

@Suite("POST /v1/backup")
struct BackupTests {
    /// A copy whose parts a test hands over, and what becomes of it.
    final class Source: Sendable {
        private struct State {
            var takes: [@Sendable ([UInt8]) -> Void] = []
            var isReleased = false
        }

        private let state = Mutex(State())

        func copy(byteCount: Int) -> StoreCopy {
            StoreCopy(
                byteCount: byteCount,
                read: { take in self.state.withLock { $0.takes.append(take) } },
                end: { self.state.withLock { $0.isReleased = true } })
        }

        /// Hands over the part that was asked for.
        func give(_ part: [UInt8], in broker: Broker) throws {
            let asked = state.withLock { $0.takes.popLast() }
            let take = try #require(asked)
            take(part)
            try broker.crank()
        }

        var isAsked: Bool { state.withLock { !$0.takes.isEmpty } }
        var isReleased: Bool { state.withLock { $0.isReleased } }
    }

    static func broker(loopCount: Int = 1) throws -> (Broker, HandStore) {
        try Broker.durable(loopCount: loopCount) {
            $0.anonymousGrants = Grants([Grant(.all)])
        }
    }

    static func part(_ number: Int, byteCount: Int) -> [UInt8] {
        (0..<byteCount).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ number) }
    }

    @Test("the copy comes whole, part by part, and the next request after it", arguments: [1, 2])
    func whole(loopCount: Int) throws {
        let (broker, store) = try Self.broker(loopCount: loopCount)
        let source = Source()
        let parts = [
            Self.part(0, byteCount: 100_000), Self.part(1, byteCount: 100_000),
            Self.part(2, byteCount: 5),
        ]
        let peer = try broker.http(loop: loopCount - 1)
        let request = HTTPPeer.text("POST", "/v1/backup", "")
        try peer.send(request + HTTPPeer.text("GET", "/livez"))
        #expect(try peer.read() == nil)
        try store.endBackup(.success(source.copy(byteCount: 200_005)), in: broker)
        for part in parts {
            #expect(!source.isReleased && source.isAsked)
            try source.give(part, in: broker)
        }
        // The last part was read: another backup may begin.
        #expect(source.isReleased)
        let response = try #require(try peer.read())
        #expect(response.status == 200)
        #expect(response.body == parts.flatMap { $0 })
        #expect(response.field("content-type") == "application/vnd.sqlite3")
        #expect(response.field("content-length") == "200005")
        #expect(response.field("cache-control") == "no-store")
        #expect(try peer.read()?.text == "ok\n")
    }

    @Test(
        "it takes admin on everything", arguments: [nil, [Grant(.admin, names: [Pattern("A*")])]])
    func grants(grants: [Grant]?) throws {
        let store = HandStore()
        let broker = try Broker(beginning: store.beginning()) {
            $0.anonymousGrants = grants.map { Grants($0) }
        }
        let refused = try broker.request("POST", "/v1/backup", "")
        #expect(refused.status == 403)
        #expect(refused.problem == "forbidden")
        #expect(refused.json["verb"].text == "admin")
    }

    @Test("a broker that keeps everything in memory has nothing to back up")
    func noStore() throws {
        let broker = try Broker { $0.anonymousGrants = Grants([Grant(.all)]) }
        let refused = try broker.request("POST", "/v1/backup", "")
        #expect(refused.status == 409)
        #expect(refused.problem == "no-store")
        #expect(try broker.request("POST", "/v1/centers/a/backup", "").status == 404)
        #expect(try broker.request("POST", "/v1/backup?x=1", "").status == 422)
    }

    @Test("a second one is refused, and so is one that has no room; the connection goes on")
    func refusals() throws {
        let (broker, store) = try Self.broker()
        let peer = try broker.http()
        try peer.send(HTTPPeer.text("POST", "/v1/backup", ""))
        let second = try broker.request("POST", "/v1/backup", "")
        #expect(second.status == 409)
        #expect(second.problem == "backup-under-way")
        // However long it takes.
        try broker.advance(by: .seconds(3_600))
        try store.endBackup(.failure(.failed(.full)), in: broker)
        let refused = try #require(try peer.read())
        #expect(refused.status == 503)
        #expect(refused.problem == "backup-failed")
        #expect(refused.field("retry-after") == "1")
        #expect(refused.json["detail"].text?.contains("no room") == true)
        #expect(try peer.request("GET", "/livez").status == 200)
        #expect(store.refusalCount == 0)
        try peer.send(HTTPPeer.text("POST", "/v1/backup", ""))
        try store.endBackup(.failure(.closing), in: broker)
        #expect(try peer.read()?.problem == "draining")
    }

    @Test("a copy that cannot be read on is cut off, and never looks whole")
    func cutOff() throws {
        let (broker, store) = try Self.broker()
        let source = Source()
        let peer = try broker.http()
        try peer.send(HTTPPeer.text("POST", "/v1/backup", ""))
        try store.endBackup(.success(source.copy(byteCount: 200_000)), in: broker)
        try source.give(Self.part(0, byteCount: 100_000), in: broker)
        try source.give([], in: broker)
        #expect(source.isReleased)
        #expect(throws: HTTPError.incompleteMessage) { try peer.read() }
    }

    @Test("a client that goes away lets the copy go", arguments: [false, true])
    func gone(isBefore: Bool) throws {
        let (broker, store) = try Self.broker()
        let source = Source()
        let peer = try broker.http()
        try peer.send(HTTPPeer.text("POST", "/v1/backup", ""))
        if isBefore {
            peer.peer.reset()
            try broker.crank()
        }
        try store.endBackup(.success(source.copy(byteCount: 200_000)), in: broker)
        if !isBefore {
            try source.give(Self.part(0, byteCount: 100_000), in: broker)
            #expect(!source.isReleased)
            peer.peer.reset()
            try broker.crank()
        }
        #expect(source.isReleased)
    }
}
