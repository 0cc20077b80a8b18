import BelfryAccess
import Testing

@testable import BelfryServer

@Suite("GET /v1/me, and of one center: who asks")
struct CallerTests {
    private static let grants =
        #"[{"verbs":["inspect","post"],"names":["Sale*","Mail"],"centers":["team"]},{"verbs":["ask"]}]"#

    private func broker() throws -> Broker {
        var file = Keys()
        file.add("till", principal: "shop", Self.grants, expires: "2027-01-31T00:00:00Z")
        file.add("plain", "[]")
        let keyring = try file.keyring()
        return try Broker { $0.keyring = keyring }
    }

    @Test("a key is told its principal, its grants as they are written, and its end")
    func key() throws {
        let answer = try broker().get("/v1/me", fields: [Keys.field("till")])
        #expect(answer.status == 200)
        #expect(answer.field("cache-control") == "no-store")
        #expect(answer.json["principal"] == "shop")
        #expect(answer.json["expiresAt"] == "2027-01-31T00:00:00.000Z")
        let grants = answer.json["grants"].elements
        #expect(grants.count == 2)
        #expect(grants[0]["verbs"] == .array(["post", "inspect"]))
        #expect(grants[0]["names"] == .array(["Sale*", "Mail"]))
        #expect(grants[0]["objects"] == .array(["*"]))
        #expect(grants[0]["centers"] == .array(["team"]))
        #expect(grants[1]["verbs"] == .array(["ask"]))
    }

    @Test("a key without grants and without an end is told so")
    func nothing() throws {
        let answer = try broker().get("/v1/me", fields: [Keys.field("plain")]).json
        #expect(answer["principal"] == "plain")
        #expect(answer["grants"] == .array([]))
        #expect(answer.has("expiresAt") && answer["expiresAt"] == .null)
    }

    @Test("who shows no credentials is nobody, with what anonymous callers may do")
    func anonymous() throws {
        let answer = try broker().get("/v1/me").json
        #expect(answer.has("principal") && answer["principal"] == .null)
        let verbs = answer["grants"][0]["verbs"].elements.compactMap(\.text)
        #expect(verbs == Verbs.names.map(\.name).filter { $0 != "admin" && $0 != "forever" })
        let none = try Broker { $0.anonymousGrants = Grants.none }.get("/v1/me").json
        #expect(none["grants"] == .array([]))
    }

    @Test("credentials that are not good are refused, and so is a query")
    func refused() throws {
        let broker = try broker()
        let wrong = try broker.get("/v1/me", fields: ["Authorization: Bearer belfry_wrong"])
        #expect(wrong.status == 401)
        #expect(try broker.get("/v1/me?name=a").place == "name")
        #expect(try broker.get("/v1/centers/team/me?name=a").place == "name")
        let name = String(repeating: "c", count: 256)
        #expect(try broker.get("/v1/centers/\(name)/me").problem == "invalid-fields")
    }

    @Test(
        "in a center the grants on it are told alone, whether it is there or not",
        arguments: [1, 2])
    func center(loopCount: Int) throws {
        var file = Keys()
        file.add("till", principal: "shop", Self.grants, expires: "2027-01-31T00:00:00Z")
        let keyring = try file.keyring()
        let broker = try Broker(loopCount: loopCount) { $0.keyring = keyring }
        func me(_ center: String) throws -> Value {
            let answer = try broker.get("/v1/centers/\(center)/me", fields: [Keys.field("till")])
            #expect(answer.status == 200 && answer.field("cache-control") == "no-store")
            #expect(answer.json["principal"] == "shop")
            #expect(answer.json["expiresAt"] == "2027-01-31T00:00:00.000Z")
            return answer.json["grants"]
        }
        let all = try broker.get("/v1/me", fields: [Keys.field("till")]).json["grants"].elements
        #expect(try me("team") == .array(all))
        #expect(try me("other") == .array([all[1]]))
        #expect(try me("default") == .array([all[1]]))
        #expect(try broker.get("/v1/centers").json["centers"].elements.count == 1)
        let nobody = try broker.get("/v1/centers/team/me").json
        #expect(nobody["principal"] == .null && !nobody["grants"].elements.isEmpty)
    }
}
