import BelfryAccess
import Testing

@Suite("Pattern")
struct PatternTests {
    @Test(
        "an exact pattern covers its bytes alone, a prefix what starts with it, and * everything",
        arguments: [
            ("Mail", "Mail", true), ("Mail", "mail", false), ("Mail", "Mai", false),
            ("Mail", "Mails", false), ("Mail", "", false), ("Mail", nil, false),
            ("Mail*", "Mail", true), ("Mail*", "MailSent", true), ("Mail*", "Mai", false),
            ("Mail*", "XMail", false), ("Mail*", nil, false), ("*", "", true),
            ("*", "anything", true), ("*", nil, true), ("", "", true), ("", "a", false),
            ("", nil, false), ("a*b", "a*b", true), ("a*b", "axb", false),
            ("**", "*x", true), ("**", "x", false), ("**", nil, false),
            ("caf\u{E9}", "caf\u{E9}", true), ("caf\u{E9}", "cafe\u{301}", false),
        ] as [(String, String?, Bool)])
    func covers(pattern: String, text: String?, expected: Bool) {
        let pattern = Pattern(pattern)
        if let text {
            let bytes = Array(text.utf8)
            let isCovered = pattern.covers(bytes.span)
            #expect(isCovered == expected)
        } else {
            let isCovered = pattern.covers(nil)
            #expect(isCovered == expected)
        }
    }
}

@Suite("Grants (Access.md section 1)")
struct GrantsTests {
    static let grants = Grants([
        Grant([.post], names: [Pattern("Mail*")], centers: [Pattern("default")]),
        Grant([.observe], names: [Pattern("Mail*")], objects: [Pattern("user:42")]),
        Grant([.inspect, .admin], centers: [Pattern("team-*")]),
        Grant([.post], names: [Pattern("Door")], objects: [Pattern("front"), Pattern("back")]),
    ])

    @Test(
        "a request is allowed when one grant alone covers verb, center, name and object",
        arguments: [
            (.post, "default", "Mail", nil, true), (.post, "default", "MailSent", "x", true),
            (.post, "other", "Mail", nil, false), (.post, "default", "mail", nil, false),
            (.post, "default", "Door", "front", true), (.post, "any", "Door", "back", true),
            (.post, "default", "Door", "side", false), (.post, "default", "Door", nil, false),
            (.observe, "default", "Mail", "user:42", true),
            (.observe, "default", "Mail", "user:43", false),
            (.observe, "default", "Mail", nil, false),
            (.observe, "default", nil, "user:42", false),
            (.observe, "default", nil, nil, false),
            (.inspect, "team-a", "x", "y", true), (.inspect, "team-a", nil, nil, true),
            (.inspect, "default", "x", "y", false), (.admin, "team-", nil, nil, true),
            (.wildcard, "team-a", nil, nil, false), (.forever, "default", "Mail", nil, false),
        ] as [(Verbs, String, String?, String?, Bool)])
    func allow(verb: Verbs, center: String, name: String?, object: String?, expected: Bool) {
        #expect(
            Self.grants.allow(
                verb, center: Array(center.utf8), name: name.map { Array($0.utf8) },
                object: object.map { Array($0.utf8) }) == expected)
    }

    @Test(
        "a verb on something of a center is enough to look there",
        arguments: [
            (.post, "default", true), (.post, "x", true), (.observe, "x", true),
            (.inspect, "team-a", true), (.inspect, "default", false), (.modes, "default", false),
        ] as [(Verbs, String, Bool)])
    func allowSome(verb: Verbs, center: String, expected: Bool) {
        let center = Array(center.utf8)
        let isAllowed = Self.grants.allowSome(verb, center: center.span)
        #expect(isAllowed == expected)
    }

    @Test("two grants are not added up: each must cover a request alone")
    func notJoined() {
        let grants = Grants([
            Grant([.post], names: [Pattern("a")], objects: [Pattern("x")]),
            Grant([.post], names: [Pattern("b")], objects: [Pattern("y")]),
        ])
        #expect(grants.allow(.post, center: [1], name: Array("a".utf8), object: Array("x".utf8)))
        #expect(!grants.allow(.post, center: [1], name: Array("a".utf8), object: Array("y".utf8)))
    }

    @Test(
        "every verb is granted by itself and by no other", arguments: Verbs.names.map(\.name))
    func eachVerb(name: String) throws {
        let verb = try #require(Verbs.names.first { $0.name == name }).verb
        let grants = Grants([Grant(verb)])
        for other in Verbs.names {
            let isAllowed = grants.allow(other.verb, center: [1], name: nil, object: nil)
            #expect(isAllowed == (other.name == name))
            #expect(grants.allowEverywhere(other.verb) == (other.name == name))
        }
    }

    @Test("anonymous callers on loopback may do all but admin and forever")
    func loopback() {
        let caller = Caller.anonymous(.loopbackDefault)
        #expect(caller.principal == Array("anonymous".utf8))
        for verb in Verbs.names {
            let isExpected = verb.name != "admin" && verb.name != "forever"
            #expect(caller.grants.allowEverywhere(verb.verb) == isExpected)
        }
        #expect(Verbs.names.count == 13)
    }

    @Test("no grants allow nothing", arguments: Verbs.names.map(\.name))
    func nothing(name: String) throws {
        let verb = try #require(Verbs.names.first { $0.name == name }).verb
        #expect(!Grants.none.allow(verb, center: [1], name: [1], object: [1]))
        let center: [UInt8] = [1]
        let isAllowed = Grants.none.allowSome(verb, center: center.span)
        #expect(!isAllowed)
    }
}
