import BelfryAccess
import BelfryLoop
import BelfryWebSocket
import Testing

@testable import BelfryServer

@Suite("Looking inside (Protocol.md section 4)")
struct LookingRouteTests {
    @Test(
        "pages follow each other by cursor until all rows were shown",
        arguments: [
            "observers", "channels", "clients",
        ])
    func pages(listing: String) throws {
        let broker = try Broker()
        var sockets: [SocketPeer] = []
        for number in 0..<7 {
            let socket = try broker.webSocket()
            try socket.observe("n\(number)")
            sockets.append(socket)
        }
        var rows: [Value] = []
        var cursor = ""
        var pageCount = 0
        repeat {
            let page = try broker.get("/v1/\(listing)?limit=3\(cursor)").json
            rows += page[listing].elements
            cursor = page["next"].text.map { "&cursor=\($0)" } ?? ""
            pageCount += 1
        } while !cursor.isEmpty && pageCount < 10
        #expect(pageCount == 3)
        #expect(rows.count == 7)
        #expect(Set(rows.map { "\($0)" }).count == 7)
        #expect(sockets.allSatisfy { $0.closeCode == nil })
    }

    @Test("all centers are listed in the order of their names, page by page", arguments: [1, 2, 3])
    func centers(loopCount: Int) throws {
        let broker = try Broker(loopCount: loopCount)
        for name in ["d", "b", "a", "c"] {
            _ = try broker.request("POST", "/v1/centers/\(name)/channels/x", "")
        }
        for loop in 0..<loopCount {
            let all = try broker.get("/v1/centers", loop: loop).json
            let names = all["centers"].elements.compactMap { $0["name"].text }
            #expect(names == ["a", "b", "c", "d", "default"])
            #expect(all["centers"][0]["seq"] == 1)
            #expect(all["centers"][0]["observers"] == 0)
            let first = try broker.get("/v1/centers?limit=3", loop: loop).json
            let next = try #require(first["next"].text)
            let rest = try broker.get("/v1/centers?limit=3&cursor=\(next)", loop: loop).json
            #expect(rest["centers"].elements.compactMap { $0["name"].text } == ["d", "default"])
            #expect(rest["next"] == .null)
        }
    }

    @Test(
        "limit, cursor, state and client are checked",
        arguments: [
            ("limit=0", "limit"), ("limit=1001", "limit"), ("limit=x", "limit"),
            ("limit=%2B1", "limit"),
            ("cursor=x", "cursor"), ("cursor=-1", "cursor"), ("state=gone", "state"),
            ("client=o1", "client"), ("client=c1.x", "client"),
        ])
    func checks(query: String, parameter: String) throws {
        let response = try Broker().get("/v1/observers?\(query)")
        #expect(response.problem == "invalid-fields")
        #expect(response.place == parameter)
        #expect(try Broker().get("/v1/observers?limit=1000").status == 200)
        #expect(try Broker().get("/v1/observers?limit=1").status == 200)
    }

    @Test(
        "observers are filtered by name, object, client, state and principal",
        arguments: [
            ("name=a", [0, 1]), ("object=o", [1, 3]), ("name=a&object=o", [1]),
            ("client=X", [0, 1]),
            ("state=live", [0, 1, 2, 3]), ("state=disconnected", []), ("state=slow", []),
            ("principal=anonymous", [0, 1, 2, 3]), ("principal=other", []), ("client=c999", []),
        ])
    func filters(query: String, places: [Int]) throws {
        let broker = try Broker()
        let (x, y) = (try broker.webSocket(), try broker.webSocket())
        let ids = [
            try x.observe("a"), try x.observe("a", "o"), try y.observe("b"),
            try y.observe(nil, "o"),
        ].map { $0["id"] }
        let target = query.split(separator: "X", omittingEmptySubsequences: false)
            .joined(separator: x.client)
        let rows = try broker.get("/v1/observers?\(target)").json["observers"].elements
        #expect(rows.map { $0["id"] } == places.map { ids[$0] })
    }

    @Test("rows show only where inspect covers name and object")
    func visibility() throws {
        let broker = try Broker {
            $0.anonymousGrants = Grants([
                Grant([.observe, .post, .wildcard]), Grant([.inspect], names: [Pattern("Mail*")]),
            ])
        }
        let socket = try broker.webSocket()
        let seen = try socket.observe("MailSent")["id"]
        try socket.observe("Door")
        try socket.observe(nil)
        try broker.post(name: "MailRead")
        try broker.post(name: "Window")
        for rows in [
            try broker.get("/v1/observers").json["observers"],
            try socket.result("observers")["observers"],
            try broker.get("/v1/explain?name=MailSent").json["observers"],
            try broker.get("/v1/reports/unmatched").json["observedNeverPosted"],
        ] {
            #expect(rows.elements.map { $0["id"] } == [seen])
        }
        let channels = try broker.get("/v1/channels").json["channels"].elements
        #expect(Set(channels.compactMap { $0["name"].text }) == ["MailSent", "MailRead"])
        let explanation = try broker.get("/v1/explain?name=door").json
        #expect(explanation["near"] == [])
    }

    @Test(
        "without inspect nothing is shown",
        arguments: [
            "observers", "clients", "channels", "explain?name=a", "reports/leaks",
            "reports/unmatched",
        ])
    func forbidden(path: String) throws {
        let broker = try Broker { $0.anonymousGrants = Grants([Grant([.observe, .post])]) }
        #expect(try broker.get("/v1/\(path)").problem == "forbidden")
        #expect(try broker.get("/v1/centers").json["centers"] == [])
        let socket = try broker.webSocket()
        #expect(try socket.problem("observers")["status"] == 403)
        #expect(try socket.problem("explain", #"{"name":"a"}"#)["status"] == 403)
    }

    @Test("each verb is checked where it is used", arguments: [1, 2])
    func verbs(loopCount: Int) throws {
        let broker = try Broker(loopCount: loopCount) {
            $0.anonymousGrants = Grants([
                Grant([.post], names: [Pattern("p*")]), Grant([.observe], names: [Pattern("o*")]),
            ])
        }
        let socket = try broker.webSocket(loop: loopCount - 1)
        #expect(try broker.post(#"{"name":"px"}"#).status == 200)
        #expect(try broker.post(#"{"name":"ox"}"#).problem == "forbidden")
        #expect(try broker.request("POST", "/v1/channels/ox", "").problem == "forbidden")
        #expect(try socket.problem("post", #"{"name":"ox"}"#)["status"] == 403)
        #expect(try socket.observe("ox")["name"] == "ox")
        #expect(try socket.problem("addObserver", #"{"name":"px"}"#)["status"] == 403)
        #expect(try broker.get("/v1/events?name=px").problem == "forbidden")
        #expect(try broker.get("/v1/events?name=ox&name=px").problem == "forbidden")
        let body = #"{"name":"px","session":"\#(socket.session)"}"#
        #expect(try broker.post(body, target: "/v1/observers").problem == "forbidden")
    }

    @Test("a client's row tells its transport and its observers", arguments: [1, 2])
    func clients(loopCount: Int) throws {
        let broker = try Broker(loopCount: loopCount)
        let socket = try broker.webSocket(loop: loopCount - 1)
        try socket.observe("a")
        try socket.observe("b")
        let stream = try broker.events("/v1/events?name=a&name=b&object=o&object=p")
        let rows = try broker.get("/v1/clients").json["clients"].elements
        #expect(rows.map { $0["id"].text } == [socket.client, stream.client])
        #expect(rows.map { $0["transport"] } == ["websocket", "events"])
        #expect(rows.map { $0["observers"] } == [2, 4])
        #expect(rows.map { $0["state"] } == ["live", "live"])
        #expect(rows[0]["connectedAt"] == "2026-01-01T00:00:00.000Z")
        // Another loop has the stream.
        #expect(rows[1]["unsentBytes"] == 0)
        #expect(rows[0]["unsentBytes"] == (loopCount == 1 ? 0 : .null))
    }

    @Test("law 3: a client's row tells what waits for its socket, or nothing", arguments: [1, 2])
    func unsentBytes(loopCount: Int) throws {
        let broker = try Broker(loopCount: loopCount)
        let socket = try broker.webSocket(loop: loopCount - 1)
        try socket.observe("a")
        let lasting = try socket.observe("b")
        #expect(lasting["lifetime"] == "token")
        socket.http.peer.writeCapacity = 10
        try broker.post(name: "a")
        func row() throws -> Value { try broker.get("/v1/clients").json["clients"][0] }
        let unsent = broker.nodes[loopCount - 1].server.outbox.loop.unsentByteTotal
        #expect(unsent > 100)
        #expect(try row()["unsentBytes"].int == (loopCount == 1 ? unsent : nil))
        let path = "/v1/clients/\(socket.client)"
        let change = try broker.request(
            "PATCH", path, #"{"suspended":true}"#,
            fields: [
                "Content-Type: application/json", "Belfry-Session: \(socket.session)",
            ])
        #expect(change.status == 200)
        #expect(change.json["unsentBytes"].int == (loopCount == 1 ? unsent : nil))
        // Without a connection nothing waits for it.
        socket.http.peer.reset()
        try broker.crank()
        #expect(try row()["state"] == "disconnected")
        #expect(try row()["unsentBytes"] == 0)
    }

    @Test("a channel's row counts observers and posts")
    func channels() throws {
        let broker = try Broker()
        let socket = try broker.webSocket()
        try socket.observe("a")
        try socket.observe("a", "o")
        try broker.post(name: "a")
        try broker.post(name: "b")
        let rows = try broker.get("/v1/channels").json["channels"].elements
        let a = try #require(rows.first { $0["name"] == "a" })
        #expect(a["observers"] == 2)
        #expect(a["posts"] == 1 && a["delivered"] == 1 && a["unmatched"] == 0)
        let b = try #require(rows.first { $0["name"] == "b" })
        #expect(b["posts"] == 1 && b["delivered"] == 0 && b["unmatched"] == 1)
        #expect(a["lastPostedAt"] == "2026-01-01T00:00:00.000Z")
        let one = try broker.get("/v1/channels?name=b").json["channels"].elements
        #expect(one.map { $0["name"] } == ["b"])
    }

    @Test("the metrics page is well formed, and counts what happened", arguments: [1, 2])
    func metrics(loopCount: Int) throws {
        let broker = try Broker(loopCount: loopCount)
        let socket = try broker.webSocket(loop: loopCount - 1)
        let token = try socket.observe("a")["token"].text ?? ""
        try broker.post(name: "a")
        try broker.post(name: "b")
        _ = try broker.request("DELETE", "/v1/observers/\(token)")
        _ = try broker.events("/v1/events?name=a")
        let response = try broker.get("/metrics")
        #expect(response.field("content-type")?.hasPrefix("text/plain; version=0.0.4") == true)
        let values = try metricValues(of: response.text)
        #expect(values["belfry_loops"] == loopCount)
        #expect(values["belfry_centers"] == 1)
        #expect(values["belfry_observers"] == 1)
        #expect(values["belfry_posts_total"] == 2)
        #expect(values["belfry_posts_unmatched_total"] == 1)
        #expect(values["belfry_deliveries_total"] == 1)
        #expect(values["belfry_registrations_total"] == 2)
        #expect(values["belfry_removals_total"] == 1)
        #expect(values["belfry_clients_websocket_total"] == 1)
        #expect(values["belfry_clients_events_total"] == 1)
        #expect(values["belfry_build_info{version=\"\(Server.version)\"}"] == 1)
    }

    /// Reads a page of metrics; the samples of a family have its HELP and TYPE right before them.
    private func metricValues(of page: String) throws -> [String: Int] {
        #expect(page.hasSuffix("\n"))
        var values: [String: Int] = [:]
        let lines = page.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
        var (family, kind): (Substring, Substring) = ("", "")
        for (place, line) in lines.enumerated() {
            if line.hasPrefix("# HELP ") {
                family = line.split(separator: " ")[2]
                continue
            }
            if line.hasPrefix("# TYPE ") {
                kind = line.split(separator: " ")[3]
                #expect(["counter", "gauge", "histogram", "summary"].contains(kind))
                #expect(line == "# TYPE \(family) \(kind)")
                #expect(family.hasSuffix("_total") == (kind == "counter"))
                #expect(lines[place - 1].hasPrefix("# HELP \(family) "))
                continue
            }
            let sample = line.split(separator: " ")
            let parts =
                switch kind {
                case "histogram": ["_bucket", "_sum", "_count"]
                case "summary": ["_sum", "_count"]
                default: [""]
                }
            #expect(parts.contains { sample[0].prefix { $0 != "{" } == family + $0 })
            #expect(values[String(sample[0])] == nil)
            values[String(sample[0])] = Int(sample[1]) ?? -1
        }
        return values
    }
}
