import ArgumentParser
import BelfryAccess
import BelfryJSON
import BelfryServer
import Testing

@testable import belfry

@Suite("Grants with a condition in options (Access.md section 1)")
struct GrantListTests {
    private static let text = #"[{"verbs":["post"],"where":{"team":"eng"}}]"#

    @Test("W11: the condition comes to the server, and is printed as it was written")
    func condition() throws {
        let condition = try JSONCondition(Array(#"{"team":"eng"}"#.utf8).span)
        let list = try GrantList(Self.text)
        #expect(list.grants == Grants([Grant(.post, condition: condition)]))
        #expect(JSONText.grants(list).json.hasSuffix(#""centers":["*"],"where":{"team":"eng"}}]"#))
        #expect(try GrantList(JSONText.grants(list).json) == list)
    }

    @Test("a new key may have it")
    func genToken() throws {
        let command = try GenToken.parse(["till", "--grants", Self.text])
        let row = command.row(of: GeneratedKey(), try GrantList(command.grants))
        #expect(String(decoding: row, as: UTF8.self).contains(#""where":{"team":"eng"}}]"#))
        #expect(Program.run(["gen-token", "till", "--grants", Self.text]) == 0)
        #expect(
            Program.run(["gen-token", "till", "--grants", #"[{"verbs":["post"],"where":7}]"#]) == 2)
    }

    @Test("it must be one, goes with some verbs alone, and with 32 grants at most")
    func faults() throws {
        #expect(throws: GrantList.Fault.misplacedCondition) {
            try GrantList(#"[{"verbs":["post","admin"],"where":{"a":1}}]"#)
        }
        for wrong in ["7", "{}", #"{"a":{"over":1}}"#] {
            let fault = #expect(throws: GrantList.Fault.self) {
                try GrantList(#"[{"verbs":["post"],"where":\#(wrong)}]"#)
            }
            #expect(fault?.text.hasPrefix("The condition of a grant is malformed: where") == true)
        }
        func many(_ count: Int) -> String {
            let grant = #"{"verbs":["post"],"where":{"a":1}}"#
            return "[\(Array(repeating: grant, count: count).joined(separator: ","))]"
        }
        #expect(try GrantList(many(32)).rows.count == 32)
        #expect(throws: GrantList.Fault.misplacedCondition) { try GrantList(many(33)) }
    }
}
