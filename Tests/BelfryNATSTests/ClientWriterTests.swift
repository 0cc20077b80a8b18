import BelfryNATS
import Testing

@Suite("ClientWriter (NATS client protocol)")
struct ClientWriterTests {
    private func written(_ write: (inout [UInt8]) throws -> Void) rethrows -> String {
        var output = Array("before".utf8)
        try write(&output)
        return String(text(output).dropFirst(6))
    }

    @Test("PING, PONG, SUB and UNSUB are lines")
    func lines() throws {
        let inbox = try Subject(pattern: "_INBOX.a.*")
        #expect(written { ClientWriter.appendPing(to: &$0) } == "PING\r\n")
        #expect(written { ClientWriter.appendPong(to: &$0) } == "PONG\r\n")
        #expect(
            written { ClientWriter.appendSubscribe(to: inbox, sid: 9, to: &$0) }
                == "SUB _INBOX.a.* 9\r\n")
        #expect(written { ClientWriter.appendUnsubscribe(sid: 9, to: &$0) } == "UNSUB 9\r\n")
        #expect(
            written { ClientWriter.appendUnsubscribe(sid: 9, max: 2, to: &$0) } == "UNSUB 9 2\r\n")
    }

    @Test("PUB tells the size of the payload, HPUB that of the headers and of both")
    func publish() throws {
        let (subject, inbox) = (try Subject("a.b"), try Subject("_INBOX.a.1"))
        var headers = HeaderBlock()
        try headers.append(.msgID, Array("n1.1.1".utf8))
        let payload = "a\r\nb".utf8.span
        #expect(
            written { ClientWriter.appendPublish(payload, to: subject, to: &$0) }
                == "PUB a.b 4\r\na\r\nb\r\n")
        #expect(
            written { ClientWriter.appendPublish(payload, to: subject, replyTo: inbox, to: &$0) }
                == "PUB a.b _INBOX.a.1 4\r\na\r\nb\r\n")
        #expect(
            written { ClientWriter.appendPublish("".utf8.span, to: subject, to: &$0) }
                == "PUB a.b 0\r\n\r\n")
        #expect(
            written {
                ClientWriter.appendPublish(
                    payload, to: subject, replyTo: inbox, headers: headers, to: &$0)
            }
                == "HPUB a.b _INBOX.a.1 33 37\r\nNATS/1.0\r\nNats-Msg-Id: n1.1.1\r\n\r\na\r\nb\r\n")
    }

    @Test("CONNECT has the options, and credentials as they are given")
    func connect() {
        var options = ConnectOptions(name: "belfry n1", version: "0.1.0")
        func line() -> String { written { ClientWriter.appendConnect(options, to: &$0) } }
        func expected(_ credentials: String, tls: Bool) -> String {
            #"CONNECT {"verbose":false,"pedantic":false,"tls_required":\#(tls),\#(credentials)"#
                + #""name":"belfry n1","lang":"swift","version":"0.1.0","protocol":1,"#
                + #""headers":true,"no_responders":true}"# + "\r\n"
        }
        #expect(line() == expected("", tls: false))
        options.tlsRequired = true
        options.credentials = .user("u", password: "p\"\r\nPUB")
        #expect(line() == expected(#""user":"u","pass":"p\"\r\nPUB","#, tls: true))
        options.credentials = .token("t")
        #expect(line() == expected(#""auth_token":"t","#, tls: true))
    }
}

@Suite("Subject and StreamName")
struct SubjectTests {
    static let good = ["a", "a.b", "$JS.API.STREAM.INFO.X", "ä.ö", "_INBOX.1-2", "a/b"]
    static let patterns = ["*", ">", "a.*", "a.*.b", "a.>", "*.*.>"]
    static let bad = [
        "", ".", "a.", ".a", "a..b", "a b", "a\tb", "a\r\nPING", "a\r", "a\n", "a\0", "a\u{7F}",
        "a*", "*a", "a.b>", ">.a", "**", "a.>.b",
    ]

    @Test("a subject is tokens with dots between them", arguments: good)
    func subject(text: String) throws {
        #expect(try Subject(text).description == text)
        #expect(try !Subject(pattern: text).isPattern)
    }

    @Test("wildcards are whole tokens, and in patterns alone", arguments: patterns)
    func pattern(text: String) throws {
        #expect(try Subject(pattern: text).isPattern)
        #expect(throws: NATSError.invalidSubject) { try Subject(text) }
    }

    @Test("nothing can be slipped in by a subject", arguments: bad)
    func invalid(text: String) {
        #expect(throws: NATSError.invalidSubject) { try Subject(text) }
        #expect(throws: NATSError.invalidSubject) { try Subject(pattern: text) }
    }

    @Test("a subject has at most 1,024 bytes, the name of a stream 255")
    func limits() throws {
        func letters(_ count: Int) -> String { String(repeating: "a", count: count) }
        #expect(try Subject(letters(1_024)).bytes.count == 1_024)
        #expect(throws: NATSError.subjectTooLong(limit: 1_024)) { try Subject(letters(1_025)) }
        #expect(try StreamName(letters(255)).bytes.count == 255)
        #expect(throws: NATSError.invalidStreamName) { try StreamName(letters(256)) }
    }

    @Test("the name of a stream is one token", arguments: bad + patterns + ["a.b", "a/b", "a\\b"])
    func streamNames(text: String) throws {
        #expect(throws: NATSError.invalidStreamName) { try StreamName(text) }
        #expect(try StreamName("BELFRY_prod").description == "BELFRY_prod")
    }
}
