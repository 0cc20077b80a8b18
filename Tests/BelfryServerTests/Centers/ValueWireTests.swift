import BelfryCenter
import BelfryHTTP
import BelfryLoop
import Testing

@testable import BelfryServer

@Suite("Values over HTTP and WebSocket (Protocol.md section 15)")
struct ValueWireTests {
    private static let merge = ["Content-Type: application/merge-patch+json"]

    /// Takes the changes that a client was told: `keyPath change`.
    private static func changes(_ peer: SocketPeer) throws -> [Value] {
        try peer.takeMessages(where: { $0["params"]["name"] == "belfry.value" })
            .map { $0["params"] }
    }

    @Test(
        "V1: a value is put, read, patched and removed; its tag and position come with it",
        arguments: [1, 2])
    func writes(loopCount: Int) throws {
        let broker = try Broker(loopCount: loopCount)
        let loop = loopCount - 1
        func ask(
            _ method: String, _ target: String, _ body: String? = nil, _ fields: [String] = []
        ) throws -> Response {
            try broker.request(method, target, body, fields: fields, loop: loop)
        }
        #expect(try ask("GET", "/v1/values/o").status == 404)
        let put = try ask("PUT", "/v1/values/o/ui.theme", #" "dark" "#)
        #expect(put.status == 201)
        #expect(put.json["changed"] == true)
        #expect(put.json["seq"] == 1)
        #expect(put.json["matched"] == 0)
        #expect(put.json["etag"].text == put.field("etag"))
        let look = try ask("GET", "/v1/values/o/ui.theme")
        #expect(look.text == #""dark""#)
        #expect(look.field("etag") == put.field("etag"))
        #expect(look.field("belfry-position")?.hasSuffix("-1") == true)
        let same = try ask("PUT", "/v1/values/o", #"{"ui":{"theme":"dark","x":null}}"#)
        #expect(same.status == 200)
        #expect(same.json["changed"] == false)
        #expect(!same.json.has("id"))
        #expect(try ask("PATCH", "/v1/values/o", #"{"a":[1,null]}"#, Self.merge).status == 200)
        #expect(try ask("GET", "/v1/values/o").text == #"{"a":[1,null],"ui":{"theme":"dark"}}"#)
        #expect(try ask("HEAD", "/v1/values/o").field("etag") != nil)
        #expect(try ask("DELETE", "/v1/values/o/ui").status == 200)
        #expect(try ask("DELETE", "/v1/values/o/ui").status == 404)
        let row = try ask("GET", "/v1/values").json["values"][0]
        #expect(row["object"] == "o")
        #expect(row["bytes"] == 14)
        #expect(row["observers"] == 0)
        #expect(try ask("GET", "/v1/values?object=p").json["values"].elements.isEmpty)
        #expect(try ask("DELETE", "/v1/values/o").status == 200)
        #expect(try ask("GET", "/v1/values").json["values"].elements.isEmpty)
    }

    @Test(
        "V1 (T285): what is no value, no key path or too much is refused, and says where",
        arguments: [
            ("PUT", "/v1/values/o", "[1]", 422), ("PUT", "/v1/values/o/a", "null", 422),
            ("PATCH", "/v1/values/o", "5", 422), ("PUT", "/v1/values/o/a..b", "1", 422),
            ("PUT", "/v1/values/o/.a", "1", 422), ("PUT", "/v1/values/o/a", "{", 400),
            ("PUT", "/v1/values/o/a", "", 400), ("PUT", "/v1/values/o/a?ttl=0", "1", 422),
            ("PUT", "/v1/values/o/a?lease=1", "1", 422),
            ("PUT", "/v1/values/o/a?ttl=2592001", "1", 422),
            ("PATCH", "/v1/values/o/a?ttl=1", "1", 422),
            ("PUT", "/v1/values/o/a", #"{"k":1,"k":2}"#, 422),
            ("PUT", "/v1/values/o/a", #""\ud800""#, 422),
        ])
    func refused(method: String, target: String, body: String, status: Int) throws {
        let broker = try Broker()
        let answer = try broker.request(method, target, body)
        #expect(answer.status == status)
        #expect(status == 400 || answer.place != nil)
    }

    @Test("limits of values over the wire: as much as may be, and one more")
    func limits() throws {
        let broker = try Broker { $0.centerLimits.valueLimit = 1 }
        func put(_ target: String, _ body: String) throws -> Int {
            try broker.request("PUT", "/v1/values/\(target)", body).status
        }
        let room = 262_144 - #"{"a":""}"#.utf8.count
        #expect(try put("o/a", "\"\(String(repeating: "x", count: room))\"") == 201)
        #expect(try put("o/a", "\"\(String(repeating: "x", count: room + 1))\"") == 413)
        func nested(_ depth: Int) -> String {
            String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
        }
        #expect(try put("o/a", nested(15)) == 200)
        #expect(try put("o/a", nested(16)) == 422)
        let path = Array(repeating: "k", count: 16).joined(separator: ".")
        #expect(try put("o/\(path)", "1") == 201)
        #expect(try put("o/\(path).k", "1") == 422)
        let long = String(repeating: "k", count: 1_024)
        #expect(try put("o/\(long)", "1") == 201)
        #expect(try put("o/\(long)k", "1") == 422)
        let full = try broker.request("PUT", "/v1/values/p", "{}")
        #expect(full.status == 503)
        #expect(full.problem == "values-full")
        #expect(full.field("retry-after") != nil)
    }

    @Test("V14 (T266): preconditions are those of RFC 9110; a 412 has the tag that is")
    func conditions() throws {
        let broker = try Broker()
        func put(_ body: String, _ fields: String...) throws -> Response {
            try broker.request("PUT", "/v1/values/o/a", body, fields: fields)
        }
        #expect(try put("1", "If-None-Match: *").status == 201)
        let taken = try put("2", "If-None-Match: *")
        #expect(taken.status == 412)
        #expect(taken.problem == "precondition-failed")
        let tag = try #require(taken.json["etag"].text)
        #expect(taken.field("etag") == tag)
        #expect(try put("2", "If-Match: \"x\", \(tag)").status == 200)
        #expect(try put("3", "If-Match: \(tag)").status == 412)
        #expect(try put("3", "If-Match: W/\(tag)").status == 412)
        #expect(try put("3", "If-Match: nothing").status == 422)
        #expect(try put("3", "If-Match: *").status == 200)
        let present = try #require(try broker.get("/v1/values/o/a").field("etag"))
        let unchanged = try broker.get(
            "/v1/values/o/a", fields: ["If-None-Match: W/\(present)"])
        #expect(unchanged.status == 304)
        #expect(unchanged.body.isEmpty)
        #expect(unchanged.field("etag") == present)
        let refused = try broker.request(
            "DELETE", "/v1/values/o/a", fields: ["If-Match: \(tag)"])
        #expect(refused.status == 412)
    }

    @Test("V6 (T260), V5: the present value, then its changes, each once", arguments: [1, 2])
    func observes(loopCount: Int) throws {
        let broker = try Broker(loopCount: loopCount)
        let x = try broker.webSocket(loop: loopCount - 1)
        _ = try x.result("setValue", #"{"object":"o","keyPath":"v","value":1}"#)
        let observer = try x.result(
            "addObserver",
            #"{"object":"o","keyPath":"v","selector":"seen","old":true,"lifetime":"connection"}"#)
        #expect(observer["name"] == .null)
        #expect(observer["keyPath"] == "v")
        #expect(observer["initial"] == true)
        #expect(observer["old"] == true)
        #expect(observer["own"] == true)
        let first = try Self.changes(x)
        #expect(first.count == 1)
        #expect(first[0]["seq"] == observer["since"])
        #expect(first[0]["object"] == "o")
        #expect(first[0]["keyPath"] == "v")
        #expect(first[0]["change"]["initial"] == true)
        #expect(first[0]["change"]["new"] == 1)
        #expect(!first[0]["change"].has("old"))
        #expect(!first[0].has("observer") && !first[0].has("userInfo"))
        let written = try x.result("mergeValue", #"{"object":"o","patch":{"v":{"a":2},"w":3}}"#)
        #expect(written["delivered"] == 1)
        let later = try x.takeMessages(where: { $0["method"] == "seen" })
        #expect(later.count == 1)
        #expect(later[0]["params"]["change"]["kind"] == "set")
        #expect(later[0]["params"]["change"]["old"] == 1)
        #expect(try x.result("value", #"{"object":"o","keyPath":"v.a"}"#)["value"] == 2)
        #expect(try x.problem("value", #"{"object":"o","keyPath":"x"}"#)["status"] == 404)
        _ = try x.result("removeValue", #"{"object":"o"}"#)
        #expect(try Self.changes(x)[0]["change"]["kind"] == "removed")
    }

    @Test(
        "V6: an observer that is stored has the present value behind its answer, and what follows behind that"
    )
    func storedObserver() throws {
        let (broker, store) = try Broker.durable(loopCount: 1)
        let x = try broker.webSocket()
        try x.send(x.call("setValue", #"{"object":"o","keyPath":"v","value":1}"#))
        try store.commit(in: broker)
        _ = try x.takeMessages()
        try x.send(x.call("addObserver", #"{"object":"o","keyPath":"v"}"#))
        let y = try broker.webSocket()
        try y.send(y.call("setValue", #"{"object":"o","keyPath":"v","value":2}"#))
        #expect(try x.takeMessages().isEmpty)
        while store.waitingCount > 0 { try store.commit(in: broker) }
        let told = try x.takeMessages()
        #expect(told.count == 3)
        #expect(told[0].has("result"))
        #expect(told[1]["params"]["change"]["new"] == 1)
        #expect(told[1]["params"]["change"]["initial"] == true)
        #expect(told[2]["params"]["change"]["new"] == 2)
    }

    @Test("V7: changes by the same client bring no frame where own is false")
    func own() throws {
        let broker = try Broker()
        let x = try broker.webSocket()
        _ = try x.result(
            "addObserver", #"{"object":"o","keyPath":"","own":false,"initial":false}"#)
        _ = try x.result("setValue", #"{"object":"o","keyPath":"v","value":1}"#)
        #expect(try Self.changes(x).isEmpty)
        _ = try broker.request("PUT", "/v1/values/o/v", "2")
        #expect(try Self.changes(x)[0]["change"]["new"]["v"] == 2)
    }

    @Test(
        "V13: what does not go with keyPath is refused, and belfry.value is no channel",
        arguments: [
            (#"{"keyPath":"a"}"#, 422), (#"{"object":"o","keyPath":"a","name":"n"}"#, 422),
            (#"{"object":"o","keyPath":"a","since":1}"#, 422),
            (#"{"object":"o","keyPath":"a","acknowledge":true}"#, 422),
            (#"{"object":"o","keyPath":"a","implements":[]}"#, 422),
            (#"{"object":"o","keyPath":"a","target":"t"}"#, 422),
            (#"{"object":"o","keyPath":"a","next":"n"}"#, 422),
            (#"{"object":"o","keyPath":"a","ifHeld":"share"}"#, 422),
            (#"{"object":"o","keyPath":"a","concurrency":1}"#, 422),
            (#"{"object":"o","implements":["a"],"own":false}"#, 422),
            (#"{"object":"o","old":true}"#, 422), (#"{"name":"n","own":false}"#, 422),
            (#"{"object":"o","keyPath":"a..b"}"#, 422), (#"{"name":"belfry.value"}"#, 403),
        ])
    func misfits(members: String, status: Int) throws {
        let broker = try Broker()
        #expect(try broker.post(members, target: "/v1/observers").status == status)
        let x = try broker.webSocket()
        #expect(try x.problem("addObserver", members)["status"].int == status)
    }

    @Test("V13: nobody posts belfry.value, and no wildcard sees a change")
    func apart() throws {
        let broker = try Broker()
        #expect(try broker.post("{}", target: "/v1/channels/belfry.value").status == 403)
        let x = try broker.webSocket()
        try x.observe(nil)
        _ = try broker.request("PUT", "/v1/values/o/v", "1")
        try broker.post(name: "barrier")
        #expect(try x.takeNames() == ["barrier"])
    }

    @Test("T264, V12: a write that nobody observes is in no queue, and in no report")
    func unobserved() throws {
        let broker = try Broker()
        for value in 0..<100 { _ = try broker.request("PUT", "/v1/values/o/v", "\(value)") }
        #expect(try broker.get("/v1/queue").json["entries"].elements.isEmpty)
        let report = try broker.get("/v1/reports/unmatched").json
        #expect(report["postedNeverObserved"].elements.isEmpty)
        let metrics = try broker.get("/metrics").text
        #expect(metrics.contains("\nbelfry_values 1\n"))
        #expect(metrics.contains("\nbelfry_value_changes_total 100\n"))
        #expect(metrics.contains("\nbelfry_value_bytes 9\n"))
    }

    @Test("T273, V8: who is suspended and coalesces has one initial frame, behind the gap")
    func marks() throws {
        let broker = try Broker()
        let x = try broker.webSocket()
        _ = try x.result("addObserver", #"{"object":"o","keyPath":"v","initial":false}"#)
        _ = try x.result("setSuspended", #"{"suspended":true}"#)
        for value in 1...3 { _ = try broker.request("PUT", "/v1/values/o/v", "\(value)") }
        _ = try x.result("setSuspended", #"{"suspended":false}"#)
        let told = try x.takeMessages()
        #expect(told.map { $0["method"].text } == ["belfry.gap", "notify"])
        #expect(told[0]["params"]["reason"] == "coalesced")
        #expect(told[0]["params"]["lost"] == 2)
        #expect(told[1]["params"]["change"]["initial"] == true)
        #expect(told[1]["params"]["change"]["new"] == 3)
    }

    @Test("a mailbox, its stream and an event stream have changes, with key path")
    func otherTransports() throws {
        let broker = try Broker()
        _ = try broker.request("PUT", "/v1/values/o/v", "1")
        let mailbox = try broker.post(
            #"{"object":"o","keyPath":"v"}"#, target: "/v1/observers")
        let token = try #require(mailbox.json["token"].text)
        let stream = try broker.events("/v1/events?object=o&keyPath=v&keyPath=")
        _ = try broker.request("PUT", "/v1/values/o/v", "2")
        let events = try stream.takeEvents().filter { $0.type.isEmpty }
        #expect(events.count == 4)
        let page = try broker.get("/v1/observers/\(token)/notifications").json
        #expect(page["notifications"].elements.map { $0["change"]["new"].int } == [1, 2])
        #expect(page["notifications"][0]["keyPath"] == "v")
        #expect(page["notifications"][0]["observer"] == mailbox.json["id"])
        let next = page["next"].int ?? 0
        let after = try broker.get("/v1/observers/\(token)/notifications?after=\(next)").json
        #expect(after["notifications"].elements.isEmpty)
        #expect(try broker.get("/v1/events?object=o&keyPath=v&name=a").status == 422)
        #expect(try broker.get("/v1/events?keyPath=v").status == 422)
    }

    @Test("V17 (T286): an entry with a lease needs a WebSocket, and ends when its client is gone")
    func lease() throws {
        let broker = try Broker()
        let (x, y) = (try broker.webSocket(), try broker.webSocket())
        _ = try y.result("addObserver", #"{"object":"o","keyPath":"who","initial":false}"#)
        _ = try x.result(
            "setValue", #"{"object":"o","keyPath":"who.x","value":{"n":1},"lease":0.2}"#)
        _ = try Self.changes(y)
        x.http.peer.close()
        try broker.advance(by: .milliseconds(100))
        #expect(try Self.changes(y).isEmpty)
        try broker.advance(by: .milliseconds(200))
        #expect(try Self.changes(y).map { $0["change"]["new"]["x"] } == [.null])
        #expect(
            try y.problem("setValue", #"{"object":"o","value":{},"lease":86401}"#)["status"] == 422)
    }

    @Test("V17: a client without an observer resumes, or is removed, while its lease runs")
    func leaseKeepsClient() throws {
        let broker = try Broker()
        func enter() throws -> SocketPeer {
            let peer = try broker.webSocket()
            _ = try peer.result(
                "setValue", #"{"object":"room","keyPath":"who.a","value":1,"lease":5}"#)
            return peer
        }
        func isThere() throws -> Bool {
            try broker.get("/v1/values/room/who.a").status == 200
        }
        let first = try enter()
        try first.cut()
        try broker.advance(by: .seconds(4))
        let next = try broker.webSocket()
        let resumed = try next.result("resume", #"{"session":"\#(first.session)"}"#)
        #expect(resumed["client"].text == first.client)
        try broker.advance(by: .seconds(10))
        #expect(try isThere())
        try next.cut()
        try broker.advance(by: .seconds(6))
        #expect(try !isThere())
        let late = try broker.webSocket()
        let problem = try late.problem("resume", #"{"session":"\#(first.session)"}"#)
        #expect(problem["status"].int == 404)
        let second = try enter()
        try second.cut()
        let session = ["Belfry-Session: \(second.session)"]
        let removed = try broker.request(
            "DELETE", "/v1/clients/\(second.client)", fields: session)
        #expect(removed.status == 204)
        #expect(try !isThere())
    }

    @Test("V16: a PATCH with an object at the place of a ttl takes the ttl away")
    func patchedTimeToLive() throws {
        let broker = try Broker()
        let put = try broker.request("PUT", "/v1/values/o/a?ttl=1", #"{"b":1}"#)
        #expect(put.status == 201)
        let patched = try broker.request(
            "PATCH", "/v1/values/o/a", #"{"c":2}"#, fields: Self.merge)
        #expect(patched.status == 200)
        try broker.advance(by: .seconds(2))
        #expect(try broker.get("/v1/values/o/a").json["c"].int == 2)
    }

    @Test("pages may send the conditions, and read the tag and the position")
    func pages() throws {
        let broker = try Broker()
        let preflight = try broker.request(
            "OPTIONS", "/v1/values/o/v",
            fields: ["Origin: http://localhost", "Access-Control-Request-Method: PUT"])
        #expect(preflight.field("access-control-allow-methods")?.contains("PUT") == true)
        let allowed = preflight.field("access-control-allow-headers") ?? ""
        #expect(allowed.contains("If-Match") && allowed.contains("If-None-Match"))
        let answer = try broker.request(
            "PUT", "/v1/values/o/v", "1", fields: ["Origin: http://localhost"])
        let exposed = answer.field("access-control-expose-headers") ?? ""
        #expect(exposed.contains("ETag") && exposed.contains("Belfry-Position"))
    }
}
