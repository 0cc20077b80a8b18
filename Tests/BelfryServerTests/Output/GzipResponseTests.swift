import BelfryHTTP
import BelfryLoop
import Testing

@testable import BelfryServer

@Suite("gzip of HTTP responses (RFC 9110 §8.4, §12.5.3)")
struct GzipResponseTests {
    static let accept = ["Accept-Encoding: gzip, deflate, br"]

    @Test(
        "the files of the broker are compressed for who takes it",
        arguments: ["/", "/belfry.js", "/openapi.yaml", "/openapi.json", "/asyncapi.yaml"])
    func assets(path: String) throws {
        let broker = try Broker()
        let plain = try broker.get(path, fields: ["Accept: text/html, */*"])
        #expect(plain.field("content-encoding") == nil)
        #expect(plain.field("vary") == "Accept-Encoding")
        let fields = ["Accept: text/html, */*"] + Self.accept
        let gzip = try broker.get(path, fields: fields)
        #expect(gzip.field("content-encoding") == "gzip")
        #expect(gzip.field("vary") == "Accept-Encoding")
        #expect(gzip.field("content-type") == plain.field("content-type"))
        #expect(gzip.body.prefix(3) == [0x1F, 0x8B, 8])
        #expect(gzip.body.count < plain.body.count / 2)
        #expect(try broker.get(path, fields: fields).body == gzip.body)
        let head = try broker.request("HEAD", path, fields: fields)
        #expect(head.field("content-length") == gzip.field("content-length"))
    }

    @Test("listings are compressed when they are large enough", arguments: [1, 2])
    func listings(loopCount: Int) throws {
        let broker = try Broker(loopCount: loopCount)
        let socket = try broker.webSocket()
        let small = try broker.get("/v1/queue", fields: Self.accept, loop: loopCount - 1)
        #expect(small.field("content-encoding") == nil)
        #expect(small.field("vary") == "Accept-Encoding")
        for number in 0..<20 { try socket.observe("name\(number)") }
        for path in ["observers", "channels", "reports/unmatched"] {
            let plain = try broker.get("/v1/\(path)", loop: loopCount - 1)
            let gzip = try broker.get("/v1/\(path)", fields: Self.accept, loop: loopCount - 1)
            #expect(plain.field("content-encoding") == nil)
            #expect(gzip.field("content-encoding") == "gzip")
            #expect(gzip.field("content-type") == "application/json")
            #expect(gzip.body.count < plain.body.count / 2)
        }
    }

    @Test("answers with secrets, receipts and mailboxes are never compressed")
    func secrets() throws {
        let broker = try Broker { $0.compressionThreshold = 1 }
        let name = String(repeating: "x", count: 200)
        let created = try broker.request(
            "POST", "/v1/observers", #"{"name":"\#(name)"}"#,
            fields: ["Content-Type: application/json"] + Self.accept)
        #expect(created.status == 201)
        #expect(created.field("content-encoding") == nil)
        let token = created.json["token"].text ?? ""
        for path in ["/v1/observers/\(token)", "/v1/observers/\(token)/notifications"] {
            let response = try broker.get(path, fields: Self.accept)
            #expect(response.status == 200)
            #expect(response.field("content-encoding") == nil)
        }
        let receipt = try broker.request(
            "POST", "/v1/channels/\(name)?report=observers", "", fields: Self.accept)
        #expect(receipt.field("content-encoding") == nil)
        let missing = try broker.get("/\(name)", fields: Self.accept)
        #expect(missing.status == 404 && missing.field("content-encoding") == nil)
        let stream = try broker.http()
        try stream.send(HTTPPeer.text("GET", "/v1/events?name=a", fields: Self.accept))
        let head = try stream.readHead()
        #expect(head?.status == 200)
        #expect(head?.values(of: "content-encoding").isEmpty == true)
    }

    @Test("a page of another origin is told what the answer varies with")
    func vary() throws {
        let broker = try Broker()
        let response = try broker.get(
            "/v1/queue", fields: ["Origin: http://localhost:1"] + Self.accept)
        let values = response.head.values(of: "vary").map { range in
            let value = response.head.value(in: range)
            return String(decoding: value.indices.map { value[$0] }, as: UTF8.self)
        }
        #expect(values.sorted() == ["Accept-Encoding", "Origin"])
    }
}
