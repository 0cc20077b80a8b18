import Testing

@testable import BelfryCluster

@Suite("NATSJournal: reading")
struct NATSReadingTests {
    private func batch(_ server: ScriptedServer, _ read: Int, _ sequences: ClosedRange<UInt64>) {
        for sequence in sequences {
            server.answer("b.\(read)", sequence: sequence, [UInt8(truncatingIfNeeded: sequence)])
        }
    }

    private func end(_ server: ScriptedServer, _ read: Int, left: Int) {
        server.answer(
            "b.\(read)", status: "204 EOB", "Nats-Num-Pending: \(left)\r\nNats-Last-Sequence: 0\r\n"
        )
    }

    @Test("batches follow each other as they are taken, and then comes the end")
    func batches() throws {
        let server = try ScriptedServer.ready()
        server.journal.read(after: 4)
        let sent = server.sent()
        #expect(sent[0].subject == "$JS.API.DIRECT.GET.BELFRY_prod" && sent[0].inquiry == "b.1")
        #expect(sent[0].text == #"{"seq":5,"batch":512,"max_bytes":4194304}"#)
        batch(server, 1, 5...6)
        end(server, 1, left: 2)
        // The next is not asked for before these are taken.
        #expect(server.sent() == [])
        #expect(server.events() == ["entry 5 [5]", "entry 6 [6]"])
        #expect(server.sent().map(\.text) == [#"{"seq":7,"batch":512,"max_bytes":4194304}"#])
        batch(server, 1, 7...8)
        end(server, 1, left: 0)
        #expect(server.inquiries() == ["e.1"])
        server.answer("e.1", server.info(first: 1, last: 8))
        #expect(server.events() == ["entry 7 [7]", "entry 8 [8]", "end 8"])
        #expect(server.journal.isIdle && server.sent() == [])
    }

    @Test("a log without what was asked for tells its end", arguments: [0, 4] as [UInt64])
    func nothing(after index: UInt64) throws {
        let server = try ScriptedServer.ready()
        server.journal.read(after: index)
        server.answer("b.1", status: "404 Message Not Found")
        server.answer("e.1", server.info(first: index + 1, last: index))
        #expect(server.events() == ["end \(index)"])
    }

    @Test("an answer tells who leads the log")
    func leader() throws {
        let server = try ScriptedServer.ready()
        #expect(server.journal.leader == "")
        server.journal.trim(through: 1)
        let info = server.info(first: 1, last: 1)
        server.answer("t.1", info.dropLast() + #","cluster":{"leader":"n2"}}"#)
        #expect(server.journal.leader == "n2")
    }

    @Test("a log that ends before what was asked for tells that")
    func shorter() throws {
        let server = try ScriptedServer.ready()
        server.journal.read(after: 4)
        server.answer("b.1", status: "404 Message Not Found")
        server.answer("e.1", server.info(first: 1, last: 3))
        #expect(server.events() == ["end 3"])
    }

    @Test("what is missing at the start was trimmed, and what comes behind it is not told")
    func trimmed() throws {
        let server = try ScriptedServer.ready()
        server.journal.read(after: 1)
        batch(server, 1, 4...6)
        end(server, 1, left: 0)
        #expect(server.inquiries() == ["b.1", "e.1"])
        server.answer("e.1", server.info(first: 4, last: 6))
        #expect(server.events() == ["trimmed 4"])
        // Also where nothing is left.
        server.journal.read(after: 1)
        server.answer("b.2", status: "404 Message Not Found")
        server.answer("e.2", server.info(first: 7, last: 6))
        #expect(server.events() == ["trimmed 7"])
        // One is enough, and none is not.
        server.journal.read(after: 1)
        server.answer("b.3", status: "404 Message Not Found")
        server.answer("e.3", server.info(first: 3, last: 2))
        #expect(server.events() == ["trimmed 3"])
        server.journal.read(after: 6)
        server.answer("b.4", status: "404 Message Not Found")
        server.answer("e.4", server.info(first: 7, last: 6))
        #expect(server.events() == ["end 6"])
    }

    @Test("a hole that the log does not explain gives the read up")
    func hole() throws {
        let server = try ScriptedServer.ready()
        server.journal.read(after: 0)
        batch(server, 1, 1...1)
        batch(server, 1, 3...3)
        server.answer("e.1", server.info(first: 1, last: 3))
        #expect(server.events() == ["entry 1 [1]"] && server.journal.isIdle)
    }

    @Test("a copy that is behind is asked again, and given up at the limit")
    func lagging() throws {
        let server = try ScriptedServer.ready()
        server.journal.read(after: 0)
        batch(server, 1, 1...2)
        end(server, 1, left: 0)
        server.answer("e.1", server.info(first: 1, last: 4))
        _ = server.events()
        _ = server.sent()
        batch(server, 1, 3...4)
        end(server, 1, left: 7)
        // Up to the end of the log at that time.
        #expect(server.events() == ["entry 3 [3]", "entry 4 [4]", "end 4"])

        server.journal.read(after: 4)
        server.answer("b.2", status: "404 Message Not Found")
        server.answer("e.2", server.info(first: 1, last: 5))
        for round in 1...NATSSettings.idleBatchLimit {
            #expect(server.inquiries().last == "b.2", "round \(round)")
            server.answer("b.2", status: "404 Message Not Found")
        }
        #expect(server.inquiries() == [] && server.journal.isIdle && server.events() == [])
    }

    @Test("a new read takes the place of the one under way, and answers of that are dropped")
    func replaced() throws {
        let server = try ScriptedServer.ready()
        server.journal.read(after: 0)
        server.journal.read(after: 1)
        batch(server, 1, 1...2)
        end(server, 1, left: 0)
        server.answer("e.1", server.info(first: 1, last: 2))
        #expect(server.events() == [] && server.inquiries() == ["b.1", "b.2"])
        batch(server, 2, 1...2)
        server.answer("e.2", server.info(first: 1, last: 2))
        #expect(server.events() == ["entry 2 [2]"], "the end was not asked for yet")
        end(server, 2, left: 0)
        server.answer("e.2", server.info(first: 1, last: 2))
        #expect(server.events() == ["end 2"])
    }

    @Test("what answers a read otherwise gives it up, and what is malformed is dropped")
    func strange() throws {
        for status in ["408 Empty Request", "503", "500 Other"] {
            let server = try ScriptedServer.ready()
            server.journal.read(after: 0)
            server.answer("b.1", status: status)
            #expect(server.journal.isIdle && server.events() == [])
        }
        let server = try ScriptedServer.ready()
        server.journal.read(after: 0)
        server.answer("b.1", "no headers")
        server.answer("b.1", status: "204 EOB")
        server.answer("e.1", server.info(first: 5, last: 9))
        server.answer("b.1.1", "x")
        server.answer("b.01", status: "404")
        server.answer("b.+1", status: "404")
        server.answer("b", status: "404")
        server.answer("z.1", status: "404")
        server.answer("b.99999999999999999999", status: "404")
        #expect(!server.journal.isIdle && server.inquiries() == ["b.1"] && server.events() == [])
        server.journal.read(after: .max)
        #expect(server.inquiries() == [])
    }
}
