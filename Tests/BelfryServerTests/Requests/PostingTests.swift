import BelfryAccess
import BelfryCenter
import BelfryHTTP
import BelfryLoop
import Testing

@testable import BelfryServer

@Suite("Posting over HTTP (Protocol.md section 1)")
struct PostingTests {
    static let json = ["Content-Type: application/json"]
    static let lines = ["Content-Type: application/x-ndjson"]

    @Test(
        "a channel takes what curl -d sends, JSON, no type and no body",
        arguments: [
            ("application/json", 200), ("application/json; charset=utf-8", 200),
            ("APPLICATION/JSON", 200), ("application/x-www-form-urlencoded", 200),
            ("text/plain", 415), ("application/xml", 415), ("multipart/form-data", 415),
            ("application/x-ndjson", 415), ("", 415),
        ])
    func channelTypes(type: String, status: Int) throws {
        let broker = try Broker()
        let response = try broker.request(
            "POST", "/v1/channels/a", #"{"k":1}"#, fields: ["Content-Type: \(type)"])
        #expect(response.status == status)
        if status == 415 { #expect(response.problem == "unsupported-media-type") }
        #expect(try broker.request("POST", "/v1/channels/a", #"{"k":1}"#).status == 200)
        #expect(try broker.request("POST", "/v1/channels/a").status == 200)
    }

    @Test(
        "notifications and observers take JSON alone",
        arguments: [
            ("/v1/notifications", "text/plain", 415),
            ("/v1/notifications", "application/x-www-form-urlencoded", 415),
            ("/v1/notifications", "application/json", 200),
            ("/v1/observers", "application/x-www-form-urlencoded", 415),
            ("/v1/observers", "application/x-ndjson", 415),
            ("/v1/observers", "application/json", 201), ("/v1/modes", "application/json", 422),
            ("/v1/modes", "text/plain", 415),
        ])
    func types(path: String, type: String, status: Int) throws {
        let response = try Broker().request(
            "POST", path, #"{"name":"a"}"#, fields: ["Content-Type: \(type)"])
        #expect(response.status == status)
    }

    @Test(
        "text that is no JSON is 400, whatever else is wrong with it",
        arguments: [
            "{", #"{"name":}"#, "nonsense", #"{"name":"a"}}"#, #"{"nam":1"#, #"[{"name":"a"},"#,
        ])
    func malformed(body: String) throws {
        let broker = try Broker()
        let response = try broker.post(body)
        #expect(response.status == 400)
        #expect(response.problem == "malformed-json")
        #expect(response.json["offset"].int != nil)
        let channel = try broker.request("POST", "/v1/channels/a?object=", "{", fields: Self.json)
        #expect(channel.status == 400)
    }

    @Test("an empty body is no notification, but no userInfo")
    func empty() throws {
        let broker = try Broker()
        #expect(try broker.post("").status == 400)
        #expect(
            try broker.request("POST", "/v1/channels/a", " \r\n ", fields: Self.json).status == 200)
    }

    @Test(
        "bad fields are 422 with a pointer each",
        arguments: [
            (#"{"nam":"a"}"#, ["#/nam", "#/name"]), (#"{"name":"a","style":"soon"}"#, ["#/style"]),
            (#"{"name":"a","coalesce":["name"]}"#, ["#/coalesce"]),
            (#"{"name":"a","keep":"first"}"#, ["#/keep"]),
            (#"{"name":"a","style":"now","keep":"latest"}"#, ["#/keep"]),
            (#"{"name":"a","modes":["x"]}"#, ["#/modes"]),
            (#"{"name":"a","maxDelay":1}"#, ["#/maxDelay"]),
            (#"{"name":"a","style":"asap","maxDelay":1}"#, ["#/maxDelay"]),
            (#"{"name":"a","style":"now","maxDelay":1}"#, ["#/maxDelay"]),
            (#"{"name":"a","immediate":1}"#, ["#/immediate"]),
            (#"{"name":"a","ttl":0}"#, ["#/ttl"]),
            (#"{"name":"a","object":"\ud800"}"#, ["#/object"]), ("7", ["#"]), (#""a""#, ["#"]),
            (#"{"name":"a","x/y~":1}"#, ["#/x~1y~0"]),
            (
                #"[{"name":"a"},{"name":""},{"style":7}]"#,
                ["#/1/name", "#/2/name", "#/2/style"]
            ),
            ("[]", ["#"]), (#"[{"name":"a"},7]"#, ["#/1"]),
        ])
    func pointers(body: String, places: [String]) throws {
        let response = try Broker().post(body)
        #expect(response.problem == "invalid-fields")
        #expect(response.status == 422)
        let found = response.json["errors"].elements.compactMap { $0["pointer"].text }
        #expect(Set(found) == Set(places))
    }

    @Test(
        "bad parameters are 422 with the parameter's name",
        arguments: [
            ("object=", "object"), ("object=%00", "object"), ("causedBy=x", "causedBy"),
            ("report=all", "report"), ("style=soon", "style"), ("coalesce=name", "coalesce"),
            ("ttl=x", "ttl"), ("immediate=yes", "immediate"), ("userInfo=1", "userInfo"),
            ("style=asap&maxDelay=1", "maxDelay"), ("style=idle&style=idle", "style"),
            ("name=b", "name"),
        ])
    func parameters(query: String, parameter: String) throws {
        let response = try Broker().request("POST", "/v1/channels/a?\(query)", "")
        #expect(response.problem == "invalid-fields")
        #expect(response.json["errors"][0]["parameter"].text == parameter)
    }

    @Test("a single notification answers its receipt, an array and NDJSON answer receipts")
    func shapes() throws {
        let broker = try Broker()
        #expect(try broker.post(#"{"name":"a"}"#).json["seq"] == 1)
        let array = try broker.post(#"[{"name":"a"}]"#).json
        #expect(array.keys == ["receipts"])
        #expect(array["receipts"][0]["seq"] == 2)
        let lines = try broker.request(
            "POST", "/v1/notifications", "{\"name\":\"a\"}\n\n{\"name\":\"b\"}\r\n",
            fields: Self.lines)
        #expect(lines.json["receipts"].elements.map { $0["seq"] } == [3, 4])
    }

    @Test("a batch is all or nothing, in either form")
    func allOrNothing() throws {
        let broker = try Broker()
        let socket = try broker.webSocket()
        try socket.observe(nil)
        let bad = [
            (#"[{"name":"a"},{"name":"b","object":""}]"#, Self.json, 422, "#/1/object"),
            ("{\"name\":\"a\"}\n{\"name\":\"\"}", Self.lines, 422, "#/1/name"),
            ("{\"name\":\"a\"}\n{\"name\":\"belfry.x\"}", Self.lines, 403, "#/1/name"),
        ]
        for (body, fields, status, place) in bad {
            let response = try broker.request("POST", "/v1/notifications", body, fields: fields)
            #expect(response.status == status)
            #expect(response.place == place)
        }
        let broken = try broker.request(
            "POST", "/v1/notifications", "{\"name\":\"a\"}\n{\"name\"", fields: Self.lines)
        #expect(broken.status == 400)
        #expect(try socket.takeNames().isEmpty)
        let good = try broker.post(#"[{"name":"a"},{"name":"b","object":"o"}]"#)
        #expect(good.json["receipts"].elements.map { $0["matched"] } == [1, 1])
        #expect(try socket.takeNames() == ["a", "b/o"])
    }

    @Test("a batch that one grant does not cover is refused whole, and the place is told")
    func batchGrants() throws {
        let broker = try Broker {
            $0.anonymousGrants = Grants([
                Grant([.post], names: [Pattern("a*")]), Grant([.inspect, .observe, .wildcard]),
            ])
        }
        let socket = try broker.webSocket()
        try socket.observe(nil)
        let response = try broker.post(#"[{"name":"a"},{"name":"b"}]"#)
        #expect(response.problem == "forbidden")
        #expect(response.place == "#/1")
        #expect(try socket.takeNames().isEmpty)
        #expect(try broker.post(#"[{"name":"a"},{"name":"ab"}]"#).status == 200)
    }

    @Test("identifiers name their place among the posts of the center, whichever way they came")
    func places() throws {
        let broker = try Broker()
        let responses = [
            try broker.request("POST", "/v1/channels/a", "{}", fields: Self.json).json,
            try broker.post(#"{"name":"a"}"#).json,
            try broker.post(#"[{"name":"a"},{"name":"b"}]"#).json,
            try broker.request("POST", "/v1/channels/a?style=idle").json,
        ]
        let receipts = responses.flatMap { response in
            response["receipts"].elements.isEmpty ? [response] : response["receipts"].elements
        }
        let places = receipts.map { receipt in
            let id = NotificationID(text: Array((receipt["id"].text ?? "").utf8).span)
            return id.map { $0.high & 0xFFFF }
        }
        #expect(places == [0, 1, 2, 3, 4])
    }

    @Test("a batch has at most 1,000 items", arguments: [false, true])
    func itemLimit(isLines: Bool) throws {
        let broker = try Broker()
        for count in [1_000, 1_001] {
            let items = repeatElement(#"{"name":"a"}"#, count: count)
            let body = isLines ? items.joined(separator: "\n") : "[\(items.joined(separator: ","))]"
            let response = try broker.request(
                "POST", "/v1/notifications", body, fields: isLines ? Self.lines : Self.json)
            #expect(response.status == (count == 1_000 ? 200 : 422))
            if count == 1_000 { #expect(response.json["receipts"].elements.count == 1_000) }
        }
        #expect(try broker.post(name: "a")["seq"] == 1_001)
    }

    @Test("userInfo has at most 256 KiB and a depth of 64")
    func userInfoLimits() throws {
        let broker = try Broker()
        for (count, status) in [(262_144, 200), (262_145, 413)] {
            let text = #"{"k":""# + String(repeating: "x", count: count - 8) + #""}"#
            let response = try broker.request("POST", "/v1/channels/a", text, fields: Self.json)
            #expect(response.status == status)
            if status == 413 { #expect(response.problem == "content-too-large") }
        }
        for (depth, status) in [(64, 200), (65, 422)] {
            let inner =
                String(repeating: "[", count: depth - 1) + String(repeating: "]", count: depth - 1)
            let response = try broker.post(#"{"name":"a","userInfo":{"k":\#(inner)}}"#)
            #expect(response.status == status)
            if status == 422 { #expect(response.place == "#/userInfo") }
        }
    }

    @Test("a body has at most its limit, told by length or by chunks")
    func bodyLimit() throws {
        let broker = try Broker { $0.bodyByteLimit = 100 }
        let fits = #"{"k":""# + String(repeating: "x", count: 92) + #""}"#
        #expect(fits.utf8.count == 100)
        #expect(try broker.request("POST", "/v1/channels/a", fits).status == 200)
        let refused = try broker.request("POST", "/v1/channels/a", fits + " ")
        #expect(refused.problem == "content-too-large")
        let keepsAlive = refused.head.keepsAlive
        #expect(!keepsAlive)
        let chunked = try broker.http()
        try chunked.send(
            "POST /v1/channels/a HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"
                + "64\r\n\(fits)\r\n1\r\n \r\n0\r\n\r\n")
        #expect(try chunked.read()?.status == 413)
        #expect(chunked.peer.sawEndOfOutput)
    }

    @Test("return=minimal answers 204, and says that it does")
    func minimal() throws {
        let broker = try Broker()
        for (path, body) in [
            ("/v1/channels/a", "{}"), ("/v1/notifications", #"{"name":"a"}"#),
            ("/v1/notifications", #"[{"name":"a"}]"#),
        ] {
            let response = try broker.request(
                "POST", path, body, fields: Self.json + ["Prefer: return=minimal"])
            #expect(response.status == 204)
            #expect(response.body.isEmpty)
            #expect(response.field("preference-applied") == "return=minimal")
        }
        let refused = try broker.request(
            "POST", "/v1/channels/belfry.x", "", fields: ["Prefer: return=minimal"])
        #expect(refused.problem == "forbidden")
        #expect(refused.field("preference-applied") == nil)
    }

    @Test(
        "respond-async and wait are accepted", arguments: ["respond-async", "wait=5", "wait=60, x"])
    func preferences(preference: String) throws {
        let response = try Broker().request(
            "POST", "/v1/channels/a", "", fields: ["Prefer: \(preference)"])
        #expect(response.status == 200)
        #expect(response.json["pending"] == 0)
        if preference == "respond-async" {
            #expect(response.field("preference-applied") == "respond-async")
        }
    }

    @Test("report=observers adds one row an observer, to each receipt of a batch")
    func report() throws {
        let broker = try Broker()
        let socket = try broker.webSocket()
        let first = try socket.observe("a")["id"]
        let second = try socket.observe(nil)["id"]
        let receipt = try broker.request("POST", "/v1/channels/a?report=observers", "").json
        #expect(
            receipt["observers"] == [
                ["id": first, "outcome": "delivered"], ["id": second, "outcome": "delivered"],
            ])
        let batch = try broker.post(
            #"[{"name":"b"},{"name":"a"}]"#, target: "/v1/notifications?report=observers"
        ).json["receipts"]
        #expect(batch[0]["observers"].elements.map { $0["id"] } == [second])
        #expect(batch[1]["observers"].elements.map { $0["id"] } == [first, second])
        let call = try socket.result("post", #"{"name":"a","report":"observers"}"#)
        #expect(call["observers"].elements.count == 2)
        #expect(try broker.post(name: "a").has("observers") == false)
    }

    @Test("a post tells its fate for 5 minutes", arguments: [1, 2])
    func fate(loopCount: Int) throws {
        let broker = try Broker(loopCount: loopCount)
        let receipt = try broker.post(name: "a")
        let id = receipt["id"].text ?? ""
        let fate = try broker.get("/v1/notifications/\(id)", loop: loopCount - 1).json
        #expect(fate == ["id": .text(id), "state": "posted", "receipt": receipt])
        try broker.advance(by: .seconds(299))
        #expect(try broker.get("/v1/notifications/\(id)").status == 200)
        try broker.advance(by: .seconds(2))
        #expect(try broker.get("/v1/notifications/\(id)").problem == "not-found")
        #expect(try broker.get("/v1/centers/none/notifications/\(id)").status == 404)
    }

    @Test("pipelined posts are answered in their order", arguments: [1, 2])
    func pipelining(loopCount: Int) throws {
        let broker = try Broker(loopCount: loopCount)
        let peer = try broker.http(loop: loopCount - 1)
        let requests = (0..<5).map {
            HTTPPeer.text("POST", "/v1/channels/n\($0)", #"{"k":\#($0)}"#)
        }
        try peer.send(requests.joined())
        for number in 1...5 { #expect(try peer.read()?.json["seq"].int == number) }
        #expect(try peer.read() == nil)
    }

    @Test("a request that comes one byte at a time is answered as one that comes at once")
    func byteByByte() throws {
        let broker = try Broker()
        let peer = try broker.http()
        for byte in HTTPPeer.text("POST", "/v1/channels/a?object=o", #"{"k":1}"#).utf8 {
            #expect(try peer.read() == nil)
            peer.peer.send([byte])
            try broker.crank()
        }
        #expect(try peer.read()?.json["seq"] == 1)
    }

    @Test("100-continue is sent when the content is wanted, and not when it is refused")
    func expectContinue() throws {
        let broker = try Broker()
        let peer = try broker.http()
        let head =
            "HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n"
        try peer.send("POST /v1/channels/a " + head)
        #expect(peer.peer.received.starts(with: "HTTP/1.1 100".utf8))
        try peer.send("{}")
        #expect(try peer.read()?.status == 200)
        try peer.send("PUT /v1/channels/a " + head)
        #expect(!peer.peer.received.starts(with: "HTTP/1.1 100".utf8))
    }
}

extension Response: Equatable {
    static func == (left: Response, right: Response) -> Bool {
        left.status == right.status && left.body == right.body
    }
}
