import BelfryCenter
import BelfryWire
import Testing

@Suite("RequestReader, params of JSON-RPC calls")
struct RPCCallsTests {
    private let reader = RequestReader()

    private func message(_ params: String) -> (bytes: [UInt8], params: Range<Int>) {
        let text = CallText(params)
        return (text.bytes, text.params)
    }

    private func post(_ params: String) throws(Problem) -> PostCall {
        let (bytes, range) = message(params)
        return try reader.post(params: range, in: bytes.span)
    }

    private func remove(_ params: String) throws(Problem) -> RemoveRequest {
        let (bytes, range) = message(params)
        return try reader.removeObserver(params: range, in: bytes.span)
    }

    private func faults<Value>(_ work: () throws(Problem) -> Value) -> [String]? {
        problem(of: work)?.faultTexts
    }

    @Test("post takes a notification, report, wait and an idempotency key")
    func posts() throws {
        let call = try post(
            #"{"wait":2.5,"name":"a","userInfo":{"x": [1]},"report":"observers","#
                + #""style":"idle","idempotencyKey":"k\u0031"}"#)
        #expect(call.post.content.nameText == "a")
        #expect(call.post.content.userInfoText == #"{"x": [1]}"#)
        #expect(call.reportsObservers)
        #expect(call.waitSeconds == 2.5)
        #expect(call.idempotencyKey == bytes("k1"))
        #expect(call.post.options?.style == .idle)
        let plain = try post(#"{"name":"a","report":null,"wait":null,"idempotencyKey":null}"#)
        #expect(!plain.reportsObservers && plain.waitSeconds == nil)
        #expect(plain.idempotencyKey == nil && plain.post.options == nil)
    }

    @Test(
        "faults of post point into its params",
        arguments: [
            (#"{"name":"a","report":"all"}"#, "#/report must be observers"),
            (#"{"name":"a","wait":-1}"#, "#/wait must be a number from 0 to 60"),
            (#"{"name":"a","wait":60.001}"#, "#/wait must be a number from 0 to 60"),
            (#"{"name":"a","wait":true}"#, "#/wait must be a number, not true or false"),
            (#"{"name":"a","keep":"first"}"#, "#/keep requires the style asap or idle"),
            (
                #"{"name":"a","idempotencyKey":""}"#,
                "#/idempotencyKey must have 1 to 255 visible ASCII characters"
            ),
            (
                #"{"name":"a","idempotencyKey":"a b"}"#,
                "#/idempotencyKey must have 1 to 255 visible ASCII characters"
            ),
            (
                #"{"name":"a","idempotencyKey":"é"}"#,
                "#/idempotencyKey must have 1 to 255 visible ASCII characters"
            ),
            (
                #"{"name":"a","idempotencyKey":7}"#,
                "#/idempotencyKey must be a string, not a number"
            ),
            (#"{"name":"a","id":1}"#, "#/id is not a known field"),
        ])
    func postFaults(params: String, expected: String) {
        #expect(faults { () throws(Problem) in try post(params) } == [expected])
    }

    @Test("an idempotency key has at most 255 characters, in params and in a header")
    func keyBorder() throws {
        let longest = String(repeating: "~", count: 255)
        let call = try post("{\"name\":\"a\",\"idempotencyKey\":\"\(longest)\"}")
        #expect(call.idempotencyKey == bytes(longest))
        try reader.check(idempotencyKey: bytes(longest))
        let detail = "must have 1 to 255 visible ASCII characters"
        let tooLong = faults { () throws(Problem) in
            try post("{\"name\":\"a\",\"idempotencyKey\":\"\(longest)!\"}")
        }
        #expect(tooLong == ["#/idempotencyKey \(detail)"])
        for key in [longest + "!", "", "a\u{7F}", " "] {
            let header = faults { () throws(Problem) in
                try reader.check(idempotencyKey: bytes(key))
            }
            #expect(header == ["Idempotency-Key: \(detail)"])
        }
    }

    @Test("absent params are an object without members")
    func absent() throws {
        let none: [UInt8] = []
        let observer = try reader.addObserver(params: nil, in: none.span)
        #expect(observer == ObserverRequest())
        #expect(try reader.observers(params: nil, in: none.span).query.limit == 100)
        let required = ["#/name is required"]
        #expect(
            faults { () throws(Problem) in try reader.post(params: nil, in: none.span) } == required
        )
        #expect(
            faults { () throws(Problem) in try reader.explain(params: nil, in: none.span) }
                == ["#/name is required, unless selector is given"])
    }

    @Test("addObserver has no session, for the connection is the client")
    func addObserver() throws {
        let (bytes, range) = message(#"{"name":"a","session":"c4.Q"}"#)
        let expected = ["#/session is not a known field"]
        #expect(
            faults { () throws(Problem) in
                try reader.addObserver(params: range, in: bytes.span)
            } == expected)
    }

    @Test("removeObserver takes a token, an id, or a filter")
    func removals() throws {
        let text = bytes("o17.kJ3_-")
        let parsed = IdentifierText(observer: text.span)
        let token = try #require(parsed)
        #expect(try remove(#"{"token":"o17.kJ3_-"}"#) == .token(token))
        #expect(try remove(#"{"observer":"o17","name":null}"#) == .observer(17))
        #expect(try remove(#"{"name":"a"}"#) == .filter(ObserverFilter(name: bytes("a"))))
        #expect(
            try remove(#"{"name":null,"object":"o"}"#)
                == .filter(ObserverFilter(object: bytes("o"))))
        let wire = ObserverFilter(target: bytes("lamp"), selector: bytes("toggle"))
        #expect(
            try remove(#"{"target":"lamp","selector":"toggle","name":null}"#) == .filter(wire))
        let both = RemoveRequest.filter(
            ObserverFilter(name: bytes("a"), object: bytes("o")))
        #expect(try remove(#"{"name":"a","object":"o"}"#) == both)
    }

    private static let needed =
        "# must have token, or observer, or some of name, names, namePrefix, object, "
        + "objectPrefix, where, target and selector"

    @Test(
        "a removal of nothing, or of two things, is refused (rule O10)",
        arguments: [
            ("{}", Self.needed),
            (
                #"{"name":null,"object":null}"#,
                Self.needed
            ),
            (
                #"{"token":"o1.x","observer":"o1"}"#,
                Self.needed
            ),
            (
                #"{"token":"o1.x","name":"a"}"#,
                Self.needed
            ),
            (#"{"token":"o1"}"#, "#/token must be the token of an observer"),
            (#"{"token":""}"#, "#/token must be the token of an observer"),
            (#"{"observer":"o1.x"}"#, "#/observer must be the id of an observer"),
            (#"{"observer":"c1"}"#, "#/observer must be the id of an observer"),
            (#"{"observer":1}"#, "#/observer must be a string, not a number"),
            (#"{"name":"","token":"o1.x"}"#, "#/name must have 1 to 255 characters"),
        ])
    func removalFaults(params: String, expected: String) {
        #expect(faults { () throws(Problem) in try remove(params) } == [expected])
    }

    @Test("observers takes the filters of the listing")
    func listing() throws {
        let (bytes1, range1) = message(
            #"{"limit":7,"cursor":"9","client":"c4","state":"slow","principal":null}"#)
        let request = try reader.observers(params: range1, in: bytes1.span)
        #expect(request.query.limit == 7)
        #expect(request.query.cursor == 9)
        #expect(request.query.client == 4)
        #expect(request.state == .slow)
        let (bytes2, range2) = message(#"{"limit":1001,"cursor":9,"client":"c4.x","state":"x"}"#)
        #expect(
            faults { () throws(Problem) in
                try reader.observers(params: range2, in: bytes2.span)
            } == [
                "#/limit must be an integer from 1 to 1000",
                "#/cursor must be a string, not a number", "#/client must be the id of a client",
                "#/state must be live, slow, asked or disconnected",
            ])
    }

    @Test("explain takes name and object, and the page")
    func explain() throws {
        let (bytes1, range1) = message(#"{"cursor":"9","object":"o","limit":5,"name":"a"}"#)
        let request = try reader.explain(params: range1, in: bytes1.span)
        #expect(
            request
                == .post(
                    ExplainedPost(name: bytes("a"), object: bytes("o"), cursor: 9, limit: 5)))
        let (bytes3, range3) = message(#"{"name":"a","object":null,"limit":null,"cursor":null}"#)
        let plain = try reader.explain(params: range3, in: bytes3.span)
        #expect(plain == .post(ExplainedPost(name: bytes("a"), cursor: 0, limit: 100)))
        let (bytes2, range2) = message(#"{"name":null}"#)
        let null = faults { () throws(Problem) in
            try reader.explain(params: range2, in: bytes2.span)
        }
        #expect(null == ["#/name must be a string, not null"])
    }

    @Test("explain takes the selector and the object of an ask instead")
    func explainAsk() throws {
        let (bytes1, range1) = message(#"{"selector":"s","object":"o","limit":null}"#)
        let request = try reader.explain(params: range1, in: bytes1.span)
        #expect(request == .ask(object: bytes("o"), selector: bytes("s")))
        for (params, expected) in [
            (#"{"selector":"s","object":null}"#, "#/object is required with selector"),
            (#"{"selector":"s","object":""}"#, "#/object must have 1 to 255 characters"),
            (#"{"selector":null,"object":"o"}"#, "#/selector must be a string, not null"),
            (
                #"{"selector":"s","object":"o","name":"n"}"#,
                "#/name cannot be combined with selector"
            ),
        ] {
            let (bytes2, range2) = message(params)
            let found = faults { () throws(Problem) in
                try reader.explain(params: range2, in: bytes2.span)
            }
            #expect(found == [expected])
        }
    }

    @Test("observers takes neither selector nor observer")
    func unknownFilters() {
        let (bytes, range) = message(#"{"selector":"s","observer":"o1"}"#)
        let found = faults { () throws(Problem) in
            try reader.observers(params: range, in: bytes.span)
        }
        #expect(
            found == ["#/selector is not a known field", "#/observer is not a known field"])
    }
}
