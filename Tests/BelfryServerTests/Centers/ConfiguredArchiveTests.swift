import BelfryCenter
import Testing

@testable import BelfryServer

@Suite("Archives of the configuration, and the room of a broker (Protocol.md section 16)")
struct ConfiguredArchiveTests {
    /// A stage whose configuration has an archive of the channel `a`, in memory.
    private static func stage(
        _ terms: ArchiveTerms = terms(), loopCount: Int = 1, idle: Duration? = nil
    ) throws -> Stage {
        try Stage.archiving(Scene(door: .http, loopCount: loopCount)) {
            $0.centerLimits.archives = [
                ConfiguredArchive(ArchiveName(Array("a".utf8), isPrefix: false), terms)
            ]
            if let idle { $0.centerIdleTimeout = idle }
        }
    }

    private static func terms(age: Int64? = nil) -> ArchiveTerms {
        var terms = ArchiveTerms()
        terms.byteLimit = 4_096
        terms.age = age
        terms.isStored = false
        return terms
    }

    @Test("they are there before the first command", arguments: [1, 2])
    func fresh(loopCount: Int) throws {
        let broker = try Broker(loopCount: loopCount) {
            $0.anonymousGrants = Stage.allGrants
            $0.centerLimits.archives = [
                ConfiguredArchive(ArchiveName(Array("a".utf8), isPrefix: false), Self.terms())
            ]
        }
        #expect(try broker.get("/v1/archives").json["archives"][0]["name"] == "a")
        #expect(try broker.get("/v1/archives/a").json["configured"] == true)
        #expect(try broker.get("/v1/notifications?name=a").status == 200)
    }

    @Test("one that keeps nothing holds no center, and one that keeps something does")
    func removal() throws {
        let stage = try Self.stage()
        _ = try stage.broker.post(#"{"name":"b"}"#, target: "/v1/centers/x/notifications")
        #expect(try stage.broker.request("DELETE", "/v1/centers/x").status == 204)
        _ = try stage.broker.post(#"{"name":"a"}"#, target: "/v1/centers/x/notifications")
        let refusal = try stage.broker.request("DELETE", "/v1/centers/x")
        #expect(refusal.status == 409 && refusal.json["archives"] == 1)
        let forgotten = try stage.broker.request("DELETE", "/v1/centers/x/notifications?name=a")
        #expect(forgotten.json["removed"] == 1)
        #expect(try stage.broker.request("DELETE", "/v1/centers/x").status == 204)
        // The next one of that name has the archive again.
        _ = try stage.broker.post(#"{"name":"a"}"#, target: "/v1/centers/x/notifications")
        #expect(try stage.broker.get("/v1/centers/x/archives/a").json["kept"] == 1)
    }

    @Test("an unused center ends when its archives of the configuration are empty")
    func idle() throws {
        let stage = try Self.stage(Self.terms(age: 20_000), idle: .seconds(1))
        _ = try stage.broker.post(#"{"name":"b"}"#, target: "/v1/centers/x/notifications")
        _ = try stage.broker.post(#"{"name":"a"}"#, target: "/v1/centers/y/notifications")
        try stage.broker.advance(by: .seconds(10))
        try stage.broker.advance(by: .seconds(1))
        #expect(try stage.broker.get("/v1/centers/x/archives").status == 404)
        #expect(try stage.broker.get("/v1/centers/y/archives").status == 200)
        try stage.broker.advance(by: .seconds(15))
        for _ in 0..<3 { try stage.broker.advance(by: .seconds(2)) }
        #expect(try stage.broker.get("/v1/centers/y/archives").status == 404)
    }

    @Test("a refused PUT makes no center; without room in the broker it is `overloaded`")
    func refused() throws {
        let stage = try Stage.archiving { $0.memory.archives = 1 << 20 }
        func slug(_ response: Response) -> String? {
            response.json["type"].text?.split(separator: "/").last.map(String.init)
        }
        for place in ["/v1", "/v1/centers/x"] {
            let refusal = try stage.broker.request(
                "PUT", "\(place)/archives/a", #"{"bytes":600000}"#,
                fields: ["Content-Type: application/json"])
            #expect(refusal.status == 503 && slug(refusal) == "overloaded")
        }
        #expect(try stage.archive("a", #"{"bytes":524288}"#).status == 201)
        #expect(try slug(stage.archive("b", #"{"bytes":4096}"#)) == "overloaded")
        let centers = try stage.broker.get("/v1/centers").json["centers"].elements
        #expect(centers.map { $0["name"] } == ["default"])
    }

    @Test("a refusal of the center's own limits makes no center either")
    func limited() throws {
        let limited = try Stage.archiving {
            $0.centerLimits.archiveLimit = 1
            $0.centerLimits.archives = [
                ConfiguredArchive(ArchiveName(Array("a".utf8), isPrefix: false), Self.terms())
            ]
        }
        for (name, status) in [("a", 409), ("b", 503)] {
            let refusal = try limited.broker.request("PUT", "/v1/centers/x/archives/\(name)", "")
            #expect(refusal.status == status)
        }
        #expect(try limited.broker.get("/v1/centers/x/archives").status == 404)
    }
}
