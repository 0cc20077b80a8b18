import Testing

@testable import BelfryCluster

@Suite("NATSJournal: the log")
struct NATSLogTests {
    private let name = EntryName(life: 7, number: 2, attempt: 1)

    // MARK: Appending

    @Test("an entry is published under a name that says whose it is, and answered by it")
    func append() throws {
        let server = try ScriptedServer.ready()
        server.journal.append([1, 2], as: name)
        let sent = server.sent()
        #expect(
            sent == [
                ScriptedServer.Sent(
                    verb: "HPUB", subject: "belfry.prod.log", reply: "_INBOX.1-2.a.7.2.1",
                    headers: "NATS/1.0\r\nNats-Msg-Id: n1.7.2.1\r\n\r\n", payload: [1, 2])
            ])
        server.acknowledge("a.7.2.1", 5)
        server.answer("a.7.2.1", #"{"stream":"BELFRY_prod","seq":5,"duplicate":true}"#)
        #expect(server.events() == ["appended 7.2.1 5", "appended 7.2.1 5"])
    }

    @Test("only a log that is full refuses; all else may be otherwise the next time")
    func refusals() throws {
        let server = try ScriptedServer.ready()
        server.refuse("a.7.2.1", code: 503, number: 10_077, "maximum bytes exceeded")
        #expect(server.events() == ["refused 2 isFull"])
        server.refuse("a.7.2.1", code: 503, number: 10_077, "no space left on device")
        server.refuse("a.7.2.1", code: 503, number: 10_008, "unavailable")
        server.refuse("a.7.2.1", code: 400, number: 10_158, "duplicate message id is in process")
        server.answer("a.7.2.1", status: "503")
        server.acknowledge("a.7.2.1", 5, in: "OTHER")
        server.answer("a.7.2.1", "{")
        server.answer("a.7.2.1", "")
        #expect(server.events() == [] && server.journal.progress == .ready)
    }

    @Test("a message is as large as max_payload, and a larger one is not sent")
    func largest() throws {
        let server = try ScriptedServer.ready(maxPayload: (1 << 20) + 384)
        let headers = "NATS/1.0\r\nNats-Msg-Id: n1.7.2.1\r\n\r\n".utf8.count
        let room = (1 << 20) + 384 - headers
        server.journal.append([UInt8](repeating: 1, count: room), as: name)
        #expect(server.inquiries() == ["a.7.2.1"])
        server.journal.append([UInt8](repeating: 1, count: room + 1), as: name)
        #expect(server.inquiries() == [])
    }

    @Test("what has no room in the output is dropped, and a PONG too")
    func outputLimit() throws {
        let server = try ScriptedServer.ready()
        let journal = server.journal
        while journal.output.count + (1 << 20) + 100 <= NATSSettings.outputByteLimit {
            journal.append([UInt8](repeating: 1, count: 1 << 20), as: name)
        }
        let headers = "NATS/1.0\r\nNats-Msg-Id: n1.7.2.1\r\n\r\n".utf8.count
        let room = NATSSettings.outputByteLimit - journal.output.count - headers
        let count = journal.output.count
        journal.append([UInt8](repeating: 1, count: room + 1), as: name)
        #expect(journal.output.count == count)
        journal.append([UInt8](repeating: 1, count: room), as: name)
        #expect(journal.output.count > NATSSettings.outputByteLimit)
        let full = journal.output.count
        server.receive("PING\r\n")
        journal.read(after: 0)
        journal.ping()
        journal.tell(Beat(node: [1], life: 1, appliedIndex: 1))
        #expect(journal.output.count == full)
        _ = journal.takeOutput()
        server.receive("PING\r\n")
        #expect(server.inquiries() == ["PONG"])
    }

    // MARK: Pushes

    static func block(
        sequence: String = "9", stream: String = "BELFRY_prod", subject: String = "belfry.prod.log",
        first: String = "NATS/1.0", more: String = ""
    ) -> String {
        "\(first)\r\n\(more)Nats-Msg-Id: x\r\nNats-Stream: \(stream)\r\n"
            + "Nats-Subject: \(subject)\r\nNats-Sequence: \(sequence)\r\n"
            + "Nats-Last-Sequence: 0\r\n\r\n"
    }

    @Test("what the engine publishes again is an entry")
    func push() throws {
        let server = try ScriptedServer.ready()
        server.message(1, "belfry.prod.rep", [4], headers: Self.block())
        server.message(
            1, "belfry.prod.rep", [5], headers: Self.block(more: "Nats-Sequence: 1\r\n"))
        #expect(server.events() == ["entry 9 [4]", "entry 9 [5]"])
    }

    static let strange: [String?] = [
        nil, "", "NATS/1.0\r\n\r\n", "rubbish", block(sequence: "0"), block(sequence: "-1"),
        block(sequence: "18446744073709551616"), block(stream: "BELFRY_other"),
        block(subject: "belfry.prod.beat"), block(first: "NATS/1.0 404"),
        block(first: "NATS/2.0"),
    ]

    @Test("what anybody else publishes there is dropped", arguments: strange)
    func strangePush(headers: String?) throws {
        let server = try ScriptedServer.ready()
        server.message(1, "belfry.prod.rep", [4], headers: headers)
        #expect(server.events() == [] && server.journal.progress == .ready)
    }

    @Test("a header block as large as one may be is read, and a larger one is not")
    func largeHeaders() throws {
        let server = try ScriptedServer.ready()
        let count = Self.block(more: "A: \r\n").utf8.count
        for more in [0, 1] {
            let value = String(
                repeating: "b", count: NATSSettings.headerBlockByteLimit - count + more)
            server.message(1, "belfry.prod.rep", [4], headers: Self.block(more: "A: \(value)\r\n"))
            #expect(server.events() == (more == 0 ? ["entry 9 [4]"] : []))
        }
        #expect(server.journal.progress == .ready)
    }

    @Test("events that nobody takes are bounded")
    func eventLimit() {
        let row = 128
        var events = EventLine(byteLimit: 10 * row)
        for index: UInt64 in 1...8 { events.append(.saved(index: index)) }
        events.append(.entry(index: 1, [UInt8](repeating: 0, count: row + 1)))
        #expect(events.byteCount == 8 * row)
        events.append(.entry(index: 1, [UInt8](repeating: 0, count: row)))
        events.append(.saved(index: 9))
        #expect(events.byteCount == 10 * row)
        events.append(.snapshot(JournalSnapshot(index: 1, state: [1])))
        #expect(events.byteCount == 11 * row + 1, "a snapshot always has room")
        while events.popFirst() != nil {}
        #expect(events.byteCount == 0 && events.isEmpty)
        // One that is larger than all may come alone.
        events.append(.entry(index: 1, [UInt8](repeating: 0, count: 20 * row)))
        #expect(events.popFirst() != nil)
    }

    // MARK: Beats

    @Test("a beat is told and heard, and what is none is dropped")
    func beats() throws {
        let server = try ScriptedServer.ready()
        let beat = Beat(node: [110, 49], life: 1 << 60 + 5, appliedIndex: 258)
        server.journal.tell(beat)
        let sent = server.sent()
        #expect(sent[0].subject == "belfry.prod.beat" && sent[0].reply.isEmpty)
        #expect(sent[0].payload.count == 19 && sent[0].payload[0] == 1)
        server.message(2, "belfry.prod.beat", sent[0].payload)
        server.message(2, "belfry.prod.beat", sent[0].payload, headers: "rubbish")
        #expect(server.events() == Array(repeating: "beat [110, 49] \(beat.life) 258", count: 2))
        let code = beat.code
        let node = [UInt8](repeating: 1, count: Beat.nodeByteLimit)
        #expect(Beat(code: Beat(node: node, life: 1, appliedIndex: 2).code)?.node == node)
        let strange: [[UInt8]] = [
            [], [1], Array(code[..<17]), [2] + Array(code[1...]),
            Beat(node: node + [1], life: 1, appliedIndex: 1).code,
        ]
        for bytes in strange {
            server.message(2, "belfry.prod.beat", bytes)
        }
        #expect(server.events() == [])
    }

    // MARK: Trimming

    static let trims: [(index: UInt64, first: UInt64, last: UInt64, sequence: UInt64?)] = [
        (2, 1, 9, 3), (8, 1, 9, 9), (9, 1, 9, 9), (10, 1, 9, 9), (.max, 1, 9, 9),
        (2, 3, 9, nil), (9, 9, 9, nil), (4, 0, 0, nil), (9, 10, 9, nil),
    ]

    @Test("a trim leaves the last entry where it is", arguments: trims)
    func trim(row: (index: UInt64, first: UInt64, last: UInt64, sequence: UInt64?)) throws {
        let server = try ScriptedServer.ready()
        server.journal.trim(through: row.index)
        #expect(server.inquiries() == ["t.\(row.index)"])
        server.answer("t.\(row.index)", server.info(first: row.first, last: row.last))
        let sent = server.sent()
        #expect(sent.map(\.text) == (row.sequence.map { [#"{"seq":\#($0)}"#] } ?? []))
        #expect(sent.allSatisfy { $0.subject == "$JS.API.STREAM.PURGE.BELFRY_prod" })
        server.answer("p", "rubbish")
        #expect(server.events() == [])
    }

    @Test("a trim whose question is not answered does nothing")
    func unansweredTrim() throws {
        let server = try ScriptedServer.ready()
        server.answer("t.3", status: "503")
        server.refuse("t.3", number: 10_059, "stream not found")
        server.answer("t.3", server.info(of: "c.1", first: 1, last: 9))
        #expect(server.sent() == [])
    }

    // MARK: Looking

    @Test("a look tells who leads the log, how large it is, and which snapshot is the last")
    func look() throws {
        let server = try ScriptedServer.ready()
        let journal = server.journal
        journal.look()
        #expect(server.inquiries() == ["i", "n"])
        server.answer(
            "i",
            server.info(first: 1, last: 9).dropLast(2)
                + #","bytes":77},"cluster":{"leader":"n2"}}"#)
        let manifest = SnapshotManifest(
            index: 8, byteCount: 1, digest: Array(repeating: 0, count: 32), sequences: [4])
        server.answer("n", sequence: 5, manifest.code)
        #expect(journal.leader == "n2" && journal.logByteCount == 77)
        #expect(journal.snapshotIndex == 8)
        // An answer without content, or about other streams, changes nothing.
        server.answer("i", server.info(of: "c.1", first: 1, last: 9))
        server.answer("i", "rubbish")
        server.answer("n", status: "404 Message Not Found")
        server.answer("n", sequence: 6, [1, 2, 3])
        #expect(journal.leader == "n2" && journal.logByteCount == 77)
        #expect(journal.snapshotIndex == 8)
        journal.didDisconnect()
        journal.look()
        #expect(server.sent() == [] && server.events() == [])
    }
}
