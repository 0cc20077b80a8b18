import BelfryCenter
import BelfryWire
import Testing

@Suite("RequestReader, queries")
struct QueryTests {
    private let reader = RequestReader()

    @Test("a listing of observers has all filters")
    func observers() throws {
        let request = try reader.listing(
            .observers,
            query: query([
                ("limit", "1000"), ("cursor", "18446744073709551615"), ("name", "a"),
                ("object", "o"), ("client", "c4"), ("state", "live"), ("principal", "p"),
            ]))
        #expect(request.query.limit == 1_000)
        #expect(request.query.cursor == .max)
        #expect(request.query.name == bytes("a"))
        #expect(request.query.object == bytes("o"))
        #expect(request.query.client == 4)
        #expect(request.query.principal == bytes("p"))
        #expect(request.state == .live)
        #expect(request.query.state == .live)
    }

    @Test("without parameters a page has 100 rows of any kind", arguments: Listing.allCases)
    func defaults(listing: Listing) throws {
        let request = try reader.listing(listing, query: [])
        #expect(request.query.limit == 100)
        #expect(request.query.cursor == 0)
        #expect(request.query.name == nil)
        #expect(request.state == nil)
    }

    @Test("all faults are told")
    func faults() {
        let problem = problem { () throws(Problem) in
            try reader.listing(
                .observers,
                query: query([
                    ("limit", "0"), ("cursor", "01"), ("client", "o4"), ("state", "Live"),
                    ("name", ""), ("x", ""), ("limit", "1"),
                ]))
        }
        #expect(
            problem?.faultTexts == [
                "?limit must be an integer from 1 to 1000",
                "?cursor must be the value of next of an earlier page",
                "?client must be the id of a client",
                "?state must be live, slow, asked or disconnected",
                "?name must have 1 to 255 characters", "?x is not a known parameter",
                "?limit must not be repeated",
            ])
    }

    @Test(
        "a limit is an integer from 1 to 1,000",
        arguments: ["", "-1", "+1", "1.0", "1001", "00", " 1", "99999999999999999999"])
    func limit(text: String) {
        #expect(throws: Problem.self) {
            try reader.listing(.clients, query: query([("limit", text)]))
        }
    }

    @Test(
        "each listing knows its own parameters",
        arguments: [
            (
                Listing.observers,
                ["limit", "cursor", "name", "object", "client", "state", "principal"]
            ),
            (.responders, ["limit", "cursor", "object", "client", "state", "selector"]),
            (.asks, ["limit", "cursor", "object", "selector", "observer"]),
            (.clients, ["limit", "cursor", "principal", "state"]),
            (.channels, ["limit", "cursor", "name"]), (.centers, ["limit", "cursor"]),
            (.queue, ["limit", "cursor", "name", "object"]), (.leaks, ["limit", "cursor"]),
            (.reports, ["limit"]),
        ])
    func known(listing: Listing, names: [String]) {
        let values = [
            "limit": "1", "cursor": "1", "name": "a", "object": "a", "client": "c1",
            "state": "slow", "principal": "p", "selector": "s", "observer": "o1",
        ]
        for (name, value) in values {
            let problem = problem { () throws(Problem) in
                try reader.listing(listing, query: query([(name, value)]))
            }
            let expected = names.contains(name) ? nil : ["?\(name) is not a known parameter"]
            #expect(problem?.faultTexts == expected)
        }
    }

    @Test("responders are listed by address, client, state and selector")
    func responders() throws {
        let request = try reader.listing(
            .responders,
            query: query([
                ("object", "o"), ("client", "c4"), ("state", "slow"), ("selector", "s"),
                ("limit", "7"), ("cursor", "9"),
            ]))
        #expect(request.query.object == bytes("o"))
        #expect(request.query.client == 4)
        #expect(request.query.state == .slow)
        #expect(request.query.limit == 7 && request.query.cursor == 9)
        #expect(request.query.selector == bytes("s"))
    }

    @Test("asks are listed by address, selector and the observer whose turn it is")
    func asks() throws {
        let all = try reader.listing(.asks, query: []).query
        #expect(all.limit == 100 && all.cursor == 0)
        #expect(all.object == nil && all.selector == nil && all.observer == nil)
        let asks = try reader.listing(
            .asks,
            query: query([
                ("object", "o"), ("selector", "s"), ("observer", "o17"), ("limit", "1000"),
                ("cursor", "9"),
            ])
        ).query
        #expect(asks.object == bytes("o"))
        #expect(asks.selector == bytes("s"))
        #expect(asks.observer == 17)
        #expect(asks.limit == 1_000 && asks.cursor == 9)
        let faults = problem { () throws(Problem) in
            try reader.listing(
                .asks,
                query: query([
                    ("selector", "rpc.s"), ("observer", "o17.x"), ("object", ""), ("name", "n"),
                ]))
        }
        #expect(
            faults?.faultTexts == [
                "?selector must not start with belfry. or rpc.",
                "?observer must be the id of an observer", "?object must have 1 to 255 characters",
                "?name is not a known parameter",
            ])
    }

    @Test("an explanation of an ask needs a selector and an object, and has no pages")
    func explainAsk() throws {
        let request = try reader.explain(query: query([("selector", "s"), ("object", "o")]))
        #expect(request == .ask(object: bytes("o"), selector: bytes("s")))
        func faults(_ pairs: [(String, String)]) -> [String]? {
            problem { () throws(Problem) in try reader.explain(query: query(pairs)) }?.faultTexts
        }
        #expect(faults([("selector", "s")]) == ["?object is required with selector"])
        #expect(
            faults([("selector", ""), ("object", "")]) == [
                "?selector must have 1 to 128 bytes of UTF-8",
                "?object must have 1 to 255 characters",
            ])
        #expect(
            faults([
                ("selector", "s"), ("object", "o"), ("name", "n"), ("limit", "1"), ("cursor", "1"),
            ]) == [
                "?name cannot be combined with selector", "?limit cannot be combined with selector",
                "?cursor cannot be combined with selector",
            ])
    }

    @Test("an explanation of a post needs a name")
    func explain() throws {
        let request = try reader.explain(query: query([("object", "o"), ("name", "belfry.a")]))
        #expect(request == .post(ExplainedPost(name: bytes("belfry.a"), object: bytes("o"))))
        let page = try reader.explain(
            query: query([("cursor", "7"), ("name", "a"), ("limit", "1000")]))
        #expect(page == .post(ExplainedPost(name: bytes("a"), cursor: 7, limit: 1_000)))
        let plain = try reader.explain(query: query([("name", "a")]))
        #expect(plain == .post(ExplainedPost(name: bytes("a"), object: nil, cursor: 0, limit: 100)))
        let missing = problem { () throws(Problem) in try reader.explain(query: []) }
        #expect(missing?.faultTexts == ["?name is required, unless selector is given"])
        let faults = problem { () throws(Problem) in
            try reader.explain(
                query: query([
                    ("name", "a"), ("object", ""), ("y", "1"), ("limit", "0"), ("cursor", "x"),
                ]))
        }
        #expect(
            faults?.faultTexts == [
                "?object must have 1 to 255 characters", "?y is not a known parameter",
                "?limit must be an integer from 1 to 1000",
                "?cursor must be the value of next of an earlier page",
            ])
    }
}
