import BelfryNATS
import Testing

@testable import BelfryCluster

@Suite("NATSJournal: the connection")
struct NATSConnectionTests {
    @Test(
        "INFO is answered by CONNECT, the subscriptions and the streams, and nothing comes before")
    func greeting() throws {
        let server = try ScriptedServer {
            $0.credentials = .user("u", password: "p")
            $0.logByteLimit = 4_096
        }
        #expect(server.journal.progress == .awaitsInfo && server.sent() == [])
        server.greet(#","connect_urls":["a:1","b:2"],"ldm":true"#)
        let sent = server.sent()
        #expect(
            sent.map { "\($0.verb) \($0.subject)" }.dropFirst() == [
                "SUB belfry.prod.rep 1", "SUB belfry.prod.beat 2", "SUB _INBOX.1-2.> 3",
                "PUB $JS.API.STREAM.CREATE.BELFRY_prod",
                "PUB $JS.API.STREAM.CREATE.BELFRY_prod_SNAP",
            ])
        #expect(sent[0].verb == "CONNECT")
        for member in [
            #""verbose":false"#, #""headers":true"#, #""no_responders":true"#, #""user":"u""#,
            #""pass":"p""#, #""tls_required":false"#, #""name":"belfry n1""#,
        ] {
            #expect(sent[0].subject.contains(member))
        }
        #expect(!sent[0].subject.contains("echo"), "one's own beat may come back")
        #expect(
            sent[4].text == #"{"name":"BELFRY_prod","subjects":["belfry.prod.log"],"#
                + #""retention":"limits","discard":"new","storage":"file","num_replicas":3,"#
                + #""max_bytes":4096,"allow_direct":true,"deny_delete":true,"#
                + #""duplicate_window":120000000000,"#
                + #""republish":{"src":"belfry.prod.log","dest":"belfry.prod.rep"}}"#)
        #expect(
            sent[5].text.contains(
                #""subjects":["belfry.prod.snap.piece","belfry.prod.snap.whole"]"#))
        #expect(sent[5].text.contains(#""discard":"old""#))
        #expect(server.journal.progress == .preparing)
        let told = try #require(server.journal.server)
        #expect(told.urls == ["a:1", "b:2"] && told.isLameDuck && told.version == "2.12.0")
    }

    @Test("a journal is ready when both streams are, and keeps nothing of what was asked before")
    func readiness() throws {
        let server = try ScriptedServer()
        let journal = server.journal
        func askEverything() {
            journal.append([1], as: EntryName(life: 1, number: 1, attempt: 0))
            journal.read(after: 0)
            journal.trim(through: 1)
            journal.save(JournalSnapshot(index: 1, state: [1]))
            journal.load()
            journal.tell(Beat(node: [1], life: 1, appliedIndex: 1))
        }
        askEverything()
        server.greet()
        server.takeCreates()
        askEverything()
        server.answer("c.0", server.info(of: "c.0"))
        #expect(journal.progress == .preparing)
        askEverything()
        server.answer("c.1", server.info(of: "c.1"))
        #expect(journal.progress == .ready && server.sent() == [] && journal.isIdle)
        askEverything()
        #expect(
            server.inquiries() == ["a.1.1.0", "b.1", "t.1", "s.1.0", "l.1", "belfry.prod.beat"])
        journal.didDisconnect()
        askEverything()
        #expect(server.sent() == [] && journal.isIdle && journal.progress == .disconnected)
        #expect(journal.server?.name == "n")
    }

    @Test("bytes may come in pieces of any size")
    func pieces() throws {
        let server = try ScriptedServer()
        for byte in #"INFO {"version":"2.13.1","headers":true,"max_payload":2097152}"#.utf8 {
            server.receive([byte])
        }
        for byte in "\r\nPING\r\n".utf8 { server.receive([byte]) }
        #expect(server.inquiries() == ["CONNECT", "SUB", "SUB", "SUB", "c.0", "c.1", "PONG"])
        server.journal.ping()
        #expect(server.inquiries() == ["PING"])
    }

    @Test("each connection has an inbox of its own, and answers of another one are dropped")
    func inboxes() throws {
        let server = try ScriptedServer.ready()
        server.journal.didConnect(random: (3, 0xAB))
        server.greet()
        #expect(server.sent()[3].subject == "_INBOX.3-ab.> 3")
        server.answer("c.0", server.info(of: "c.0"))
        server.answer("c.1", server.info(of: "c.1"))
        #expect(server.journal.progress == .preparing)
    }

    @Test("streams that were right are looked at again beside what goes on")
    func laterConnection() throws {
        for (answer, isKept) in [
            ({ $0.answer("c.0", status: "503") }, true),
            ({ $0.refuse("c.0", code: 503, number: 10_008, "unavailable") }, true),
            ({ $0.answer("c.0", $0.info(of: "c.0")) }, true),
            ({ $0.answer("c.0", $0.info(of: "c.1")) }, false),
            ({ $0.refuse("c.0", number: 10_047, "insufficient storage") }, false),
        ] as [((ScriptedServer) -> Void, Bool)] {
            let server = try ScriptedServer.ready()
            server.journal.didConnect(random: (1, 2))
            server.greet()
            #expect(server.journal.progress == .preparing)
            #expect(server.inquiries() == ["CONNECT", "SUB", "SUB", "SUB", "PING", "c.0", "c.1"])
            server.receive("PONG\r\n")
            #expect(server.journal.progress == .ready)
            answer(server)
            #expect((server.journal.progress == .ready) == isKept)
        }
        // The first time all must be right before.
        let server = try ScriptedServer()
        server.greet()
        server.receive("PONG\r\n")
        #expect(server.journal.progress == .preparing)
    }

    @Test("an answer in words has a limit")
    func longAnswer() throws {
        let server = try ScriptedServer()
        server.greet()
        server.takeCreates()
        for (stream, more) in [("c.0", 1), ("c.1", 0)] {
            let info = server.info(of: stream)
            let blanks = NATSSettings.answerByteLimit - info.utf8.count + more
            server.answer(stream, info + String(repeating: " ", count: blanks))
        }
        #expect(server.journal.preparedStreams == [.snapshots])
    }

    // MARK: TLS

    @Test(
        "TLS begins behind INFO where either side wants it, and before CONNECT",
        arguments: [
            (#","tls_required":true"#, false), (#","tls_available":true"#, true),
            (#","tls_required":true"#, true),
        ])
    func tls(info: String, wants: Bool) throws {
        let server = try ScriptedServer { $0.wantsTLS = wants }
        server.greet(info)
        #expect(server.journal.progress == .awaitsTLS && server.sent() == [])
        server.journal.ping()
        #expect(server.sent() == [])
        server.journal.didStartTLS()
        #expect(server.journal.progress == .preparing)
        #expect(server.sent()[0].subject.contains(#""tls_required":true"#))
        server.journal.didStartTLS()
        #expect(server.sent() == [])
    }

    @Test("what comes in the clear behind INFO is not taken for what comes encrypted")
    func slippedIn() throws {
        let server = try ScriptedServer()
        server.receive(
            #"INFO {"version":"2.12.0","headers":true,"max_payload":2097152,"tls_required":true}"#
                + "\r\nPING\r\n")
        #expect(
            server.failure == "the NATS server sent bytes in the clear where TLS must begin")
    }

    // MARK: What cannot be used

    @Test("the oldest version and the smallest max_payload are taken, and what is below is not")
    func borders() throws {
        let needed = (1 << 20) + NATSSettings.headerByteCount
        for (version, maxPayload, isTaken) in [
            ("2.12.0", needed, true), ("2.11.99", needed, false), ("2.12.0", needed - 1, false),
        ] {
            let server = try ScriptedServer()
            server.greet(version: version, maxPayload: maxPayload)
            #expect((server.failure == nil) == isTaken, "\(version) \(maxPayload)")
        }
        // A server may be told other limits while it runs.
        let server = try ScriptedServer.ready()
        server.greet(maxPayload: needed)
        #expect(server.journal.progress == .ready && server.sent() == [])
        server.greet(maxPayload: needed - 1)
        #expect(server.failure?.hasPrefix("final: max_payload of the NATS server is ") == true)
    }

    static let greetings: [(info: String, failure: String)] = [
        (
            #"INFO {"version":"2.10.4","headers":true,"max_payload":2097152}"#,
            "final: the NATS server has version 2.10.4: update it to 2.12.0 or newer"
        ),
        (
            #"INFO {"version":"2.12.0","headers":true,"max_payload":1048576}"#,
            "final: max_payload of the NATS server is 1048576 bytes, and the largest entry needs "
                + "1048960: raise max_payload on all servers, or lower --max-body, --max-message or "
                + "--max-batch of all brokers"
        ),
        (
            #"INFO {"version":"2.12.0","headers":false,"max_payload":2097152}"#,
            "final: the NATS server takes no headers: remove no_header_support from its "
                + "configuration"
        ),
        (
            "HTTP/1.1 400 Bad Request",
            "the server does not begin with INFO: it is not a NATS server"
        ),
        ("PING", "the server does not begin with INFO: it is not a NATS server"),
        (
            "INFO {",
            "the NATS server sent what is not understood: JSON ends too early"
        ),
        (
            "-ERR 'maximum connections exceeded'",
            "the NATS server ends the connection: maximum connections exceeded"
        ),
    ]

    @Test("a server that cannot be used is told by its greeting", arguments: greetings)
    func strangeGreeting(row: (info: String, failure: String)) throws {
        let server = try ScriptedServer()
        server.receive(row.info + "\r\n")
        #expect(server.failure == row.failure)
        #expect(server.sent() == [])
    }

    @Test("a server without TLS is not used where TLS is wanted")
    func withoutTLS() throws {
        let server = try ScriptedServer { $0.wantsTLS = true }
        server.greet()
        #expect(
            server.failure == "final: TLS is wanted and the NATS server does not offer it: "
                + "give it a certificate, or do without TLS")
    }

    static let refusals: [(line: String, failure: String?)] = [
        (
            "-ERR 'Authorization Violation'",
            "final: the NATS server does not let the broker in (Authorization Violation): "
                + "check user, password, token or certificate"
        ),
        (
            #"-ERR 'Permissions Violation for Publish to "belfry.prod.log"'"#,
            #"final: the NATS server does not permit what a broker needs (Permissions Violation "#
                + #"for Publish to "belfry.prod.log"): give its user these permissions"#
        ),
        ("-ERR 'Stale Connection'", "the NATS server ends the connection: Stale Connection"),
        ("-ERR 'Invalid Subject'", nil),
        (
            "HMSG a 1 5 4\r\n",
            "the NATS server sent what is not understood: "
                + "the arguments of an operation do not follow the grammar"
        ),
    ]

    @Test("what the server refuses ends the connection, and is told", arguments: refusals)
    func refusal(row: (line: String, failure: String?)) throws {
        let server = try ScriptedServer.ready()
        server.receive(row.line + "\r\n")
        #expect(server.failure == row.failure)
        if row.failure != nil {
            // Nothing is sent or taken any more.
            server.journal.read(after: 0)
            server.receive("PING\r\n")
            #expect(server.sent() == [])
        }
    }

    // MARK: Names

    @Test("names and numbers have limits")
    func names() throws {
        let long = String(repeating: "a", count: 64)
        for cluster in ["a", long, "A-9"] {
            #expect(throws: Never.self) {
                try ScriptedServer { $0 = NATSSettings(cluster: cluster, node: "n") }
            }
        }
        for cluster in ["", long + "a", "a.b", "a_b", "a b", "ä", "a>"] {
            #expect(throws: NATSFailure.invalidClusterName) {
                try ScriptedServer { $0 = NATSSettings(cluster: cluster, node: "n") }
            }
        }
        for node in ["", String(repeating: "n", count: 256), "a b", "a\r\n", "ä"] {
            #expect(throws: NATSFailure.invalidNodeName) {
                try ScriptedServer { $0 = NATSSettings(cluster: "c", node: node) }
            }
        }
        for shard in [0, 9] {
            #expect(throws: NATSFailure.invalidShard(shard, limit: 8)) {
                try ScriptedServer { $0 = NATSSettings(cluster: "c", shard: shard, node: "n") }
            }
        }
        #expect(throws: Never.self) {
            try ScriptedServer {
                $0 = NATSSettings(
                    cluster: "c", shard: 8, node: String(repeating: "n", count: 255))
            }
        }
    }

    @Test("a further shard has streams and subjects of its own")
    func shards() throws {
        let names = try NATSNames(NATSSettings(cluster: "prod", shard: 2, node: "n"))
        #expect(names.log.description == "BELFRY_prod_2")
        #expect(names.snapshots.description == "BELFRY_prod_2_SNAP")
        #expect(names.logSubject.description == "belfry.prod.2.log")
        #expect(names.wholeSubject.description == "belfry.prod.2.snap.whole")
    }
}
