import BelfryCenter
import BelfryWire
import Testing

@Suite("Shape (Protocol.md)")
struct ShapeTests {
    private let id = Bench.idText

    @Test("a notification has what it needs and nothing that is null")
    func smallest() {
        var bench = Bench()
        let notification = bench.post("a")
        let expected =
            #"{"id":"\#(id)","seq":1,"name":"a","postedAt":"2026-11-21T08:00:00.000Z"}"#
        let shape = written {
            Shape.append(notification: notification, isRedelivered: false, to: &$0)
        }
        #expect(shape == expected)
    }

    @Test("a notification passes userInfo on as it came, and escapes the rest")
    func full() {
        var bench = Bench()
        let userInfo = #"{ "x":123456789012345678901,"x":"\ud800\/" ,"# + "\r\n\"y\":1.0}"
        let notification = bench.post(
            "But\"ton\u{301}", object: "calc\\ulator\u{80}", userInfo: userInfo,
            causedBy: NotificationID(high: 0, low: 1))
        let expected =
            #"{"id":"\#(id)","seq":1,"name":"But\"ton\#u{301}","object":"calc\\ulator\#u{80}","#
            + #""userInfo":\#(userInfo),"postedAt":"2026-11-21T08:00:00.000Z","#
            + #""causedBy":"00000000000000000000000001","redelivered":true}"#
        let shape = written {
            Shape.append(notification: notification, isRedelivered: true, to: &$0)
        }
        #expect(shape == expected)
    }

    private let counts =
        #""held":0,"coalesced":0,"dropped":0,"acknowledged":0,"refused":0,"pending":0,"dequeued":0"#

    @Test("a receipt counts, and has rows when they are asked for")
    func receipt() {
        var bench = Bench()
        bench.observe(17, name: "a")
        bench.observe(18, name: nil)
        bench.post("a")
        let receipt = bench.effects.receipts[0]
        let plain = #"{"id":"\#(id)","seq":1,"matched":2,"delivered":2,\#(counts)}"#
        #expect(written { Shape.append(receipt: receipt, to: &$0) } == plain)
        let rows = bench.effects.deliveries.map {
            ReportRow(observer: $0.observer, outcome: .delivered)
        }
        let expected =
            plain.dropLast()
            + #","observers":[{"id":"o17","outcome":"delivered"},"#
            + #"{"id":"o18","outcome":"delivered"}]}"#
        #expect(written { Shape.append(receipt: receipt, rows: rows, to: &$0) } == expected)
        let empty = plain.dropLast() + #","observers":[]}"#
        #expect(written { Shape.append(receipt: receipt, rows: [], to: &$0) } == empty)
        let fate = #"{"id":"\#(id)","state":"posted","receipt":\#(plain)}"#
        #expect(written { Shape.append(fate: receipt, to: &$0) } == fate)
    }

    @Test("the receipts of a batch stand in its order")
    func receipts() {
        var bench = Bench()
        let contents = ["a", "b"].map { Notification.Content(name: bytes($0)) }
        bench.apply(
            .postBatch(contents.map { Post(id: Bench.id, content: $0) }, PostTerms()))
        let receipts = bench.effects.receipts
        let rows = [[], [ReportRow(observer: 3, outcome: .delivered)]]
        func receipt(_ sequence: Int, _ more: String) -> String {
            #"{"id":"\#(id)","seq":\#(sequence),"matched":0,"delivered":0,\#(counts)\#(more)}"#
        }
        let plain = #"{"receipts":[\#(receipt(1, "")),\#(receipt(2, ""))]}"#
        #expect(written { Shape.append(receipts: receipts, to: &$0) } == plain)
        let second = #","observers":[{"id":"o3","outcome":"delivered"}]"#
        let full = #"{"receipts":[\#(receipt(1, #","observers":[]"#)),\#(receipt(2, second))]}"#
        #expect(written { Shape.append(receipts: receipts, rows: rows, to: &$0) } == full)
    }

    private let settings =
        #""suspensionBehavior":"coalesce","acknowledge":false,"holdLimit":1000,"#
        + #""minInterval":0,"lease":3600,"lifetime":"token""#

    @Test("registration answers with token, session and since")
    func registered() throws {
        var bench = Bench()
        bench.post("x")
        bench.observe(17, name: "ButtonChange")
        let row = try #require(bench.row)
        let expected =
            #"{"id":"o17","token":"o17.kJ3","client":"c4","session":"c4.Qz","center":"default","#
            + #""name":"ButtonChange","object":null,"selector":"input:",\#(settings),"since":1}"#
        let shape = written {
            Shape.append(
                registered: row, token: bytes("o17.kJ3"), session: bytes("c4.Qz"),
                center: bench.center.name, to: &$0)
        }
        #expect(shape == expected)
    }

    @Test("a listed observer has its state and its counts, and no secret")
    func listed() throws {
        var bench = Bench()
        bench.observe(17, name: nil, object: "o")
        let time = "2026-11-21T08:00:00.000Z"
        let head =
            #"{"id":"o17","client":"c4","center":"default","name":null,"object":"o","#
            + #""selector":"input:",\#(settings),"state":"live","stateSince":"\#(time)","#
            + #""createdAt":"\#(time)","principal":"anonymous","#
        let counts = #","held":0,"coalesced":0,"dropped":0"#
        let fresh = try #require(bench.row)
        let never = head + #""delivered":0\#(counts)}"#
        #expect(
            written { Shape.append(observer: fresh, center: bytes("default"), to: &$0) } == never)
        bench.post("a", object: "o")
        let once = head + #""delivered":1\#(counts),"lastDeliveredAt":"\#(time)"}"#
        let page = bench.center.observers(matching: ObserverQuery()) { _, _ in true }
        let last = written { Shape.append(observers: page, center: bytes("default"), to: &$0) }
        #expect(last == #"{"observers":[\#(once)],"total":1}"#)
    }

    @Test("a page tells where the next one starts, as text")
    func page() {
        var bench = Bench()
        bench.observe(17, name: "a")
        bench.observe(18, name: "b")
        var query = ObserverQuery()
        query.limit = 1
        let page = bench.center.observers(matching: query) { _, _ in true }
        let shape = written { Shape.append(observers: page, center: bytes("x"), to: &$0) }
        #expect(shape.hasPrefix(#"{"observers":[{"id":"o17","#))
        #expect(shape.hasSuffix(#"}],"next":"17","total":2}"#))
    }

    @Test(
        "clients, channels and centers",
        arguments: [(Transport.webSocket, "websocket"), (.events, "events")])
    func others(transport: Transport, transportText: String) {
        var bench = Bench(transport: transport)
        bench.observe(17, name: "a")
        bench.post("b")
        let time = "2026-11-21T08:00:00.000Z"
        let clients = bench.center.clients(matching: ObserverQuery(after: 0, limit: 10))
        let client =
            #"{"clients":[{"id":"c4","transport":"\#(transportText)","state":"live","#
            + #""stateSince":"\#(time)","principal":"anonymous","observers":1,"held":0,"#
            + #""unsentBytes":77,"connectedAt":"\#(time)"}],"total":1}"#
        #expect(
            written { Shape.append(clients: clients, unsentByteCount: { _ in 77 }, to: &$0) }
                == client)
        let channels = bench.center.channels(matching: ObserverQuery(limit: 10)) { _, _ in true }
        let channel =
            #"{"channels":[{"name":"a","observers":1,"named":1,"posts":0,"delivered":0,"#
            + #""unmatched":0},"#
            + #"{"name":"b","observers":0,"named":0,"posts":1,"delivered":0,"unmatched":1,"#
            + #""lastPostedAt":"\#(time)"}],"total":2}"#
        #expect(written { Shape.append(channels: channels, to: &$0) } == channel)
        let center =
            #"{"centers":[{"name":"default","observers":1,"clients":1,"seq":1,"epoch":"k3"}],"#
            + #""next":"9"}"#
        let rows = [CenterRow(bench.center)]
        #expect(written { Shape.append(centers: rows, next: 9, to: &$0) } == center)
        #expect(written { Shape.append(centers: [], to: &$0) } == #"{"centers":[]}"#)
        #expect(written { Shape.append(removedCount: 3, to: &$0) } == #"{"removed":3}"#)
    }

    @Test("an explanation tells who would get it, and who nearly would")
    func explanation() {
        var bench = Bench()
        for (serial, name, object) in [
            (1, "Caf\u{e9}", nil), (2, "caf\u{e9}", nil), (3, "Cafe\u{301}", nil),
            (4, "Caf\u{e9}", "o"),
        ] as [(UInt64, String, String?)] {
            bench.observe(serial, name: name, object: object)
        }
        let explanation = bench.center.explain(name: bytes("Caf\u{e9}"), object: nil) { _, _ in
            true
        }
        let expected =
            #"{"observers":[{"id":"o1","state":"live","outcome":"delivered"}],"near":["#
            + #"{"id":"o2","reason":"name-differs-in-case"},"#
            + #"{"id":"o3","reason":"name-differs-in-unicode-form"},"#
            + #"{"id":"o4","reason":"object-differs"}]}"#
        #expect(written { Shape.append(explanation: explanation, to: &$0) } == expected)
        let nobody = bench.center.explain(name: bytes("x"), object: nil) { _, _ in true }
        let empty = #"{"observers":[],"near":[]}"#
        #expect(written { Shape.append(explanation: nobody, to: &$0) } == empty)
        var partial = nobody
        partial.isPartial = true
        #expect(
            written { Shape.append(explanation: partial, to: &$0) }
                == #"{"observers":[],"near":[],"partial":true}"#)
    }

    @Test("the reports tell duplicates and names that do not meet")
    func reports() {
        var bench = Bench()
        bench.observe(1, name: "y")
        bench.observe(2, name: "y")
        bench.post("x")
        bench.post("x")
        let time = CommandTime(wallMilliseconds: Bench.time, monotonicNanoseconds: 0)
        let leaks = bench.center.leaks(after: 0, limit: 10, at: time) { _, _ in true }
        let leak =
            #"{"observers":[{"id":"o2","reason":"duplicate","#
            + #""stateSince":"2026-11-21T08:00:00.000Z","name":"y","object":null,"held":0}]}"#
        #expect(written { Shape.append(leaks: leaks, to: &$0) } == leak)
        let report = bench.center.unmatched(limit: 10) { _, _ in true }
        let expected =
            #"{"postedNeverObserved":[{"name":"x","posts":2}],"observedNeverPosted":["#
            + #"{"id":"o1","name":"y"},{"id":"o2","name":"y"}]}"#
        #expect(written { Shape.append(unmatched: report, to: &$0) } == expected)
    }
}
