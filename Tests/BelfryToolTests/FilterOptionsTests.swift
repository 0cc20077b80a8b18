import ArgumentParser
import BelfryClient
import Testing

@testable import belfry

@Suite("The options of a filter")
struct FilterOptionsTests {
    private func filter(_ arguments: [String]) throws -> NotificationFilter {
        let observe = try Observe.parse(arguments)
        return observe.choice.filter(name: observe.name, object: observe.object)
    }

    @Test("they choose names, objects and a condition")
    func choices() throws {
        #expect(try filter([]) == NotificationFilter())
        #expect(try filter(["A"]) == NotificationFilter(names: .exactly("A")))
        #expect(try filter(["--name", "A"]) == NotificationFilter(names: .exactly("A")))
        #expect(
            try filter(["--name", "A", "--name", "B", "--object", "o"])
                == NotificationFilter(names: .oneOf(["A", "B"]), objects: .exactly("o")))
        let condition = try NotificationFilter.Condition(json: #"[{"vip":true}]"#)
        let prefixes = try filter([
            "--prefix", "A.", "--object-prefix", "o-", "--where", #" [{"vip":true}] "#,
        ])
        #expect(
            prefixes
                == NotificationFilter(
                    names: .prefix("A."), objects: .prefix("o-"), where: condition))
    }

    @Test("a table shows several names, and how names begin")
    func table() throws {
        let rows = try [
            #"{"name":null,"names":["A","B"],"object":"o"}"#,
            #"{"name":null,"namePrefix":"A.","object":null,"objectPrefix":"o-"}"#,
            #"{"name":"A","object":null}"#,
        ].map { try #require(JSONObject(Array($0.utf8))) }
        #expect(
            Report.table(["name", "object"], rows) == """
                NAME  OBJECT
                A,B   o
                A.…   o-…
                A     -
                """)
    }
}
