import BelfryCenter
import BelfryWire
import Testing

@Suite("RequestReader: dequeue")
struct DequeueTests {
    private let reader = RequestReader()

    private func params(_ params: String) throws(Problem) -> DequeueRequest {
        let call = CallText(params)
        return try reader.dequeue(params: call.params, in: call.bytes.span)
    }

    private func read(_ pairs: [(String, String)]) throws(Problem) -> DequeueRequest {
        try reader.dequeue(query: query(pairs))
    }

    @Test(
        "the mask is what was given, unless it says more (Q20)",
        arguments: [
            (#"{"name":"a"}"#, [("name", "a")], "a", nil, .onName),
            (#"{"object":"o"}"#, [("object", "o")], nil, "o", .onSender),
            (
                #"{"object":"o","name":"a"}"#, [("name", "a"), ("object", "o")], "a", "o",
                [.onName, .onSender]
            ),
            // T89: the name is given and not compared.
            (
                #"{"name":"x","object":"o","coalesce":["sender"]}"#,
                [("name", "x"), ("object", "o"), ("coalesce", "sender")], "x", "o", .onSender
            ),
            // Q21: no object is compared with none.
            (
                #"{"object":null,"coalesce":["sender"]}"#, [("coalesce", "sender")], nil, nil,
                .onSender
            ),
            (
                #"{"name":"a","coalesce":["sender","name"]}"#,
                [("coalesce", "sender,name"), ("name", "a")], "a", nil, [.onName, .onSender]
            ),
            (
                #"{"name":"a","object":null,"coalesce":null,"id":null}"#, [("name", "a")], "a",
                nil, .onName
            ),
        ] as [(String, [(String, String)], String?, String?, Coalescing)])
    func criteria(
        json: String, pairs: [(String, String)], name: String?, object: String?, mask: Coalescing
    ) throws {
        let expected = DequeueRequest.matching(
            name: name.map(bytes), object: object.map(bytes), mask: mask)
        #expect(try params(json) == expected)
        #expect(try read(pairs) == expected)
    }

    @Test("one entry is named by its id alone")
    func entry() throws {
        #expect(try params("{\"id\":\"\(Bench.idText)\",\"name\":null}") == .entry(Bench.id))
        for more in [#""name":"a""#, #""object":"o""#, #""coalesce":["name"]"#] {
            let found = problem { () throws(Problem) in
                try params("{\"id\":\"\(Bench.idText)\",\(more)}")
            }
            #expect(found?.faultTexts == ["#/id cannot be combined with other fields"])
        }
    }

    @Test(
        "nothing given, or nothing compared, is refused (T90)",
        arguments: [
            ("{}", "# must have id, or some of name, object and coalesce"),
            (
                #"{"name":null,"object":null,"coalesce":null,"id":null}"#,
                "# must have id, or some of name, object and coalesce"
            ),
            (#"{"name":"a","coalesce":[]}"#, "#/coalesce must be name, sender or both"),
            (#"{"name":"a","coalesce":"none"}"#, "#/coalesce must be name, sender or both"),
            (#"{"coalesce":["name"]}"#, "#/name is required, because coalesce compares it"),
            (
                #"{"object":"o","coalesce":["name","sender"]}"#,
                "#/name is required, because coalesce compares it"
            ),
            (#"{"name":"a","coalesce":["x"]}"#, "#/coalesce/0 must be name or sender"),
            (#"{"name":""}"#, "#/name must have 1 to 255 characters"),
            (#"{"object":7}"#, "#/object must be a string, not a number"),
            (#"{"id":"x"}"#, "#/id must be the id of a notification"),
            (#"{"mode":"a"}"#, "#/mode is not a known field"),
        ])
    func faults(json: String, expected: String) {
        let found = problem { () throws(Problem) in try params(json) }
        #expect(found?.kind == .invalidFields)
        #expect(found?.faultTexts == [expected])
    }

    @Test("params that are absent give nothing")
    func absent() {
        let none: [UInt8] = []
        let found = problem { () throws(Problem) in
            try reader.dequeue(params: nil, in: none.span)
        }
        #expect(found?.faultTexts == ["# must have id, or some of name, object and coalesce"])
    }

    @Test(
        "a fault of a query is told with its parameter",
        arguments: [
            ([], "?name is required, unless object or coalesce is given"),
            ([("coalesce", "none"), ("name", "a")], "?coalesce must be name, sender or both"),
            ([("coalesce", "name")], "?name is required, because coalesce compares it"),
            (
                [("coalesce", "x"), ("name", "a")],
                "?coalesce must be none, or a comma list of name and sender"
            ),
            ([("object", "")], "?object must have 1 to 255 characters"),
            ([("id", Bench.idText), ("name", "a")], "?id is not a known parameter"),
            ([("name", "a"), ("name", "a")], "?name must not be repeated"),
        ] as [([(String, String)], String)])
    func queryFaults(pairs: [(String, String)], expected: String) {
        let found = problem { () throws(Problem) in try read(pairs) }
        #expect(found?.faultTexts == [expected])
    }
}

@Suite("RequestReader: modes, suspension, resume, mailboxes")
struct QueueRequestsTests {
    private let reader = RequestReader()

    private func call<Value>(
        _ params: String, _ read: (Range<Int>?, Span<UInt8>) throws(Problem) -> Value
    ) throws(Problem) -> Value {
        let call = CallText(params)
        return try read(call.params, call.bytes.span)
    }

    private func mode(_ body: String) throws(Problem) -> ModeRequest {
        let body = bytes(body)
        return try reader.mode(in: body.span)
    }

    private func enterMode(_ params: String) throws(Problem) -> ModeRequest {
        try call(params) { (params, text) throws(Problem) in
            try reader.enterMode(params: params, in: text)
        }
    }

    private func leaveMode(_ params: String) throws(Problem) -> IdentifierText {
        try call(params) { (params, text) throws(Problem) in
            try reader.leaveMode(params: params, in: text)
        }
    }

    private func resume(_ params: String) throws(Problem) -> ResumeRequest {
        try call(params) { (params, text) throws(Problem) in
            try reader.resume(params: params, in: text)
        }
    }

    @Test(
        "over HTTP a mode has a lease of 1 to 3,600 seconds, 60 when none is given",
        arguments: [
            (#"{"mode":"held"}"#, 60_000_000_000),
            (#"{"lease":null,"mode":"held"}"#, 60_000_000_000),
            (#"{"lease":1,"mode":"held"}"#, 1_000_000_000),
            (#"{"mode":"held","lease":3600}"#, 3_600_000_000_000),
            (#"{"mode":"held","lease":1.5}"#, 1_500_000_000),
        ] as [(String, Int64)])
    func leases(body: String, lease: Int64) throws {
        #expect(try mode(body) == ModeRequest(mode: bytes("held"), lease: lease))
    }

    @Test("over JSON-RPC a mode has no lease: it ends with the connection")
    func enter() throws {
        #expect(try enterMode(#"{"mode":"default"}"#) == ModeRequest(mode: bytes("default")))
        let found = problem { () throws(Problem) in try enterMode(#"{"mode":"a","lease":1}"#) }
        #expect(found?.faultTexts == ["#/lease is not a known field"])
    }

    @Test(
        "a fault of a mode is told with its pointer",
        arguments: [
            ("{}", "#/mode is required"), (#"{"mode":null}"#, "#/mode must be a string, not null"),
            (#"{"mode":""}"#, "#/mode must have 1 to 255 characters"),
            (
                #"{"mode":"common"}"#,
                "#/mode must be a single mode; common means several modes"
            ),
            (#"{"mode":["a"]}"#, "#/mode must be a string, not an array"),
            (#"{"mode":"a","x":1}"#, "#/x is not a known field"),
        ])
    func modeFaults(json: String, expected: String) {
        #expect(problem { () throws(Problem) in try mode(json) }?.faultTexts == [expected])
        #expect(problem { () throws(Problem) in try enterMode(json) }?.faultTexts == [expected])
    }

    @Test("a lease outside of its range is refused", arguments: ["0", "0.999", "3600.001", "-1"])
    func leaseFaults(lease: String) {
        let found = problem { () throws(Problem) in try mode("{\"mode\":\"a\",\"lease\":\(lease)}")
        }
        #expect(found?.faultTexts == ["#/lease must be a number from 1 to 3600"])
    }

    @Test("a mode is left by its token")
    func leave() throws {
        let token = try leaveMode(#"{"token":"m3.x_"}"#)
        #expect(token.number == 3)
        #expect(token.secret == bytes("x_"))
        for (params, expected) in [
            ("{}", "#/token is required"),
            (#"{"token":"m3"}"#, "#/token must be the token of a mode"),
            (#"{"token":"o3.x"}"#, "#/token must be the token of a mode"),
            (#"{"token":3}"#, "#/token must be a string, not a number"),
            (#"{"id":"m3"}"#, "#/id is not a known field"),
        ] {
            let found = problem { () throws(Problem) in try leaveMode(params) }
            #expect(found?.faultTexts.first == expected)
        }
    }

    @Test("suspension is true or false, over HTTP and JSON-RPC")
    func suspension() throws {
        func body(_ text: String) throws(Problem) -> Bool {
            let text = bytes(text)
            return try reader.suspension(in: text.span)
        }
        func params(_ text: String) throws(Problem) -> Bool {
            try call(text) { (params, text) throws(Problem) in
                try reader.setSuspended(params: params, in: text)
            }
        }
        for read in [body, params] {
            #expect(try read(#"{"suspended":true}"#))
            #expect(try !read(#" {"suspended":false} "#))
            for (text, expected) in [
                ("{}", "#/suspended is required"),
                (#"{"suspended":null}"#, "#/suspended must be true or false, not null"),
                (#"{"suspended":1}"#, "#/suspended must be true or false, not a number"),
                ("[]", "# must be an object, not an array"),
                (#"{"suspended":true,"x":1}"#, "#/x is not a known field"),
            ] {
                #expect(problem { () throws(Problem) in try read(text) }?.faultTexts == [expected])
            }
        }
        let malformed = problem { () throws(Problem) in try body(#"{"suspended":true}}"#) }
        #expect(malformed?.kind == .malformedJSON)
    }

    @Test("resume takes a session, a position, and the epoch that it is of")
    func resumption() throws {
        let session = bytes("c4.Qz")
        let parsed = IdentifierText(client: session.span)
        let client = try #require(parsed)
        let plain = ResumeRequest(session: client)
        #expect(try resume(#"{"session":"c4.Qz"}"#) == plain)
        #expect(try resume(#"{"after":null,"epoch":null,"session":"c4.Qz"}"#) == plain)
        let full = ResumeRequest(session: client, after: 9_007_199_254_740_991, epoch: bytes("k3"))
        #expect(
            try resume(#"{"epoch":"k3","session":"c4.Qz","after":9007199254740991}"#) == full)
        #expect(try resume(#"{"session":"c4.Qz","after":0}"#).after == 0)
    }

    @Test(
        "a fault of resume is told with its pointer",
        arguments: [
            ("{}", "#/session is required"),
            (#"{"session":null}"#, "#/session must be a string, not null"),
            (#"{"session":"c4"}"#, "#/session must be the session of a client"),
            (#"{"session":"o4.x"}"#, "#/session must be the session of a client"),
            (
                #"{"session":"c4.x","after":-1}"#,
                "#/after must be an integer from 0 to 9007199254740991"
            ),
            (
                #"{"session":"c4.x","after":9007199254740992}"#,
                "#/after must be an integer from 0 to 9007199254740991"
            ),
            (#"{"session":"c4.x","epoch":3}"#, "#/epoch must be a string, not a number"),
        ])
    func resumptionFaults(params: String, expected: String) {
        #expect(problem { () throws(Problem) in try resume(params) }?.faultTexts == [expected])
    }

    @Test("a look into a mailbox has a position and a length")
    func mailbox() throws {
        #expect(try reader.mailbox(query: []) == MailboxRequest(after: nil, limit: 100))
        let full = try reader.mailbox(
            query: query([("limit", "1000"), ("after", "9007199254740991")]))
        #expect(full == MailboxRequest(after: 9_007_199_254_740_991, limit: 1_000))
        #expect(try reader.mailbox(query: query([("after", "0"), ("limit", "1")])).after == 0)
    }

    @Test(
        "a fault of it is told with its parameter",
        arguments: [
            ("after", "-1", "must be an integer from 0 to 9007199254740991"),
            ("after", "9007199254740992", "must be an integer from 0 to 9007199254740991"),
            ("after", "", "must be an integer from 0 to 9007199254740991"),
            ("limit", "0", "must be an integer from 1 to 1000"),
            ("limit", "1001", "must be an integer from 1 to 1000"),
            ("cursor", "1", "is not a known parameter"),
        ])
    func mailboxFaults(name: String, value: String, detail: String) {
        let found = problem { () throws(Problem) in
            try reader.mailbox(query: query([(name, value)]))
        }
        #expect(found?.faultTexts == ["?\(name) \(detail)"])
    }
}
