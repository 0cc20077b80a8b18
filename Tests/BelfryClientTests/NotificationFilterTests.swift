import Testing

@testable import BelfryClient

@Suite("NotificationFilter")
struct NotificationFilterTests {
    private func members(_ filter: NotificationFilter, omitsAny: Bool = false) -> String {
        let json = RPCRequest.params { writer, bytes in
            filter.write(&writer, &bytes, omitsAny: omitsAny)
        }
        return String(decoding: json, as: UTF8.self)
    }

    private func query(_ filter: NotificationFilter) -> [String] {
        filter.query.map { "\($0.name)=\($0.value)" }
    }

    @Test("what matches anything is null, or is left out")
    func any() {
        #expect(members(NotificationFilter()) == #"{"name":null,"object":null}"#)
        #expect(members(NotificationFilter(), omitsAny: true) == "{}")
        #expect(query(NotificationFilter()) == [])
        #expect(NotificationFilter(name: nil, object: nil) == NotificationFilter())
    }

    @Test("names and objects are exact, several, or prefixes")
    func choices() throws {
        let exact = NotificationFilter(name: "A", object: "o")
        #expect(members(exact) == #"{"name":"A","object":"o"}"#)
        #expect(query(exact) == ["name=A", "object=o"])
        #expect([exact.name, exact.object] == ["A", "o"])
        let several = NotificationFilter(names: .oneOf(["A", "B"]), objects: .prefix("o-"))
        #expect(members(several) == #"{"names":["A","B"],"objectPrefix":"o-"}"#)
        #expect(query(several) == ["name=A", "name=B", "objectPrefix=o-"])
        #expect([several.name, several.object] == [nil, nil])
        let condition = try NotificationFilter.Condition(json: #"{"n":1.0}"#)
        let prefix = NotificationFilter(names: .prefix("A."), where: condition)
        #expect(members(prefix, omitsAny: true) == #"{"namePrefix":"A.","where":{"n":1.0}}"#)
        #expect(query(prefix) == ["namePrefix=A.", #"where={"n":1.0}"#])
    }

    @Test(
        "a condition keeps its bytes",
        arguments: ["{}", "[]", #"{"n":1e999,"k":[1,null]}"#, #"[{"a":{"not":"b"}}]"#])
    func condition(json: String) throws {
        let condition = try NotificationFilter.Condition(json: " \(json)\n")
        #expect(condition.json == Array(json.utf8))
    }

    @Test("anything else is refused", arguments: ["", "7", "null", "{", "{} {}", #""a""#])
    func bad(json: String) {
        #expect(throws: ClientError.invalidCondition) {
            try NotificationFilter.Condition(json: json)
        }
        #expect(!ClientError.invalidCondition.isWorthRetrying)
    }

    @Test("an explanation with a userInfo is posted")
    func explanation() throws {
        let request = HTTPRequest.explain(
            name: "A", object: "o", userInfo: try UserInfo(json: #"{"n":3}"#))
        #expect(request.path == "explain")
        #expect(
            String(decoding: request.content, as: UTF8.self)
                == #"{"name":"A","object":"o","userInfo":{"n":3}}"#)
        let mailbox = HTTPRequest.mailbox(for: NotificationFilter(names: .prefix("A.")))
        #expect(
            String(decoding: mailbox.content, as: UTF8.self)
                == #"{"namePrefix":"A.","lifetime":"token"}"#)
    }
}
