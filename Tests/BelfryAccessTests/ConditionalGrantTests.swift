import BelfryJSON
import Testing

@testable import BelfryAccess

@Suite("Grants with a condition (rules W11 and W12)")
struct ConditionalGrantTests {
    private static func claims(_ grants: String) throws -> TokenClaims {
        try TokenClaims(
            Array(#"{"sub":"u","exp":4000000000,"belfry":{"grants":\#(grants)}}"#.utf8))
    }

    @Test("W11: in a token a grant with another verb is void, and the others hold")
    func tokens() throws {
        let claims = try Self.claims(
            #"[{"verbs":["observe","inspect"],"where":{"a":1}},{"verbs":["post"]}]"#)
        #expect(claims.grants.grants.map(\.verbs) == [[], .post])
        #expect(!claims.grants.allowSomewhere(.observe))
    }

    @Test("W11: the conditions of the grants that cover a name; none where one has none")
    func conditions() throws {
        let grants = try Self.claims(
            """
            [{"verbs":["observe"],"names":["a*"],"where":{"k":1}},
             {"verbs":["observe"],"names":["ab"],"where":{"k":2}},
             {"verbs":["observe"],"names":["b"],"where":{"k":3}},
             {"verbs":["observe"],"names":["b"],"objects":["o"]}]
            """
        ).grants
        func texts(_ name: String?, _ object: String? = nil) -> [String] {
            grants.conditions(
                of: .observe, center: Array("c".utf8), name: name.map { Array($0.utf8) },
                object: object.map { Array($0.utf8) }
            ).map { String(decoding: $0.text, as: UTF8.self) }
        }
        #expect(texts("a") == [#"{"k":1}"#])
        #expect(texts("ab") == [#"{"k":1}"#, #"{"k":2}"#])
        #expect(texts("b") == [#"{"k":3}"#])
        #expect(texts("b", "o") == [])
        #expect(texts(nil) == [])
    }

    @Test("W12: a grant allows what fulfils its condition, and on everything no more")
    func posts() throws {
        let grants = try Self.claims(#"[{"verbs":["post"],"where":{"k":{"above":1}}}]"#).grants
        #expect(!grants.allowEverywhere(.post))
        func allows(_ userInfo: String) -> Bool {
            let (bytes, name) = (Array(userInfo.utf8), Array("a".utf8))
            return grants.allow(
                .post, center: name.span, name: name.span, object: nil, userInfo: bytes.span)
        }
        #expect(allows(#"{"k":2}"#) && !allows(#"{"k":1}"#) && !allows("{}"))
        let name = Array("a".utf8)
        let without = grants.allow(
            .post, center: name.span, name: name.span, object: nil, userInfo: nil)
        #expect(!without)
    }
}
