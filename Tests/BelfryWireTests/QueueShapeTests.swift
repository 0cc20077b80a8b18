@testable import BelfryCenter
import BelfryWire
import Testing

@Suite("Shape: receipts and fates (Protocol.md sections 1 and 2)")
struct ReceiptShapeTests {
    private let id = Bench.idText
    private let other = NotificationID(high: 0, low: 1)
    private let otherText = "00000000000000000000000001"

    private func made(_ state: Receipt.State) -> Receipt {
        var receipt = Receipt(id: Bench.id, sequence: state == .posted ? 7 : 0)
        receipt.state = state
        return receipt
    }

    /// The text of a receipt whose counts are 1, 2, 3 ….
    private var fullText: String {
        #"{"id":"\#(id)","seq":7,"matched":1,"delivered":2,"held":3,"coalesced":4,"dropped":5,"#
            + #""acknowledged":6,"refused":7,"pending":8,"dequeued":4294967295}"#
    }

    private var full: Receipt {
        var receipt = made(.posted)
        receipt.matched = 1
        receipt.delivered = 2
        receipt.held = 3
        receipt.coalesced = 4
        receipt.dropped = 5
        receipt.acknowledged = 6
        receipt.refused = 7
        receipt.pending = 8
        receipt.dequeued = .max
        return receipt
    }

    @Test("a receipt has all counts")
    func counts() {
        #expect(written { Shape.append(receipt: full, to: &$0) } == fullText)
    }

    @Test("each count alone has its own place")
    func each() {
        let none = written { Shape.append(receipt: made(.posted), to: &$0) }
        let places: [(WritableKeyPath<Receipt, UInt32>, String)] = [
            (\.held, "held"), (\.coalesced, "coalesced"), (\.dropped, "dropped"),
            (\.acknowledged, "acknowledged"), (\.refused, "refused"), (\.pending, "pending"),
            (\.dequeued, "dequeued"),
        ]
        for (path, name) in places {
            var receipt = made(.posted)
            receipt[keyPath: path] = 9
            let expected = none.replacing("\"\(name)\":0", with: "\"\(name)\":9")
            #expect(expected != none)
            #expect(written { Shape.append(receipt: receipt, to: &$0) } == expected)
        }
    }

    @Test("a report has a row an observer, with its result or its error (T239b)")
    func report() {
        let outcomes: [ReportRow.Outcome] = [
            .delivered, .acknowledged, .refused(error: bytes(#"{"code":1}"#)), .pending, .held,
            .coalesced, .dropped, .disconnected, .answered(result: bytes(#"{ "yes":1}"#)),
            .resultOmitted,
        ]
        let rows = outcomes.enumerated().map {
            ReportRow(observer: UInt64($0.offset), outcome: $0.element)
        }
        let names = [
            "delivered", "acknowledged", "refused", "pending", "held", "coalesced", "dropped",
            "disconnected", "acknowledged", "acknowledged",
        ]
        let answers = [
            2: #","error":{"code":1}"#, 8: #","result":{ "yes":1}"#, 9: #","resultOmitted":true"#,
        ]
        let texts = names.enumerated().map { index, name in
            #"{"id":"o\#(index)","outcome":"\#(name)"\#(answers[index] ?? "")}"#
        }
        let expected = fullText.dropLast() + #","observers":[\#(texts.joined(separator: ","))]}"#
        #expect(written { Shape.append(receipt: full, rows: rows, to: &$0) } == expected)
    }

    @Test("a post that waits says so, and nothing of counts (T76)")
    func queued() {
        let queued = #"{"id":"\#(id)","outcome":"queued"}"#
        #expect(written { Shape.append(receipt: made(.queued), to: &$0) } == queued)
        #expect(written { Shape.append(receipt: made(.queued), rows: [], to: &$0) } == queued)
        let coalesced = #"{"id":"\#(id)","outcome":"coalesced","into":"\#(otherText)"}"#
        let receipt = made(.coalesced(into: other))
        #expect(written { Shape.append(receipt: receipt, to: &$0) } == coalesced)
    }

    @Test("a batch may hold both, in its order")
    func batch() {
        let receipts = [made(.queued), full, made(.coalesced(into: other))]
        let queued = #"{"id":"\#(id)","outcome":"queued"}"#
        let coalesced = #"{"id":"\#(id)","outcome":"coalesced","into":"\#(otherText)"}"#
        #expect(
            written { Shape.append(receipts: receipts, to: &$0) }
                == #"{"receipts":[\#(queued),\#(fullText),\#(coalesced)]}"#)
        let reported = fullText.dropLast() + #","observers":[]}"#
        #expect(
            written { Shape.append(receipts: receipts, rows: [[], [], []], to: &$0) }
                == #"{"receipts":[\#(queued),\#(reported),\#(coalesced)]}"#)
    }

    @Test("a fate tells what became of the post, and the receipt if it was posted")
    func fates() {
        for (state, text) in [
            (.queued, "queued"), (.dequeued, "dequeued"), (.expired, "expired"),
        ] as [(Receipt.State, String)] {
            #expect(
                written { Shape.append(fate: made(state), to: &$0) }
                    == #"{"id":"\#(id)","state":"\#(text)"}"#)
        }
        let coalesced = made(.coalesced(into: other))
        #expect(
            written { Shape.append(fate: coalesced, to: &$0) }
                == #"{"id":"\#(id)","state":"coalesced","into":"\#(otherText)"}"#)
        #expect(
            written { Shape.append(fate: full, to: &$0) }
                == #"{"id":"\#(id)","state":"posted","receipt":\#(fullText)}"#)
    }
}

@Suite("Shape: queue, modes, suspension, mailboxes (Protocol.md)")
struct QueueShapeTests {
    private let id = Bench.idText

    private func entry(_ name: String, object: String?, _ mask: Coalescing) -> QueueEntryRow {
        QueueEntryRow(
            id: Bench.id,
            content: Notification.Content(
                name: bytes(name), object: object.map(bytes), userInfo: bytes("{}")),
            style: mask == .none ? .idle : .asap, coalescing: mask,
            modes: [bytes("default"), bytes("m\"")], mergedCount: 2, enqueuedAt: Bench.time)
    }

    @Test("a queue entry has its style, modes, mask and how many it stands for")
    func queue() {
        func text(_ head: String, _ style: String, _ mask: String) -> String {
            #"{"id":"\#(id)",\#(head),"style":"\#(style)","modes":["default","m\""],"#
                + #""coalesce":[\#(mask)],"merged":2,"enqueuedAt":"2026-11-21T08:00:00.000Z"}"#
        }
        let first = text(#""name":"a\"","object":"o""#, "asap", #""name","sender""#)
        let second = text(#""name":"b""#, "idle", "")
        var page = Page<QueueEntryRow>()
        #expect(written { Shape.append(queue: page, to: &$0) } == #"{"entries":[]}"#)
        page.rows = [
            entry("a\"", object: "o", [.onSender, .onName]), entry("b", object: nil, .none),
        ]
        page.next = 2
        #expect(
            written { Shape.append(queue: page, to: &$0) }
                == #"{"entries":[\#(first),\#(second)],"next":"2"}"#)
        #expect(written { Shape.append(queueEntry: page.rows[1], to: &$0) } == second)
        let sender = entry("b", object: nil, .onSender)
        #expect(
            written { Shape.append(queueEntry: sender, to: &$0) }.contains(
                #""coalesce":["sender"],"#))
    }

    @Test("the mode stack is told outermost first, with the clients that hold leases")
    func modes() {
        let hash = SecretHash(high: 1, low: 2)
        let row = ModesRow(
            current: bytes("held"),
            stack: [
                .init(serial: 2, mode: bytes("a\""), client: nil, tokenHash: hash),
                .init(serial: 3, mode: bytes("held"), client: 4, tokenHash: hash),
            ], common: [bytes("default"), bytes("modal")])
        #expect(
            written { Shape.append(modes: row, to: &$0) }
                == #"{"current":"held","stack":[{"id":"m2","mode":"a\""},"#
                + #"{"id":"m3","mode":"held","client":"c4"}],"common":["default","modal"]}"#)
        let empty = ModesRow(current: bytes("default"), stack: [], common: [])
        #expect(
            written { Shape.append(modes: empty, to: &$0) }
                == #"{"current":"default","stack":[],"common":[]}"#)
        #expect(
            written {
                Shape.append(modeLease: 3, token: bytes("m3.x"), mode: bytes("held"), to: &$0)
            } == #"{"id":"m3","token":"m3.x","mode":"held"}"#)
    }

    @Test("suspension and removal are told in one member")
    func small() {
        #expect(written { Shape.append(isSuspended: true, to: &$0) } == #"{"suspended":true}"#)
        #expect(written { Shape.append(isSuspended: false, to: &$0) } == #"{"suspended":false}"#)
        #expect(written { Shape.append(removedCount: 2, to: &$0) } == #"{"removed":2}"#)
    }

    @Test("a client that is not live says so, alone and in a listing")
    func clients() {
        #expect(
            written { Shape.append(client: .suspended, unsentByteCount: 77, to: &$0) }
                == ClientRow.suspendedText)
        var page = Page<ClientRow>()
        page.rows = [.suspended]
        #expect(
            written { Shape.append(clients: page, unsentByteCount: { _ in 77 }, to: &$0) }
                == #"{"clients":[\#(ClientRow.suspendedText)]}"#)
    }

    /// The text of `ObserverRow.suspended` in a listing, with some settings.
    private func observer(_ settings: String) -> String {
        #"{"id":"o17","client":"c4","center":"x","name":"a","object":null,"selector":"in:","#
            + settings + #","state":"slow","stateSince":"2026-11-21T08:00:00.001Z","#
            + #""createdAt":"2026-11-21T08:00:00.000Z","principal":"p","delivered":4,"held":5,"#
            + #""coalesced":6,"dropped":7}"#
    }

    private let defaults =
        #""suspensionBehavior":"coalesce","acknowledge":false,"holdLimit":1000,"#
        + #""minInterval":0,"lease":3600,"lifetime":"token""#

    @Test("an observer has the terms that it got, in listings and at its registration")
    func terms() {
        var terms = ObserverTerms()
        terms.suspensionBehavior = .deliverImmediately
        terms.acknowledges = true
        terms.holdLimit = 7
        terms.minInterval = 250_000_000
        terms.lease = 1_500_000_000
        let settings =
            #""suspensionBehavior":"deliverImmediately","acknowledge":true,"holdLimit":7,"#
            + #""minInterval":0.25,"lease":1.5,"lifetime":"token""#
        let row = ObserverRow.suspended(terms: terms)
        #expect(
            written { Shape.append(observer: row, center: bytes("x"), to: &$0) }
                == observer(settings))
        #expect(
            written {
                Shape.append(
                    registered: row, token: bytes("o17.k"), session: bytes("c4.Q"),
                    center: bytes("x"), to: &$0)
            }
                == #"{"id":"o17","token":"o17.k","client":"c4","session":"c4.Q","center":"x","#
                + #""name":"a","object":null,"selector":"in:",\#(settings),"since":3}"#)
    }

    @Test("a lease of never is null, and there is none beyond the connection")
    func leases() {
        var never = ObserverTerms()
        never.lease = nil
        never.suspensionBehavior = .drop
        var connection = never
        connection.endsWithConnection = true
        connection.suspensionBehavior = .hold
        for (terms, expected) in [
            (
                never,
                #""suspensionBehavior":"drop","acknowledge":false,"holdLimit":1000,"#
                    + #""minInterval":0,"lease":null,"lifetime":"token""#
            ),
            (
                connection,
                #""suspensionBehavior":"hold","acknowledge":false,"holdLimit":1000,"#
                    + #""minInterval":0,"lease":0,"lifetime":"connection""#
            ),
        ] {
            let row = ObserverRow.suspended(terms: terms)
            #expect(
                written { Shape.append(observer: row, center: bytes("x"), to: &$0) }
                    == observer(expected))
        }
    }

    @Test("a client that goes on is told its observers and what is held")
    func resumed() {
        let client = ResumedClient(row: .suspended, observers: [.suspended()], heldCount: 9)
        #expect(
            written { Shape.append(resumed: client, center: bytes("x"), to: &$0) }
                == #"{"client":"c4","observers":[\#(observer(defaults))],"held":9}"#)
        let empty = ResumedClient(row: .suspended, observers: [], heldCount: 0)
        #expect(
            written { Shape.append(resumed: empty, center: bytes("x"), to: &$0) }
                == #"{"client":"c4","observers":[],"held":0}"#)
    }

    @Test("a mailbox has notifications that name their observer, gaps, and where to go on")
    func mailbox() {
        var bench = Bench()
        let notification = bench.post("a", userInfo: "{\n}", causedBy: Bench.id)
        var page = MailboxPage()
        page.next = 3
        #expect(
            written { Shape.append(mailbox: page, observer: 17, to: &$0) }
                == #"{"notifications":[],"gaps":[],"next":3}"#)
        page.elements = [
            MailboxPage.Element(notification: notification, isRedelivered: false),
            MailboxPage.Element(notification: notification, isRedelivered: true),
        ]
        page.gaps = Gap.Reason.allCases.prefix(2).map {
            Gap(
                observer: 17, selector: bytes("in:"), lostCount: 4, firstSequence: 1,
                lastSequence: 9, reason: $0)
        }
        page.next = .max
        let head =
            #"{"id":"\#(id)","seq":1,"name":"a","userInfo":{"# + "\n"
            + #"},"postedAt":"2026-11-21T08:00:00.000Z","observer":"o17","causedBy":"\#(id)""#
        let gap =
            #"{"observer":"o17","selector":"in:","lost":4,"firstSeq":1,"lastSeq":9,"reason":"#
        #expect(
            written { Shape.append(mailbox: page, observer: 17, to: &$0) }
                == #"{"notifications":[\#(head)},\#(head),"redelivered":true}],"#
                + #""gaps":[\#(gap)"dropped"},\#(gap)"coalesced"}],"next":18446744073709551615}"#)
    }

    @Test("a stream of a mailbox names its observer")
    func stream() {
        var bench = Bench()
        let notification = bench.post("a")
        let event = written {
            EventStream.append(
                notification: notification, epoch: bytes("k3"), isRedelivered: true, observer: 17,
                to: &$0)
        }
        let data = written {
            Shape.append(
                notification: notification, isRedelivered: true, observer: 17, to: &$0)
        }
        #expect(event == "id: k3-1\ndata: \(data)\n\n")
    }

    @Test("an explanation has states and outcomes, and where to go on")
    func explanation() {
        var explanation = Explanation()
        explanation.observers = [
            (.suspended(), ReportRow(observer: 17, outcome: .held)),
            (.suspended(18), ReportRow(observer: 18, outcome: .dropped)),
        ]
        explanation.next = 18
        #expect(
            written { Shape.append(explanation: explanation, to: &$0) }
                == #"{"observers":[{"id":"o17","state":"slow","outcome":"held"},"#
                + #"{"id":"o18","state":"slow","outcome":"dropped"}],"near":[],"next":"18"}"#)
    }

    @Test("leaks have their reasons, and where to go on")
    func leaks() {
        var page = Page<Leak>()
        #expect(written { Shape.append(leaks: page, to: &$0) } == #"{"observers":[]}"#)
        page.rows = [.duplicate, .disconnected, .neverLooked, .noTarget].map {
            Leak(observer: .suspended(), reason: $0)
        }
        page.next = 17
        let rows = ["duplicate", "disconnected", "never-looked", "no-target"].map {
            #"{"id":"o17","reason":"\#($0)","stateSince":"2026-11-21T08:00:00.001Z","#
                + #""name":"a","object":null,"held":5}"#
        }
        #expect(
            written { Shape.append(leaks: page, to: &$0) }
                == #"{"observers":[\#(rows.joined(separator: ","))],"next":"17"}"#)
    }

    @Test("each reason of a gap has its word")
    func reasons() {
        let words = Gap.Reason.allCases.map { reason in
            let gap = Gap(
                observer: 1, selector: [], lostCount: nil, firstSequence: 0, lastSequence: 0,
                reason: reason)
            let text = written { RPC.append(gap: gap, to: &$0) }
            return String(text.dropLast(3).split(separator: "\"").last ?? "")
        }
        #expect(words == ["dropped", "coalesced", "overflow", "expired", "unknown"])
    }
}
