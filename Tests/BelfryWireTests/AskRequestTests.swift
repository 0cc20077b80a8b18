import BelfryCenter
import BelfryWire
import Testing

@Suite("RequestReader.ask and withdraw")
struct AskRequestTests {
    private let reader = RequestReader()

    private func ask(
        _ content: String = "", object: String = "deploy", selector: String = "shouldStart",
        _ pairs: [(String, String)] = []
    ) throws(Problem) -> AskRequest {
        let content = bytes(content)
        return try reader.ask(
            object: bytes(object), selector: bytes(selector), query: query(pairs),
            content: content.span)
    }

    private func call(_ params: String) throws(Problem) -> AskRequest {
        let text = CallText(params)
        return try reader.ask(params: text.params, in: text.bytes.span)
    }

    private func faults<Value>(of work: () throws(Problem) -> Value) -> [String]? {
        problem(of: work)?.faultTexts
    }

    @Test("over HTTP address and selector stand in the path, and the content is the userInfo")
    func whole() throws {
        let request = try ask(
            #" {"sha":"4f2c"} "#, object: "dé", selector: "s:",
            [
                ("default", " [ 1 ] "), ("once", "true"), ("ttl", "1.5"),
                ("causedBy", Bench.idText),
            ])
        #expect(request.content.nameText == "s:")
        #expect(request.content.objectText == "dé")
        #expect(request.content.userInfoText == #"{"sha":"4f2c"}"#)
        #expect(request.causedBy == Bench.id)
        #expect(request.fallback == bytes("[ 1 ]"))
        #expect(request.isOnce)
        #expect(request.timeToLive == 1_500_000_000)
        #expect(request.waitSeconds == nil && request.idempotencyKey == nil)
    }

    @Test(
        "without parameters there is no default, and it may be shown again", arguments: ["", " "])
    func plain(content: String) throws {
        let request = try ask(content)
        let expected = AskRequest(
            content: Notification.Content(name: bytes("shouldStart"), object: bytes("deploy")))
        #expect(request == expected)
        #expect(try !ask([("once", "false")]).isOnce)
        #expect(try call(#"{"object":"deploy","selector":"shouldStart"}"#) == expected)
    }

    private func ask(_ pairs: [(String, String)]) throws(Problem) -> AskRequest {
        try ask("", pairs)
    }

    @Test("over JSON-RPC all stands in the params, in any order")
    func params() throws {
        let members = [
            #""object":"o""#, #""selector":"s""#, #""userInfo":{"a":[]}"#, #""default":{"b":1}"#,
            #""once":true"#, #""ttl":2"#, #""causedBy":"\#(Bench.idText)""#, #""wait":0.5"#,
            #""idempotencyKey":"k""#,
        ]
        let expected = AskRequest(
            content: Notification.Content(
                name: bytes("s"), object: bytes("o"), userInfo: bytes(#"{"a":[]}"#)),
            causedBy: Bench.id, fallback: bytes(#"{"b":1}"#), isOnce: true,
            timeToLive: 2_000_000_000, waitSeconds: 0.5, idempotencyKey: bytes("k"))
        for start in members.indices {
            let turned = members[start...] + members[..<start]
            for order in [Array(turned), turned.reversed()] {
                #expect(try call("{\(order.joined(separator: ","))}") == expected)
            }
        }
        let nulls =
            #"{"object":"o","selector":"s","userInfo":null,"once":null,"ttl":null,"#
            + #""causedBy":null,"wait":null,"idempotencyKey":null}"#
        #expect(
            try call(nulls)
                == AskRequest(
                    content: Notification.Content(name: bytes("s"), object: bytes("o"))))
    }

    @Test(
        "a default is any JSON, also null",
        arguments: ["null", "false", "0", "\"\"", "{}", "[]", #""\ud800""#])
    func fallback(json: String) throws {
        #expect(try ask([("default", json)]).fallback == bytes(json))
        let request = try call(#"{"object":"o","selector":"s","default": \#(json) }"#)
        #expect(request.fallback == bytes(json))
    }

    @Test("a default has at most 16 KiB and a depth of 64")
    func fallbackBorders() throws {
        func string(_ byteCount: Int) -> String {
            "\"\(String(repeating: "x", count: byteCount - 2))\""
        }
        func nested(_ depth: Int) -> String {
            String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
        }
        for json in [string(16_384), nested(64)] {
            #expect(try ask([("default", json)]).fallback == bytes(json))
            let request = try call(#"{"object":"o","selector":"s","default":\#(json)}"#)
            #expect(request.fallback == bytes(json))
        }
        let long = string(16_385)
        for found in [
            problem { () throws(Problem) in try ask([("default", long)]) },
            problem { () throws(Problem) in
                try call(#"{"object":"o","selector":"s","default":\#(long)}"#)
            },
        ] {
            #expect(found?.kind == .contentTooLarge)
            #expect(found?.detail == "A default may have at most 16384 bytes.")
        }
        let deep = nested(65)
        #expect(
            faults { () throws(Problem) in try ask([("default", deep)]) }
                == ["?default must not nest deeper than 64 levels"])
        #expect(
            faults { () throws(Problem) in
                try call(#"{"object":"o","selector":"s","default":\#(deep)}"#)
            } == ["#/default must not nest deeper than 64 levels"])
    }

    @Test("a default that is not JSON is told so", arguments: ["", "yes", "{", "1 2", "'a'"])
    func noFallback(text: String) {
        #expect(
            faults { () throws(Problem) in try ask([("default", text)]) } == [
                #"?default must be JSON, as in default=false and default="none""#
            ])
    }

    @Test("ttl is above 0 and at most 2,592,000 seconds")
    func timeToLive() throws {
        for (text, expected) in [("2592000", 2_592_000_000_000_000), ("1e-9", 1)]
            as [(String, Int64)]
        {
            #expect(try ask([("ttl", text)]).timeToLive == expected)
            let request = try call(#"{"object":"o","selector":"s","ttl":\#(text)}"#)
            #expect(request.timeToLive == expected)
        }
        for text in ["0", "2592000.001", "-1"] {
            let detail = "must be a number above 0 and at most 2592000"
            #expect(
                faults { () throws(Problem) in try ask([("ttl", text)]) } == ["?ttl \(detail)"])
            #expect(
                faults { () throws(Problem) in
                    try call(#"{"object":"o","selector":"s","ttl":\#(text)}"#)
                } == ["#/ttl \(detail)"])
        }
    }

    @Test("the wait of a call is 0 to 60 seconds")
    func wait() throws {
        #expect(try call(#"{"object":"o","selector":"s","wait":60}"#).waitSeconds == 60)
        #expect(try call(#"{"object":"o","selector":"s","wait":0}"#).waitSeconds == 0)
        #expect(
            faults { () throws(Problem) in
                try call(#"{"object":"o","selector":"s","wait":60.1}"#)
            } == ["#/wait must be a number from 0 to 60"])
    }

    @Test("all faults of a request are told")
    func requestFaults() {
        let found = faults { () throws(Problem) in
            try ask(
                "[]", object: "", selector: "belfry.x",
                [
                    ("once", "yes"), ("ttl", "x"), ("causedBy", "x"), ("wait", "1"),
                    ("once", "true"),
                ])
        }
        #expect(
            found == [
                "# must be an object, not an array", "?object must have 1 to 255 characters",
                "?selector must not start with belfry. or rpc.", "?once must be true or false",
                "?ttl must be a number above 0 and at most 2592000",
                "?causedBy must be the id of a notification", "?wait is not a known parameter",
                "?once must not be repeated",
            ])
    }

    @Test("a selector in a path is UTF-8 of at most 128 bytes")
    func selector() throws {
        let longest = String(repeating: "é", count: 64)
        #expect(try ask("", selector: longest).content.nameText == longest)
        for text in [bytes(longest + "x"), [], [0xFF], [0x61, 0xC3]] {
            let found = faults { () throws(Problem) in
                try reader.ask(
                    object: bytes("o"), selector: text, query: [], content: [UInt8]().span)
            }
            #expect(found == ["?selector must have 1 to 128 bytes of UTF-8"])
        }
    }

    @Test("a content that is not JSON is 400, one that is too large 413")
    func content() {
        #expect(problem { () throws(Problem) in try ask("{") }?.kind == .malformedJSON)
        let large = #"{"a":"\#(String(repeating: "x", count: 262_144))"}"#
        #expect(problem { () throws(Problem) in try ask(large) }?.kind == .contentTooLarge)
    }

    @Test(
        "a fault of the params is told with its pointer",
        arguments: [
            (#"{"object":"o"}"#, ["#/selector is required"]),
            (#"{"selector":"s"}"#, ["#/object is required"]),
            (#"{"object":null,"selector":"s"}"#, ["#/object must be a string, not null"]),
            (#"{"object":"o","selector":null}"#, ["#/selector must be a string, not null"]),
            (
                #"{"object":"o","selector":"rpc.s"}"#,
                ["#/selector must not start with belfry. or rpc."]
            ),
            (
                #"{"object":"o","selector":"s","userInfo":[]}"#,
                ["#/userInfo must be an object, not an array"]
            ),
            (
                #"{"object":"o","selector":"s","once":1}"#,
                ["#/once must be true or false, not a number"]
            ),
            (
                #"{"object":"o","selector":"s","causedBy":"x"}"#,
                ["#/causedBy must be the id of a notification"]
            ),
            (
                #"{"object":"o","selector":"s","idempotencyKey":""}"#,
                ["#/idempotencyKey must have 1 to 255 visible ASCII characters"]
            ),
            (#"{"object":"o","selector":"s","name":"n"}"#, ["#/name is not a known field"]),
        ])
    func paramFaults(params: String, expected: [String]) {
        #expect(faults { () throws(Problem) in try call(params) } == expected)
    }

    @Test("an ask is withdrawn by its id")
    func withdraw() throws {
        func withdraw(_ params: String) throws(Problem) -> NotificationID {
            let text = CallText(params)
            return try reader.withdraw(params: text.params, in: text.bytes.span)
        }
        #expect(try withdraw(#"{"id":"\#(Bench.idText)"}"#) == Bench.id)
        for (params, expected) in [
            ("{}", "#/id is required"), (#"{"id":null}"#, "#/id must be a string, not null"),
            (#"{"id":"x"}"#, "#/id must be the id of a notification"),
        ] {
            #expect(faults { () throws(Problem) in try withdraw(params) } == [expected])
        }
    }
}
