import BelfryCenter
import BelfryWire
import Testing

@Suite("RequestReader.observer: responders")
struct ResponderRequestTests {
    private let reader = RequestReader()

    private func faults(_ body: String, allowsSession: Bool = false) -> [String]? {
        problem { () throws(Problem) in
            try reader.observer(body, allowsSession: allowsSession)
        }?.faultTexts
    }

    private func terms(_ body: String) throws -> ResponderTerms {
        try #require(reader.observer(body, allowsSession: false).role.responder)
    }

    @Test("all fields are read in any order, and the methods are what it implements")
    func all() throws {
        let members = [
            #""object":"deploy""#, #""implements":["a","b\u0063"]"#, #""next":"team""#,
            #""ifHeld":"r\u0065fuse""#, #""concurrency":7"#, #""suspensionBehavior":"hold""#,
            #""lease":1.5"#, #""session":"c4.Qz""#, #""acknowledge":true"#,
        ]
        var terms = ObserverTerms()
        terms.suspensionBehavior = .hold
        terms.acknowledges = true
        terms.lease = 1_500_000_000
        var responder = ResponderTerms(
            implements: [bytes("a"), bytes("bc")], next: bytes("team"))
        responder.ifHeld = .refuse
        responder.concurrency = 7
        var expected = ObserverRequest(
            object: bytes("deploy"), terms: terms, session: bytes("c4.Qz"),
            role: .responder(responder))
        expected.selector = []
        for start in members.indices {
            let turned = members[start...] + members[..<start]
            for order in [Array(turned), turned.reversed()] {
                let body = "{\(order.joined(separator: ","))}"
                #expect(try reader.observer(body) == expected, "\(body)")
            }
        }
    }

    @Test("what is not given is as for other observers; it replaces, and takes 1,000 asks at once")
    func defaults() throws {
        for body in [
            #"{"object":"o","implements":[]}"#,
            #"{"object":"o","implements":[],"name":null,"selector":null,"since":null,"next":null,"#
                + #""ifHeld":null,"concurrency":null}"#,
        ] {
            #expect(try terms(body) == ResponderTerms(implements: []))
            let mailbox = try reader.observer(body)
            #expect(mailbox.terms.suspensionBehavior == .hold)
            #expect(mailbox.terms.lease == 86_400_000_000_000)
            let observer = try reader.observer(body, allowsSession: false)
            #expect(observer.terms == ObserverTerms())
            #expect(observer.name == nil && observer.since == nil)
        }
        #expect(try terms(#"{"object":"o","implements":[]}"#).ifHeld == .replace)
        #expect(try terms(#"{"object":"o","implements":[]}"#).concurrency == 1_000)
        let plain = try reader.observer(
            #"{"implements":null,"next":null,"ifHeld":null,"concurrency":null}"#,
            allowsSession: false)
        #expect(plain == ObserverRequest())
    }

    @Test(
        "each ifHeld has its word",
        arguments: [("replace", .replace), ("refuse", .refuse), ("share", .share)]
            as [(String, ResponderTerms.IfHeld)])
    func ifHeld(word: String, expected: ResponderTerms.IfHeld) throws {
        let terms = try terms(#"{"object":"o","implements":["a"],"ifHeld":"\#(word)"}"#)
        #expect(terms.ifHeld == expected)
    }

    @Test("concurrency is 1 to 1,000")
    func concurrency() throws {
        for count in [1, 1_000] {
            let body = #"{"object":"o","implements":["a"],"concurrency":\#(count)}"#
            #expect(try terms(body).concurrency == count)
        }
        for count in [0, 1_001] {
            let expected = ["#/concurrency must be an integer from 1 to 1000"]
            #expect(
                faults(#"{"object":"o","implements":["a"],"concurrency":\#(count)}"#) == expected)
        }
    }

    @Test("it implements 0 to 64 selectors")
    func selectorCount() throws {
        func body(_ count: Int) -> String {
            let selectors = (0..<count).map { "\"s\($0)\"" }.joined(separator: ",")
            return #"{"object":"o","implements":[\#(selectors)]}"#
        }
        #expect(try terms(body(0)).implements.isEmpty)
        #expect(try terms(body(64)).implements.count == 64)
        #expect(try terms(body(64)).implements.last == bytes("s63"))
        #expect(faults(body(65)) == ["#/implements must have at most 64 selectors, not 65"])
    }

    @Test("a selector that it implements has at most 128 bytes", arguments: ["x", "é"])
    func selectorBorder(scalar: String) throws {
        let longest = String(repeating: scalar, count: 128 / scalar.utf8.count)
        #expect(
            try terms(#"{"object":"o","implements":["\#(longest)"]}"#).implements
                == [bytes(longest)])
        #expect(
            faults(#"{"object":"o","implements":["a","\#(longest)x"]}"#)
                == ["#/implements/1 must have 1 to 128 bytes of UTF-8"])
    }

    @Test(
        "a fault is told with its pointer",
        arguments: [
            (#"{"implements":["a"]}"#, "#/object is required with implements"),
            (#"{"implements":["a"],"object":null}"#, "#/object is required with implements"),
            (
                #"{"implements":["a"],"object":""}"#,
                "#/object must have 1 to 255 characters"
            ),
            (#"{"object":"o","implements":"a"}"#, "#/implements must be an array, not a string"),
            (#"{"object":"o","implements":[7]}"#, "#/implements/0 must be a string, not a number"),
            (#"{"object":"o","implements":[null]}"#, "#/implements/0 must be a string, not null"),
            (#"{"object":"o","implements":["a","b","a"]}"#, "#/implements/2 must not be repeated"),
            (
                #"{"object":"o","implements":["belfry.x"]}"#,
                "#/implements/0 must not start with belfry. or rpc."
            ),
            (
                #"{"object":"o","implements":["rpc.x"]}"#,
                "#/implements/0 must not start with belfry. or rpc."
            ),
            (
                #"{"object":"o","implements":["a"],"name":"a"}"#,
                "#/name cannot be combined with implements"
            ),
            (
                #"{"object":"o","implements":["a"],"selector":"a"}"#,
                "#/selector cannot be combined with implements"
            ),
            (
                #"{"object":"o","implements":["a"],"since":0}"#,
                "#/since cannot be combined with implements"
            ),
            (
                #"{"object":"o","implements":["a"],"target":"t"}"#,
                "#/target cannot be combined with implements"
            ),
            (
                #"{"object":"o","implements":["a"],"keyPath":"p"}"#,
                "#/implements cannot be combined with keyPath"
            ),
            (
                #"{"object":"o","implements":["a"],"next":""}"#,
                "#/next must have 1 to 255 characters"
            ),
            (
                #"{"object":"o","implements":["a"],"ifHeld":"Share"}"#,
                "#/ifHeld must be replace, refuse or share"
            ),
            (#"{"object":"o","next":"n"}"#, "#/next requires the field implements"),
            (#"{"object":"o","ifHeld":"share"}"#, "#/ifHeld requires the field implements"),
            (#"{"object":"o","concurrency":1}"#, "#/concurrency requires the field implements"),
            (#"{"object":"o","keyPath":"p","next":"n"}"#, "#/next requires the field implements"),
            (
                #"{"object":"o","keyPath":"p","ifHeld":"share"}"#,
                "#/ifHeld requires the field implements"
            ),
            (
                #"{"object":"o","keyPath":"p","concurrency":1}"#,
                "#/concurrency requires the field implements"
            ),
            (
                #"{"object":"o","implements":["a"],"initial":true}"#,
                "#/initial requires the field keyPath"
            ),
            (
                #"{"object":"o","implements":["a"],"acknowledge":true,"suspensionBehavior":"drop"}"#,
                "#/suspensionBehavior must be hold or deliverImmediately to acknowledge"
            ),
        ])
    func fields(body: String, expected: String) {
        #expect(faults(body) == [expected])
    }

    @Test("a mailbox that responds is read like any other")
    func mailbox() {
        #expect(
            faults(
                #"{"object":"o","implements":["a"],"acknowledge":true}"#, allowsSession: true)
                == ["#/acknowledge must be false for a mailbox, which acknowledges by after"])
    }

    @Test("grants must cover each selector; all names where it implements nothing")
    func coveredNames() throws {
        func names(_ body: String) throws -> [[UInt8]?]? {
            try reader.observer(body, allowsSession: false).role.responder?.coveredNames
        }
        #expect(
            try names(#"{"object":"o","implements":["a","b"]}"#) == [bytes("a"), bytes("b")])
        #expect(try names(#"{"object":"o","implements":[]}"#) == [nil])
        #expect(try names(#"{"name":"a"}"#) == nil)
    }
}
