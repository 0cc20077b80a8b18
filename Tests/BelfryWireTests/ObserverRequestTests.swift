import BelfryWire
import Testing

@Suite("RequestReader.observer")
struct ObserverRequestTests {
    private let reader = RequestReader()

    private func faults(_ body: String, allowsSession: Bool = false) -> [String]? {
        problem { () throws(Problem) in
            try reader.observer(body, allowsSession: allowsSession)
        }?.faultTexts
    }

    @Test("all fields of this version are read")
    func all() throws {
        let observer = try reader.observer(
            #"{"name":"a","object":"o","selector":"input:","since":9007199254740991,"#
                + #""session":"c4.Qz","acknowledge":false,"minInterval":0.0,"#
                + #""lifetime":"c\u006fnnection"}"#)
        let expected = ObserverRequest(
            name: bytes("a"), object: bytes("o"), selector: bytes("input:"),
            since: 9_007_199_254_740_991, session: bytes("c4.Qz"))
        #expect(observer == expected)
    }

    @Test("nothing given is an observer of everything whose selector is notify")
    func defaults() throws {
        let expected = ObserverRequest(selector: bytes("notify"))
        #expect(try reader.observer("{}", allowsSession: false) == expected)
        let nulls = #"{"name":null,"object":null,"selector":null,"since":null}"#
        #expect(try reader.observer(nulls, allowsSession: false) == expected)
    }

    @Test("an integer may have a fraction of zero", arguments: ["80", "80.0", "8e1", "800E-1"])
    func integers(_ since: String) throws {
        let observer = try reader.observer("{\"since\":\(since)}", allowsSession: false)
        #expect(observer.since == 80)
    }

    @Test(
        "a fault is told with its pointer",
        arguments: [
            (#"{"name":""}"#, "#/name must have 1 to 255 characters"),
            (#"{"object":7}"#, "#/object must be a string, not a number"),
            (
                #"{"object":"\u007f"}"#,
                "#/object must not hold control characters (U+0000 to U+001F, U+007F)"
            ),
            (#"{"selector":"belfry.x"}"#, "#/selector must not start with belfry. or rpc."),
            (#"{"selector":"rpc.x"}"#, "#/selector must not start with belfry. or rpc."),
            (#"{"selector":""}"#, "#/selector must have 1 to 128 bytes of UTF-8"),
            (
                #"{"selector":"\n"}"#,
                "#/selector must not hold control characters (U+0000 to U+001F, U+007F)"
            ),
            (#"{"since":-1}"#, "#/since must be an integer from 0 to 9007199254740991"),
            (#"{"since":1.5}"#, "#/since must be an integer from 0 to 9007199254740991"),
            (
                #"{"since":9007199254740992}"#,
                "#/since must be an integer from 0 to 9007199254740991"
            ),
            (
                #"{"since":99999999999999999999}"#,
                "#/since must be an integer from 0 to 9007199254740991"
            ),
            (#"{"since":"1"}"#, "#/since must be a number, not a string"),
            (#"{"acknowledge":true}"#, "#/acknowledge is not supported by this version"),
            (#"{"acknowledge":0}"#, "#/acknowledge must be true or false, not a number"),
            (#"{"minInterval":0.5}"#, "#/minInterval must be 0"),
            (#"{"minInterval":1e999}"#, "#/minInterval must be 0"),
            (#"{"minInterval":null}"#, "#/minInterval must be a number, not null"),
            (#"{"lifetime":"token"}"#, "#/lifetime must be connection in this version"),
            (#"{"lease":null}"#, "#/lease is not supported by this version"),
            (#"{"holdLimit":1}"#, "#/holdLimit is not supported by this version"),
            (
                #"{"suspensionBehavior":"hold"}"#,
                "#/suspensionBehavior is not supported by this version"
            ),
            (#"{"session":"c4.Q"}"#, "#/session is not a known field"),
            (#"{"name":"a","name":null}"#, "#/name must not come twice"),
            ("[]", "# must be an object, not an array"),
        ])
    func fields(body: String, expected: String) {
        #expect(faults(body) == [expected])
    }

    @Test("a selector has at most 128 bytes", arguments: ["x", "é"])
    func selectorBorder(scalar: String) throws {
        let longest = String(repeating: scalar, count: 128 / scalar.utf8.count)
        let observer = try reader.observer("{\"selector\":\"\(longest)\"}", allowsSession: false)
        #expect(observer.selector == bytes(longest))
        let tooLong = faults("{\"selector\":\"\(longest)x\"}")
        #expect(tooLong == ["#/selector must have 1 to 128 bytes of UTF-8"])
    }

    @Test("over HTTP a session is required, for mailboxes come later")
    func session() {
        let missing = ["#/session is required: mailboxes are not supported by this version"]
        #expect(faults("{}", allowsSession: true) == missing)
        let null = ["#/session must be a string, not null"]
        #expect(faults(#"{"session":null}"#, allowsSession: true) == null)
    }

    @Test("an observer of a reserved name is 403")
    func reserved() {
        let problem = problem { () throws(Problem) in
            try reader.observer(#"{"name":"belfry.x"}"#, allowsSession: false)
        }
        #expect(problem?.kind == .forbidden)
        #expect(problem?.faultTexts == ["#/name is reserved"])
    }

    @Test("malformed JSON wins", arguments: ["", "{\"x\":1} 2", "{\"lease\":nul}"])
    func malformed(body: String) {
        let problem = problem { () throws(Problem) in try reader.observer(body) }
        #expect(problem?.kind == .malformedJSON)
    }
}
