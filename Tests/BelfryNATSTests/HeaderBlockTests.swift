import BelfryNATS
import Testing

@Suite("HeaderBlock (NATS/1.0)")
struct HeaderBlockTests {
    static let statuses: [(line: String, status: HeaderStatus?, text: String)] = [
        ("NATS/1.0", nil, ""),
        ("NATS/1.0 100 Idle Heartbeat", .idle, "Idle Heartbeat"),
        ("NATS/1.0 204 EOB", .endOfBatch, "EOB"),
        ("NATS/1.0 404 Message Not Found", .notFound, "Message Not Found"),
        ("NATS/1.0 408  Empty Request ", .badRequest, "Empty Request"),
        ("NATS/1.0 503", .noResponders, ""),
        ("NATS/1.0 503 ", .noResponders, ""),
        ("NATS/1.0 999", HeaderStatus(rawValue: 999), ""),
    ]

    @Test("the first line may have a status and its description", arguments: statuses)
    func status(_ row: (line: String, status: HeaderStatus?, text: String)) throws {
        let block = try HeaderBlock(Array("\(row.line)\r\n\r\n".utf8))
        #expect(block.status == row.status)
        #expect(text(block.statusText) == row.text)
        #expect(text(block.bytes) == "\(row.line)\r\n\r\n")
    }

    @Test(
        "a block that breaks the grammar is refused",
        arguments: [
            "", "\r\n\r\n", "NATS/1.0", "NATS/1.0\r\n", "NATS/1.0\n\n", "NATS/1.0\r\n\r",
            "NATS/1.0\r\n\r\nx", "NATS/1.0\r\n\r\n\r\n", "NATS/1.1\r\n\r\n", "nats/1.0\r\n\r\n",
            "NATS/1.0 \r\n\r\n", "NATS/1.0 50\r\n\r\n", "NATS/1.0 5000\r\n\r\n",
            "NATS/1.0 050\r\n\r\n", "NATS/1.0 5x3\r\n\r\n", "NATS/1.0  503\r\n\r\n",
            "NATS/1.0503\r\n\r\n", "NATS/1.0\r\nbad line\r\n\r\n", "NATS/1.0\r\n: a\r\n\r\n",
            "NATS/1.0\r\nA : b\r\n\r\n", "NATS/1.0\r\nA\r\n\r\n", "NATS/1.0\r\n A: b\r\n\r\n",
            "NATS/1.0\r\nA: b\rc\r\n\r\n", "NATS/1.0\r\nA: b\nc\r\n\r\n",
            "NATS/1.0\r\nA: b\0\r\n\r\n", "helNats-Stream: L\r\n\r\n",
        ])
    func malformed(block: String) {
        #expect(throws: NATSError.malformedHeaders) { try HeaderBlock(Array(block.utf8)) }
    }

    @Test("a value is found by its exact name, without the blanks around it")
    func values() throws {
        let block = try HeaderBlock(
            Array("NATS/1.0\r\nNats-Stream:\t a b \r\nnats-subject: x\r\nNats-Msg-Id:\r\n\r\n".utf8)
        )
        #expect(text(.stream, in: block) == "a b")
        #expect(text(.msgID, in: block) == "")
        #expect(text(.subject, in: block) == nil)
    }

    @Test("a field of the stream counts, not one of the same name that a publisher put before it")
    func repeated() throws {
        let block = try HeaderBlock(
            Array("NATS/1.0\r\nNats-Sequence: 77\r\nNats-Sequence: 102\r\n\r\n".utf8))
        #expect(try block.number(of: .sequence) == 102)
    }

    @Test(
        "a number is decimal digits that fit 64 bits",
        arguments: [
            ("0", 0), ("18446744073709551615", .max), ("18446744073709551616", nil), ("", nil),
            ("-1", nil), ("1 2", nil), ("x", nil), ("1:", nil), ("1/", nil),
        ] as [(String, UInt64?)])
    func numbers(value: String, number: UInt64?) throws {
        let block = try HeaderBlock(Array("NATS/1.0\r\nNats-Sequence: \(value)\r\n\r\n".utf8))
        if let number {
            #expect(try block.number(of: .sequence) == number)
        } else {
            #expect(throws: NATSError.invalidField(.sequence)) {
                try block.number(of: .sequence)
            }
        }
        #expect(try block.number(of: .numPending) == nil)
    }

    @Test("what is written is read again")
    func written() throws {
        var block = HeaderBlock()
        #expect(text(block.bytes) == "NATS/1.0\r\n\r\n")
        try block.append(.msgID, Array("n1.1.7".utf8))
        try block.append(.subject, Array("ü b".utf8))
        try block.append(.stream, [])
        #expect(
            text(block.bytes)
                == "NATS/1.0\r\nNats-Msg-Id: n1.1.7\r\nNats-Subject: ü b\r\nNats-Stream: \r\n\r\n")
        #expect(text(.msgID, in: block) == "n1.1.7")
        #expect(try HeaderBlock(block.bytes) == block)
    }

    @Test(
        "nothing can be slipped into a block by a value",
        arguments: ["a\r\nB: c", "a\rb", "a\nb", "a\0", "a\u{7F}", "a\tb", " a", "a ", "\r\n\r\n"])
    func injected(value: String) {
        var block = HeaderBlock()
        #expect(throws: NATSError.invalidFieldValue(.msgID)) {
            try block.append(.msgID, Array(value.utf8))
        }
        #expect(block == HeaderBlock())
    }

    @Test("a message without a block has no fields; one that is none harms nothing else")
    func messages() throws {
        let plain = try #require(Transcript(of: "MSG a 1 0\r\n\r\n").messages.first)
        #expect(try plain.headers() == HeaderBlock())
        let strange = Transcript(of: "HMSG a 1 5 6\r\nhello!\r\nPING\r\n")
        #expect(strange.error == nil && strange.events.count == 2)
        #expect(throws: NATSError.malformedHeaders) { try strange.messages.first?.headers() }
    }
}
