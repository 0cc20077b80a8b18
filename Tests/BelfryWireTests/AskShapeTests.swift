@testable import BelfryCenter
import BelfryWire
import Testing

@Suite("Shape: asks and responders")
struct AskShapeTests {
    private static let id = Bench.id
    private static let path = [bytes("desk"), bytes("d\"y")]
    private static let pathText = #""path":["desk","d\"y"]"#
    private static let head = #"{"id":"\#(Bench.idText)","#

    private func outcome(_ state: AskOutcome.State) -> AskOutcome {
        AskOutcome(id: Self.id, state: state, path: Self.path)
    }

    static let failures: [(AskFailure, String, Int)] = [
        (.noResponder, "no-responder", 503), (.responderBusy, "responder-busy", 503),
        (.selectorNotImplemented, "selector-not-implemented", 501),
        (.responderRefused(error: bytes(#"{"code":1}"#)), "responder-refused", 502),
        (.responderGone, "responder-gone", 502), (.noAnswer, "no-answer", 504),
    ]

    @Test("an answer passes the responder's bytes on, and names who gave it")
    func answered() {
        let answered = outcome(.answered(AskAnswer(bytes("{ \"a\":\n1}"), observer: 17)))
        let members =
            "\"answer\":{ \"a\":\n1},\"by\":\"responder\",\"answeredBy\":null,"
            + "\"observer\":\"o17\",\(Self.pathText)}"
        #expect(written { Shape.append(ask: answered, to: &$0) } == Self.head + members)
        #expect(
            written { Shape.append(askFate: answered, to: &$0) }
                == Self.head + #""state":"answered","# + members)
    }

    @Test("a default is told with the reason", arguments: failures)
    func fallback(failure: AskFailure, word: String, status: Int) {
        let fallback = outcome(.fallback(bytes("false"), failure))
        let members =
            #""answer":false,"by":"default","reason":"\#(word)",\#(Self.pathText)}"#
        #expect(written { Shape.append(ask: fallback, to: &$0) } == Self.head + members)
        #expect(
            written { Shape.append(askFate: fallback, to: &$0) }
                == Self.head + #""state":"answered","# + members)
    }

    @Test("an ask without an answer is a problem with its id and path", arguments: failures)
    func failed(failure: AskFailure, word: String, status: Int) {
        let problem = Problem(failure, id: Self.id, path: Self.path)
        #expect(problem.kind.slug == word)
        #expect(problem.kind.status == status)
        #expect(problem.detail.hasSuffix("."))
        let document = written { problem.append(to: &$0) }
        let error = failure == .responderRefused(error: bytes(#"{"code":1}"#))
        let end = error ? #","error":{"code":1}}"# : "}"
        #expect(document.hasSuffix(#","id":"\#(Bench.idText)",\#(Self.pathText)\#(end)"#))
        let failed = outcome(.failed(failure))
        #expect(written { Shape.append(ask: failed, to: &$0) } == document)
        #expect(
            written { Shape.append(askFate: failed, to: &$0) }
                == Self.head + #""state":"failed","problem":\#(document)}"#)
    }

    @Test("an open ask is asked; its fate tells until when")
    func open() {
        let open = outcome(.open(until: Bench.time))
        #expect(
            written { Shape.append(ask: open, to: &$0) } == Self.head + #""outcome":"asked"}"#)
        #expect(
            written { Shape.append(askFate: open, to: &$0) }
                == Self.head + #""state":"asked","expiresAt":"2026-11-21T08:00:00.000Z","#
                + Self.pathText + "}")
    }

    @Test("one that was withdrawn says so, also to who waits for it")
    func withdrawn() {
        let withdrawn = outcome(.withdrawn)
        #expect(
            written { Shape.append(ask: withdrawn, to: &$0) }
                == Self.head + #""outcome":"withdrawn",\#(Self.pathText)}"#)
        #expect(
            written { Shape.append(askFate: withdrawn, to: &$0) }
                == Self.head + #""state":"withdrawn",\#(Self.pathText)}"#)
    }

    @Test("a page of open asks has no userInfo", arguments: [(true, "delivered"), (false, "held")])
    func page(isShown: Bool, state: String) {
        let row = AskRow(
            id: Self.id, object: bytes("desk"), selector: bytes("s"), observer: 17,
            path: Self.path, askedAt: Bench.time, answerBy: Bench.time + 1, isShown: isShown,
            principal: bytes("p"), present: nil)
        let expected =
            #"{"asks":[{"id":"\#(Bench.idText)","object":"desk","selector":"s","observer":"o17","#
            + #"\#(Self.pathText),"askedAt":"2026-11-21T08:00:00.000Z","#
            + #""answerBy":"2026-11-21T08:00:00.001Z","state":"\#(state)"}],"next":"7"}"#
        #expect(
            written { Shape.append(asks: Page(rows: [row], next: 7), to: &$0) } == expected)
        #expect(written { Shape.append(asks: Page(), to: &$0) } == #"{"asks":[]}"#)
    }

    private static func row(_ terms: ResponderTerms) -> ObserverRow {
        ObserverRow(
            serial: 17, client: 4, transport: .webSocket, name: nil, object: bytes("desk"),
            selector: [], terms: ObserverTerms(), since: 3, createdAt: Bench.time, state: .live,
            stateSince: Bench.time, principal: bytes("p"),
            tally: ObserverTally(delivered: 4, coalesced: 6, dropped: 7), held: 5,
            tokenHash: SecretHash(high: 1, low: 2), role: .responder(terms))
    }

    private static var terms: ResponderTerms {
        var terms = ResponderTerms(implements: [bytes("a"), bytes("b\"")], next: bytes("team"))
        terms.ifHeld = .share
        terms.concurrency = 1
        return terms
    }

    private static let termsText =
        #""name":null,"object":"desk","selector":null,"implements":["a","b\""],"next":"team","#
        + #""ifHeld":"share","concurrency":1,"suspensionBehavior":"coalesce""#

    @Test("a responder is registered with its terms; name and selector are null")
    func registered() {
        let text = written {
            Shape.append(
                registered: Self.row(Self.terms), token: bytes("o17.k"), session: bytes("c4.Q"),
                center: bytes("default"), to: &$0)
        }
        #expect(text.contains(#""center":"default",\#(Self.termsText),"#))
        let alias = written {
            Shape.append(
                registered: Self.row(ResponderTerms(implements: [])), token: bytes("o17.k"),
                session: bytes("c4.Q"), center: bytes("default"), to: &$0)
        }
        #expect(
            alias.contains(
                #""implements":[],"next":null,"ifHeld":"replace","concurrency":1000,"#))
    }

    @Test("a listing of responders has the rows of observers, with what they were asked")
    func responders() {
        let observer = Self.row(Self.terms)
        let row = ResponderRow(
            observer: observer, openAskCount: 1, askedCount: .max, answeredCount: 2)
        let plain = written {
            Shape.append(observer: observer, center: bytes("default"), to: &$0)
        }
        #expect(plain.contains(Self.termsText))
        let counts = #","openAsks":1,"asked":18446744073709551615,"answered":2}"#
        let rowText = plain.dropLast() + counts
        #expect(
            written {
                Shape.append(
                    responders: Page(rows: [row, row], next: 9), center: bytes("default"), to: &$0)
            } == #"{"responders":[\#(rowText),\#(rowText)],"next":"9"}"#)
        #expect(
            written { Shape.append(responders: [row], center: bytes("default"), to: &$0) }
                == #"{"responders":[\#(rowText)]}"#)
    }

    @Test("explain tells who would be asked, and who was stepped over")
    func explanation() {
        var explanation = AskExplanation(outcome: .delivered(observer: 17), path: Self.path)
        explanation.skipped = [
            .init(object: bytes("desk"), observer: 9, reason: .suspended),
            .init(object: bytes("x"), observer: nil, reason: .noResponder),
            .init(object: bytes("x"), observer: 8, reason: .notImplemented),
            .init(object: bytes("x"), observer: 7, reason: .busy),
        ]
        #expect(
            written { Shape.append(ask: explanation, to: &$0) }
                == #"{"ask":{"outcome":"delivered","observer":"o17",\#(Self.pathText),"skipped":["#
                + #"{"object":"desk","observer":"o9","reason":"suspended"},"#
                + #"{"object":"x","reason":"no-responder"},"#
                + #"{"object":"x","observer":"o8","reason":"not-implemented"},"#
                + #"{"object":"x","observer":"o7","reason":"busy"}]}}"#)
        explanation.skipped = []
        explanation.outcome = .held(observer: 3)
        #expect(
            written { Shape.append(ask: explanation, to: &$0) }
                == #"{"ask":{"outcome":"held","observer":"o3",\#(Self.pathText),"skipped":[]}}"#)
        explanation.outcome = .failed(.responderBusy)
        explanation.isPartial = true
        #expect(
            written { Shape.append(ask: explanation, to: &$0) }
                == #"{"ask":{"outcome":"responder-busy",\#(Self.pathText),"skipped":[],"#
                + #""partial":true}}"#)
    }
}

@Suite("RPC, EventStream and mailboxes: asks and actions")
struct AskFrameTests {
    private let notification: Notification
    private let ask = Addressed(
        target: bytes("d\"y"), kind: .ask(answerBy: Bench.time + 1))
    private let action = Addressed(
        target: bytes("lamp"), kind: .action(selector: bytes("t\"oggle"), row: 21))
    private let end = #","target":"d\"y","answerBy":"2026-11-21T08:00:00.001Z"}"#

    init() {
        var bench = Bench()
        notification = bench.post("a", object: "desk", userInfo: "{\n}")
    }

    /// The notification as its observer gets it, with what an ask has besides.
    private func element(isRedelivered: Bool = false) -> String {
        written {
            Shape.append(
                notification: notification, isRedelivered: isRedelivered, observer: 17, to: &$0)
        }.dropLast() + end
    }

    @Test("an ask is a request whose method is the selector", arguments: [true, false])
    func request(isRedelivered: Bool) {
        let request = written {
            RPC.append(
                ask, notification, observer: 17, isRequest: true, isRedelivered: isRedelivered,
                to: &$0)
        }
        let params = element(isRedelivered: isRedelivered)
        #expect(request == #"{"jsonrpc":"2.0","id":"o17:1","method":"a","params":\#(params)}"#)
        #expect(params.contains(#""observer":"o17""#))
        #expect(params.contains(#""redelivered":true"#) == isRedelivered)
        let delivery = bytes(#""o17:1""#)
        #expect(RPC.delivery(ofID: delivery.span)?.observer == 17)
    }

    @Test("an action calls its method, and names event, sender, target and userInfo (rule K3)")
    func actionFrame() {
        let plain = written {
            Shape.append(notification: notification, isRedelivered: false, to: &$0)
        }.dropLast()
        let frame = written {
            RPC.append(
                action, notification, observer: 3, isRequest: false, isRedelivered: false, to: &$0)
        }
        #expect(
            frame == #"{"jsonrpc":"2.0","method":"t\"oggle","params":\#(plain),"target":"lamp"}}"#)
        let request = written {
            RPC.append(
                action, notification, observer: 3, isRequest: true, isRedelivered: false, to: &$0)
        }
        #expect(request.hasPrefix(#"{"jsonrpc":"2.0","id":"o3:1:o21","method":"t\"oggle","#))
        #expect(request.contains(#","observer":"o3","target":"lamp"}}"#))
    }

    @Test("in a mailbox and in a stream an action names its method as a member (rule K3)")
    func actionElement() {
        var page = MailboxPage()
        page.elements = [
            .init(notification: notification, isRedelivered: false, addressed: action)
        ]
        page.next = 1
        let element =
            written {
                Shape.append(
                    notification: notification, isRedelivered: false, observer: 3, to: &$0)
            }.dropLast() + #","target":"lamp","selector":"t\"oggle"}"#
        #expect(
            written { Shape.append(mailbox: page, observer: 3, to: &$0) }
                == #"{"notifications":[\#(element)],"gaps":[],"next":1}"#)
        let event = written {
            EventStream.append(
                action, notification, epoch: bytes("k3"), observer: 3, isRedelivered: false,
                to: &$0)
        }
        #expect(event == "id: k3-1\ndata: \(element.replacing("\n", with: " "))\n\n")
    }

    @Test("in a stream an ask is an event without a type, with its data in one line")
    func event() {
        let event = written {
            EventStream.append(
                ask, notification, epoch: bytes("k3"), observer: 17, isRedelivered: false,
                to: &$0)
        }
        let data = element().replacing("\n", with: " ")
        #expect(event == "id: k3-1\ndata: \(data)\n\n")
    }

    @Test("in a mailbox an ask stands among the notifications")
    func mailbox() {
        var page = MailboxPage()
        page.elements = [
            .init(notification: notification, isRedelivered: false),
            .init(notification: notification, isRedelivered: true, addressed: ask),
        ]
        page.next = 1
        let plain = written {
            Shape.append(
                notification: notification, isRedelivered: false, observer: 17, to: &$0)
        }
        #expect(
            written { Shape.append(mailbox: page, observer: 17, to: &$0) }
                == #"{"notifications":[\#(plain),\#(element(isRedelivered: true))],"gaps":[],"#
                + #""next":1}"#)
    }

    @Test(
        "who was shown an ask that is over is told why",
        arguments: [(.expired, "expired"), (.withdrawn, "withdrawn"), (.passed, "passed")]
            as [(Settlement, String)])
    func settled(reason: Settlement, word: String) {
        let params = #"{"id":"\#(Bench.idText)","observer":"o17","reason":"\#(word)"}"#
        #expect(
            written { RPC.append(settled: Bench.id, observer: 17, reason, to: &$0) }
                == #"{"jsonrpc":"2.0","method":"belfry.settled","params":\#(params)}"#)
        #expect(
            written { EventStream.append(settled: Bench.id, observer: 17, reason, to: &$0) }
                == "event: belfry.settled\ndata: \(params)\n\n")
    }
}
