import Testing

@testable import BelfryServer

@Suite("Listings: contains, sort and total (rule O8)")
struct ListingViewTests {
    private func broker() throws -> Broker {
        let broker = try Broker()
        let socket = try broker.webSocket()
        for name in ["Mail", "Order", "order"] { try socket.observe(name, selector: name) }
        for name in ["Order", "Order", "Mail"] { try broker.post(name: name) }
        return broker
    }

    @Test("contains, sort and total over HTTP and as a call")
    func observers() throws {
        let broker = try broker()
        let page = try broker.get("/v1/observers?contains=ORDER&sort=-delivered").json
        #expect(page["observers"].elements.map { $0["name"] } == ["Order", "order"])
        #expect(page["total"] == 2 && !page.has("unseen") && !page.has("next"))
        let params = #"{"contains":"order","sort":"-age","limit":1}"#
        let called = try broker.webSocket().result("observers", params)
        #expect(called["observers"].elements.map { $0["name"] } == ["order"])
        #expect(called["total"] == 2)
        #expect(try broker.get("/v1/observers?limit=1").json["total"] == 3)
    }

    @Test("clients and channels, too")
    func others() throws {
        let broker = try broker()
        let channels = try broker.get("/v1/channels?sort=-posts&limit=1").json
        #expect(channels["channels"].elements.map { $0["name"] } == ["Order"])
        #expect(channels["total"] == 3)
        let clients = try broker.get("/v1/clients?sort=-observers&contains=anonymous").json
        #expect(clients["clients"][0]["observers"] == 3 && clients["total"] == 1)
    }

    @Test("responders, asks, values and the queue, too")
    func everyList() throws {
        let broker = try Broker()
        let socket = try broker.webSocket()
        for object in ["lamp", "Desk"] {
            _ = try socket.result(
                "addObserver", #"{"object":"\#(object)","implements":["on"]}"#)
            _ = try broker.request("PUT", "/v1/values/\(object)", #"{"of":"\#(object)"}"#)
            let peer = try broker.http()
            try peer.send(HTTPPeer.text("POST", "/v1/responders/\(object)/on", "{}"))
        }
        _ = try broker.request("PUT", "/v1/values/other/a", "1")
        _ = try broker.post(#"{"name":"Later","object":"desk","after":60}"#)
        _ = try broker.post(#"{"name":"Sooner","style":"asap","modes":["night"]}"#)
        for (path, rows, expected) in [
            ("responders?sort=object", "responders", ["Desk", "lamp"]),
            ("responders?contains=DESK", "responders", ["Desk"]),
            ("asks?sort=-age", "asks", ["Desk", "lamp"]),
            ("asks?contains=LAMP&sort=object", "asks", ["lamp"]),
            ("values?sort=object", "values", ["Desk", "lamp", "other"]),
            ("values?sort=-observers&contains=the", "values", ["other"]),
            ("values?sort=-bytes&limit=3", "values", ["lamp", "Desk", "other"]),
            ("queue?contains=desk", "entries", ["desk"]),
        ] {
            let page = try broker.get("/v1/\(path)").json
            #expect(
                page[rows].elements.map { $0["object"] } == expected.map { .text($0) }, "\(path)")
            #expect(
                page["total"] == .number(Double(expected.count)) && !page.has("unseen"), "\(path)")
        }
        let queue = try broker.get("/v1/queue?sort=name").json
        #expect(queue["entries"].elements.map { $0["name"] } == ["Later", "Sooner"])
        for (path, total) in [
            ("responders", 2), ("asks", 2), ("values", 3), ("queue", 2), ("queue?waiting=true", 1),
        ] {
            #expect(
                try broker.get("/v1/\(path)").json["total"] == .number(Double(total)), "\(path)")
        }
        #expect(try !broker.get("/v1/values?object=lamp").json.has("total"))
    }

    @Test("a sorted listing goes on with its next, row by row")
    func sortedPages() throws {
        let broker = try broker()
        for (path, rows) in [("observers", "observers"), ("channels", "channels")] {
            var names: [Value] = []
            var cursor = ""
            for _ in 0..<3 {
                let page = try broker.get("/v1/\(path)?sort=name&limit=1\(cursor)").json
                names += page[rows].elements.map { $0["name"] }
                #expect(page["total"] == 3)
                cursor = page["next"].text.map { "&cursor=\($0)" } ?? ""
            }
            #expect(names == ["Mail", "Order", "order"] && cursor.isEmpty)
        }
    }

    @Test(
        "what a listing does not have is refused, with what it has",
        arguments: [
            ("observers?sort=-posts", "sort"), ("channels?sort=-held", "sort"),
            ("observers?sort=", "sort"), ("observers?contains=", "contains"),
            ("observers?sort=name&cursor=3", "cursor"), ("observers?cursor=0.3.", "cursor"),
            ("reports/leaks?cursor=0.3.", "cursor"), ("queue?sort=-held", "sort"),
            ("asks?sort=name", "sort"), ("responders?sort=-posts", "sort"),
            ("values?sort=age", "sort"), ("centers?sort=name", "sort"),
            ("observers?contains=%00", "contains"),
        ])
    func refused(target: String, place: String) throws {
        let answer = try Broker().get("/v1/\(target)")
        #expect(answer.problem == "invalid-fields")
        #expect(answer.place == place)
    }

    @Test("what is contained has 255 characters, and no more")
    func limit() throws {
        let broker = try Broker()
        let text = String(repeating: "a", count: 255)
        #expect(try broker.get("/v1/observers?contains=\(text)").status == 200)
        #expect(try broker.get("/v1/observers?contains=\(text)a").place == "contains")
    }
}
