import BelfryCenter
import BelfryWire
import Testing

@Suite("Problem (RFC 9457)")
struct ProblemTests {
    @Test("a document has type, title, status and detail, and no empty members")
    func plain() {
        let document = written { Problem(.notFound, "There is no \"x\".").append(to: &$0) }
        let expected =
            #"{"type":"https://belfry.dev/problems/not-found","title":"Not found","status":404,"#
            + #""detail":"There is no \"x\"."}"#
        #expect(document == expected)
    }

    @Test("faults are told with pointer, parameter or header, then come the other members")
    func faults() throws {
        let found = problem { () throws(Problem) in
            try RequestReader().notifications(#"[{"name":"a"},{"name":"a","st/yle":1}]"#)
        }
        let place = try #require(found?.errors.first?.place)
        let problem = Problem(
            .invalidFields, "d",
            errors: [
                .init(place, "p"), .init(.parameter("q"), "r"),
                .init(.header("Prefer"), "h"),
            ], members: [.init("current", string: bytes("held")), .init("limit", integer: -7)])
        let expected =
            #"{"type":"https://belfry.dev/problems/invalid-fields","title":"Invalid fields","#
            + ##""status":422,"detail":"d","errors":[{"pointer":"#/1/st~1yle","detail":"p"},"##
            + #"{"parameter":"q","detail":"r"},{"header":"Prefer","detail":"h"}],"#
            + #""current":"held","limit":-7}"#
        #expect(written { problem.append(to: &$0) } == expected)
    }

    @Test("each kind has a slug of its own, and a status of an error")
    func kinds() {
        let kinds = Problem.Kind.allCases
        #expect(Set(kinds.map(\.slug)).count == kinds.count)
        #expect(kinds.allSatisfy { (400...599).contains($0.status) && !$0.title.isEmpty })
    }

    @Test("an observer that was removed is 410 with its tombstone")
    func tombstone() throws {
        var bench = Bench()
        bench.observe(17, name: "a")
        bench.apply(.removeObserver(serial: 17, by: .client(4)))
        bench.apply(.removeObserver(serial: 17, by: .broker))
        guard case .refused(let refusal) = bench.effects.outcome else {
            Issue.record("the second removal must be refused")
            return
        }
        let expected =
            #"{"type":"https://belfry.dev/problems/observer-removed","title":"Observer removed","#
            + #""status":410,"detail":"The observer was removed.","#
            + #""removedAt":"2026-11-21T08:00:00.000Z","removedBy":"c4","reason":"removed","#
            + #""name":"a"}"#
        #expect(written { Problem(refusal).append(to: &$0) } == expected)
    }

    @Test(
        "a removal names the principal or the broker, and its reason",
        arguments: [
            (
                Command.Action.removeObserver(serial: 17, by: .principal(bytes("k\"1"))),
                #""removedBy":"k\"1","reason":"removed""#
            ),
            (
                .removeObservers(client: 4, ObserverFilter(name: bytes("a"))),
                #""removedBy":"c4","reason":"removed""#
            ),
            (
                .removeClient(client: 4, by: .client(9)),
                #""removedBy":"c9","reason":"client-removed""#
            ),
        ])
    func removers(action: Command.Action, expected: String) throws {
        var bench = Bench()
        bench.observe(17, name: "a")
        bench.apply(action)
        let tombstone = try #require(bench.center.tombstone(17))
        #expect(written { Problem(tombstone).append(to: &$0) }.contains(expected))
    }

    @Test(
        "a refusal of the center has a status",
        arguments: [
            (Refusal.unknownClient, Problem.Kind.notFound), (.unknownObserver, .notFound),
            (.tooManyObservers(limit: 5), .tooManyObservers),
            (.causedByTooDeep(limit: 32, post: 3), .loopDetected),
            (.modeNotCurrent(current: bytes("held"), post: 2), .modeNotCurrent),
            (.queueFull(limit: 5), .queueFull), (.queueBytesFull, .queueFull),
            (.cannotStore, .storeUnavailable), (.keyReused, .keyReused),
            (.modeStackFull(limit: 32), .modeStackFull), (.unknownMode, .notFound),
            (.unknownEntry, .notFound), (.resumeTooLate, .resumeTooLate), (.noMailbox, .noMailbox),
            (.alreadyHeld, .alreadyHeld), (.responderCircle, .responderCircle),
            (.tooManyAsks(limit: 5), .clientLimitReached), (.asksFull(limit: 5), .overloaded),
            (.askBytesFull, .overloaded), (.unknownAsk, .notFound),
            (.alreadySettled, .alreadySettled),
        ])
    func refusals(refusal: Refusal, kind: Problem.Kind) {
        let problem = Problem(refusal)
        #expect(problem.kind == kind)
        #expect(problem.detail.hasSuffix("."))
    }

    @Test("a post for other modes is told the current one and its place (Q18)")
    func modes() {
        let problem = Problem(.modeNotCurrent(current: bytes("h\"d"), post: 2))
        #expect(problem.kind.status == 409)
        #expect(
            written { problem.append(to: &$0) }.hasSuffix(#","current":"h\"d","item":2}"#))
    }

    @Test("a client with enough open asks is told the limit, and of what it is")
    func clientLimit() {
        let problem = Problem(.tooManyAsks(limit: 1_000))
        #expect(problem.kind.status == 429)
        #expect(
            written { problem.append(to: &$0) }.hasSuffix(#","limit":1000,"of":"asks"}"#))
    }

    @Test(
        "a broker with enough open asks names the option",
        arguments: [Refusal.asksFull(limit: 5), .askBytesFull])
    func askLimit(refusal: Refusal) {
        #expect(Problem(refusal).kind.status == 503)
        #expect(Problem(refusal).detail.contains("(--ask-limit"))
    }

    @Test("a poll that another reader replaced is 409")
    func readers() {
        #expect(Problem.readerReplaced.kind.status == 409)
        #expect(Problem.readerReplaced.kind.slug == "reader-replaced")
    }

    @Test("a fault of a parameter or a header alone is 422")
    func single() {
        #expect(Problem.invalidParameter("x", "is odd").faultTexts == ["?x is odd"])
        #expect(Problem.invalidHeader("Prefer", "is odd").faultTexts == ["Prefer: is odd"])
        #expect(Problem.invalidParameter("x", "is odd").kind.status == 422)
    }
}
