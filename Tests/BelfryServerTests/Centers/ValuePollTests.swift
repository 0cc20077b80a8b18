import BelfryCenter
import BelfryHTTP
import BelfryLoop
import Testing

@testable import BelfryServer

@Suite("Long polls at values (Protocol.md section 15)")
struct ValuePollTests {
    @Test(
        "V14: a long poll is answered as soon as the value differs, and 304 when its time is over",
        arguments: [1, 2])
    func longPoll(loopCount: Int) throws {
        let broker = try Broker(loopCount: loopCount)
        let loop = loopCount - 1
        let tag = try #require(
            try broker.request("PUT", "/v1/values/o/a", "1", loop: loop).field("etag"))
        let wait = ["If-None-Match: \(tag)", "Prefer: wait=5"]
        let peer = try broker.http(loop: loop)
        try peer.send(HTTPPeer.text("GET", "/v1/values/o/a", fields: wait))
        _ = try broker.request("PUT", "/v1/values/o/b", "1", loop: loop)
        #expect(try peer.read() == nil)
        _ = try broker.request("PUT", "/v1/values/o/a", "2", loop: loop)
        #expect(try peer.read()?.text == "2")
        let late = try broker.http(loop: loop)
        let other = try #require(try broker.get("/v1/values/o/a").field("etag"))
        try late.send(
            HTTPPeer.text(
                "GET", "/v1/values/o/a", fields: ["If-None-Match: \(other)", "Prefer: wait=5"]))
        try broker.advance(by: .seconds(4))
        #expect(try late.read() == nil)
        try broker.advance(by: .seconds(1))
        #expect(try late.read()?.status == 304)
        try late.send(
            HTTPPeer.text(
                "GET", "/v1/values/o/a", fields: ["If-None-Match: \(other)", "Prefer: wait=5"]))
        _ = try broker.request("DELETE", "/v1/values/o", loop: loop)
        #expect(try late.read()?.status == 404)
    }

    @Test(
        "V14: a long poll ends when its client shuts down its half, or goes", arguments: [1, 2])
    func longPollLeft(loopCount: Int) throws {
        let broker = try Broker(loopCount: loopCount)
        let tag = try #require(try broker.request("PUT", "/v1/values/o", "{}").field("etag"))
        let wait = ["If-None-Match: \(tag)", "Prefer: wait=5"]
        let (half, gone) = (
            try broker.http(loop: loopCount - 1), try broker.http(loop: loopCount - 1)
        )
        for peer in [half, gone] {
            try peer.send(HTTPPeer.text("GET", "/v1/values/o", fields: wait))
            #expect(try peer.read() == nil)
        }
        func waitingCount() -> Int { broker.nodes.reduce(0) { $0 + $1.server.host.values.count } }
        #expect(waitingCount() == 2)
        half.peer.halfClose()
        gone.peer.close()
        try broker.crank()
        #expect(try half.read()?.status == 304)
        #expect(half.peer.sawEndOfOutput)
        #expect(waitingCount() == 0)
    }
}
