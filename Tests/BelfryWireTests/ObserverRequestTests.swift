import BelfryCenter
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

    /// The terms over JSON-RPC.
    private func terms(_ body: String) throws(Problem) -> ObserverTerms {
        try reader.observer(body, allowsSession: false).terms
    }

    @Test("all fields are read in any order")
    func all() throws {
        let members = [
            #""name":"a""#, #""object":"o""#, #""selector":"input:""#, #""since":9007199254740991"#,
            #""session":"c4.Qz""#, #""acknowledge":true"#, #""minInterval":0.25"#,
            #""suspensionBehavior":"deliver\u0049mmediately""#, #""holdLimit":7"#, #""lease":1.5"#,
            #""lifetime":"c\u006fnnection""#,
        ]
        var terms = ObserverTerms()
        terms.suspensionBehavior = .deliverImmediately
        terms.acknowledges = true
        terms.endsWithConnection = true
        terms.holdLimit = 7
        terms.minInterval = 250_000_000
        terms.lease = 1_500_000_000
        let expected = ObserverRequest(
            name: bytes("a"), object: bytes("o"), selector: bytes("input:"), terms: terms,
            since: 9_007_199_254_740_991, session: bytes("c4.Qz"))
        for start in members.indices {
            let turned = members[start...] + members[..<start]
            for order in [Array(turned), turned.reversed()] {
                let body = "{\(order.joined(separator: ","))}"
                #expect(try reader.observer(body) == expected, "\(body)")
            }
        }
    }

    @Test("nothing given is an observer of everything whose selector is notify")
    func defaults() throws {
        let expected = ObserverRequest(selector: bytes("notify"), terms: ObserverTerms())
        #expect(try reader.observer("{}", allowsSession: false) == expected)
        let nulls =
            #"{"name":null,"object":null,"selector":null,"since":null,"acknowledge":null,"#
            + #""suspensionBehavior":null,"holdLimit":null,"minInterval":null,"lifetime":null}"#
        #expect(try reader.observer(nulls, allowsSession: false) == expected)
        #expect(expected.terms.lease == 3_600_000_000_000)
        #expect(
            !expected.asksForever && !expected.asksAcknowledge && expected.reservedNames.isEmpty)
    }

    @Test(
        "each behaviour has its word; without one it is coalesce (D3), to acknowledge it is hold",
        arguments: [
            ("{}", .coalesce), (#"{"suspensionBehavior":"drop"}"#, .drop),
            (#"{"suspensionBehavior":"coalesce"}"#, .coalesce),
            (#"{"suspensionBehavior":"hold"}"#, .hold),
            (#"{"suspensionBehavior":"deliverImmediately"}"#, .deliverImmediately),
            (#"{"acknowledge":false}"#, .coalesce), (#"{"acknowledge":true}"#, .hold),
            (#"{"suspensionBehavior":"hold","acknowledge":true}"#, .hold),
            (
                #"{"acknowledge":true,"suspensionBehavior":"deliverImmediately"}"#,
                .deliverImmediately
            ),
        ] as [(String, SuspensionBehavior)])
    func behaviors(body: String, expected: SuspensionBehavior) throws {
        let observer = try reader.observer(body, allowsSession: false)
        #expect(observer.terms.suspensionBehavior == expected)
        #expect(observer.asksAcknowledge == body.contains(#""acknowledge":true"#))
    }

    @Test("what is acknowledged is neither dropped nor coalesced", arguments: ["drop", "coalesce"])
    func acknowledging(behavior: String) {
        let expected = ["#/suspensionBehavior must be hold or deliverImmediately to acknowledge"]
        let body = "{\"acknowledge\":true,\"suspensionBehavior\":\"\(behavior)\"}"
        #expect(faults(body) == expected)
        let turned = "{\"suspensionBehavior\":\"\(behavior)\",\"acknowledge\":true}"
        #expect(faults(turned) == expected)
    }

    @Test(
        "a lease is a number of seconds, or never; what is above 30 days is lowered",
        arguments: [
            (#"{"lease":1}"#, 1_000_000_000), (#"{"lease":0.001}"#, 1_000_000),
            (#"{"lease":1e-12}"#, 1), (#"{"lease":2592000}"#, 2_592_000_000_000_000),
            (#"{"lease":2592000.001}"#, 2_592_000_000_000_000),
            (#"{"lease":1e300}"#, 2_592_000_000_000_000), (#"{"lease":null}"#, nil),
        ] as [(String, Int64?)])
    func leases(body: String, expected: Int64?) throws {
        let observer = try reader.observer(body, allowsSession: false)
        #expect(observer.terms.lease == expected)
        #expect(observer.asksForever == (expected == nil))
    }

    @Test("a lease of never is no privilege for what ends with its connection")
    func neverOfConnection() throws {
        let observer = try reader.observer(
            #"{"lease":null,"lifetime":"connection"}"#, allowsSession: false)
        #expect(observer.terms.endsWithConnection && !observer.asksForever)
    }

    @Test("leases and hold limits can be configured")
    func configured() throws {
        var limits = WireLimits()
        limits.defaultLease = .milliseconds(1_500)
        limits.mailboxLease = .seconds(20)
        limits.leaseLimit = .seconds(10)
        limits.greatestHoldLimit = 5
        limits.defaultHoldLimit = 4
        let reader = RequestReader(limits: limits)
        let observer = try reader.observer("{}", allowsSession: false)
        #expect(observer.terms.lease == 1_500_000_000)
        #expect(observer.terms.holdLimit == 4)
        #expect(try reader.observer("{}").terms.lease == 10_000_000_000)
        let problem = problem { () throws(Problem) in try reader.observer(#"{"holdLimit":6}"#) }
        #expect(problem?.faultTexts == ["#/holdLimit must be an integer from 1 to 5"])
    }

    @Test("an interval is 0 to 3,600 seconds, a hold limit 1 to 10,000")
    func borders() throws {
        #expect(try terms(#"{"minInterval":0}"#).minInterval == 0)
        #expect(try terms(#"{"minInterval":3600}"#).minInterval == 3_600_000_000_000)
        #expect(try terms(#"{"minInterval":0.0000000015}"#).minInterval == 2)
        #expect(try terms(#"{"holdLimit":1}"#).holdLimit == 1)
        #expect(try terms(#"{"holdLimit":10000.0}"#).holdLimit == 10_000)
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
                "#/object must not contain control characters (U+0000 to U+001F, U+007F)"
            ),
            (#"{"selector":"belfry.x"}"#, "#/selector must not start with belfry. or rpc."),
            (#"{"selector":"rpc.x"}"#, "#/selector must not start with belfry. or rpc."),
            (#"{"selector":""}"#, "#/selector must have 1 to 128 bytes of UTF-8"),
            (
                #"{"selector":"\n"}"#,
                "#/selector must not contain control characters (U+0000 to U+001F, U+007F)"
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
            (
                #"{"since":"1"}"#,
                "#/since must be a sequence number, oldest, or a time as in 2026-11-22T06:00:00Z"
            ),
            (#"{"acknowledge":0}"#, "#/acknowledge must be true or false, not a number"),
            (#"{"minInterval":-0.1}"#, "#/minInterval must be a number from 0 to 3600"),
            (#"{"minInterval":3600.001}"#, "#/minInterval must be a number from 0 to 3600"),
            (#"{"minInterval":1e999}"#, "#/minInterval must be a number from 0 to 3600"),
            (#"{"minInterval":"1"}"#, "#/minInterval must be a number, not a string"),
            (#"{"lifetime":"client"}"#, "#/lifetime must be token or connection"),
            (#"{"lifetime":1}"#, "#/lifetime must be a string, not a number"),
            (#"{"lease":0}"#, "#/lease must be a number above 0"),
            (#"{"lease":-1}"#, "#/lease must be a number above 0"),
            (#"{"lease":"never"}"#, "#/lease must be a number, not a string"),
            (#"{"holdLimit":0}"#, "#/holdLimit must be an integer from 1 to 10000"),
            (#"{"holdLimit":10001}"#, "#/holdLimit must be an integer from 1 to 10000"),
            (#"{"holdLimit":1.5}"#, "#/holdLimit must be an integer from 1 to 10000"),
            (#"{"holdLimit":true}"#, "#/holdLimit must be a number, not true or false"),
            (
                #"{"suspensionBehavior":"Hold"}"#,
                "#/suspensionBehavior must be drop, coalesce, hold or deliverImmediately"
            ),
            (
                #"{"suspensionBehavior":["hold"]}"#,
                "#/suspensionBehavior must be a string, not an array"
            ),
            (#"{"session":"c4.Q"}"#, "#/session is not a known field"),
            (#"{"style":"now"}"#, "#/style is not a known field"),
            (#"{"name":"a","name":null}"#, "#/name must not be repeated"),
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

    @Test("over HTTP without a session it is a mailbox: hold and 24 h when nothing is given")
    func mailbox() throws {
        for body in ["{}", #"{"session":null,"lifetime":"token","acknowledge":false}"#] {
            let observer = try reader.observer(body)
            #expect(observer.session == nil)
            #expect(observer.terms.suspensionBehavior == .hold)
            #expect(observer.terms.lease == 86_400_000_000_000)
        }
        let given = try reader.observer(#"{"suspensionBehavior":"coalesce","lease":null}"#)
        #expect(given.terms.suspensionBehavior == .coalesce)
        #expect(given.asksForever)
    }

    @Test("a mailbox is read, so that it acknowledges by itself, and has no connection")
    func mailboxFaults() {
        let both = faults(
            #"{"lifetime":"connection","acknowledge":true,"suspensionBehavior":"drop"}"#,
            allowsSession: true)
        #expect(
            both == [
                "#/acknowledge must be false for a mailbox, which acknowledges by after",
                "#/lifetime must be token for a mailbox, which has no connection",
            ])
    }

    @Test("with a session it is like one over the client's own connection")
    func session() throws {
        let observer = try reader.observer(
            #"{"session":"c4.Q","acknowledge":true,"lifetime":"connection"}"#)
        #expect(observer.session == bytes("c4.Q"))
        #expect(observer.terms.suspensionBehavior == .hold)
        #expect(observer.terms.lease == 3_600_000_000_000)
        let number = ["#/session must be a string, not a number"]
        #expect(faults(#"{"session":4}"#, allowsSession: true) == number)
    }

    @Test(
        "what the broker tells of clients may be observed, other reserved names are 403",
        arguments: [
            "belfry.client.connected", "belfry.client.suspended", "belfry.client.resumed",
            "belfry.client.left", "belfry.observer.expired", "belfry.queue.overflowed",
            "belfry.center.willTerminate", "belfry.responder.changed",
        ])
    func reserved(name: String) throws {
        let observer = try reader.observer("{\"name\":\"\(name)\"}", allowsSession: false)
        #expect(observer.name == bytes(name))
        #expect(observer.reservedNames.count == 1)
        try reader.check(observedName: bytes(name), parameter: "name")
        for other in [name + "x", String(name.dropLast()), "belfry.", "belfry.x"] {
            let body = problem { () throws(Problem) in
                try reader.observer("{\"name\":\"\(other)\"}", allowsSession: false)
            }
            #expect(body?.kind == .forbidden)
            #expect(body?.faultTexts == ["#/name is reserved"])
            let parameter = problem { () throws(Problem) in
                try reader.check(observedName: bytes(other), parameter: "name")
            }
            #expect(parameter?.kind == .forbidden)
            #expect(parameter?.faultTexts == ["?name is reserved"])
        }
        let post = problem { () throws(Problem) in try reader.channelPost("", name: name) }
        #expect(post?.kind == .forbidden)
    }

    @Test("a name in a query keeps the rules of names")
    func observedName() throws {
        try reader.check(observedName: bytes("a"), parameter: "name")
        let empty = problem { () throws(Problem) in
            try reader.check(observedName: [], parameter: "name")
        }
        #expect(empty?.faultTexts == ["?name must have 1 to 255 characters"])
    }

    @Test("malformed JSON wins", arguments: ["", "{\"x\":1} 2", "{\"lease\":nul}"])
    func malformed(body: String) {
        let problem = problem { () throws(Problem) in try reader.observer(body) }
        #expect(problem?.kind == .malformedJSON)
    }
}
