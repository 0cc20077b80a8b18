import BelfryJSON
import BelfryNATS
import Testing

@Suite("ServerParser (NATS client protocol)")
struct ServerParserTests {
    static let inputs: [(input: String, lines: [String])] = [
        ("PING\r\nPONG\r\n+OK\r\n", ["ping", "pong", "ok"]),
        ("ping\r\nPong\r\n+ok \r\n", ["ping", "pong", "ok"]),
        (#"INFO {"version":"2.12.0","max_payload":1} "# + "\r\n", ["info 2.12.0"]),
        ("INFO\t{\"version\":\"2.12.0\",\"max_payload\":1}\r\n", ["info 2.12.0"]),
        ("MSG a.b 7 5\r\nhello\r\n", ["a.b|7|-||hello"]),
        ("MSG a.b 7 reply 0\r\n\r\nPING\r\n", ["a.b|7|reply||", "ping"]),
        ("msg  a.b\t7  4 \r\n\r\n\r\n\r\n", ["a.b|7|-||\r\n\r\n"]),
        ("HMSG a 1 12 14\r\nNATS/1.0\r\n\r\nhi\r\n", ["a|1|-|NATS/1.0\r\n\r\n|hi"]),
        ("HMSG a 1 r 12 12\r\nNATS/1.0\r\n\r\n\r\n", ["a|1|r|NATS/1.0\r\n\r\n|"]),
        ("HMSG a 1 0 2\r\nhi\r\n", ["a|1|-||hi"]),
        ("MSG a 18446744073709551615 0\r\n\r\n", ["a|18446744073709551615|-||"]),
        ("-ERR 'Invalid Subject'\r\n", ["error Invalid Subject true"]),
        ("-ERR 'Invalid Publish Subject'\r\n", ["error Invalid Publish Subject true"]),
        (
            "-ERR 'Permissions Violation for Publish to \"a\"'\r\n",
            ["error Permissions Violation for Publish to \"a\" true"]
        ),
        ("-ERR 'Authorization Violation'\r\n", ["error Authorization Violation false"]),
        ("-ERR\r\n-ERR '\r\n-ERR x\r\n", ["error  false", "error ' false", "error x false"]),
        ("PIN", ["waiting"]),
        ("PING\r", ["waiting"]),
        ("MSG a 1 2\r\n", ["waiting"]),
        ("MSG a 1 2\r\nhi", ["waiting"]),
        ("MSG a 1 2\r\nhi\r", ["waiting"]),
        ("", []),
    ]

    @Test("an input gives the same events for all cuts", arguments: inputs, Cut.allCases)
    func events(_ input: (input: String, lines: [String]), cut: Cut) {
        #expect(Transcript(of: input.input, cut: cut).lines == input.lines)
    }

    static let faults: [(input: String, error: NATSError)] = [
        ("\r\n", .unknownOperation), ("SUB a 1\r\n", .unknownOperation),
        (" PING\r\n", .unknownOperation), ("PINGS\r\n", .unknownOperation),
        ("\u{B}ok\r\n", .unknownOperation),
        ("PING x\r\n", .malformedArguments), ("+OK x\r\n", .malformedArguments),
        ("PING\n", .invalidLineEnd), ("PING\rX", .invalidLineEnd), ("\n", .invalidLineEnd),
        ("MSG a 1 2\r\nhix", .invalidLineEnd), ("MSG a 1 2\r\nhi\n", .invalidLineEnd),
        ("MSG a 1 2\r\nhi\rx", .invalidLineEnd),
        ("MSG a 1\r\n", .malformedArguments), ("MSG a 1 r 2 3\r\n", .malformedArguments),
        ("MSG a x 2\r\n", .malformedArguments), ("MSG a 1 -2\r\n", .malformedArguments),
        ("MSG a 1 99999999999999999999\r\n", .malformedArguments),
        ("MSG a 1 9223372036854775808\r\n", .malformedArguments),
        ("HMSG a 1 2\r\n", .malformedArguments), ("HMSG a 1 5 4\r\n", .malformedArguments),
        ("HMSG a 1 r s 4 5\r\n", .malformedArguments), ("HMSG a 1 x 5\r\n", .malformedArguments),
        ("INFO\r\n", .malformedJSON(.unexpectedEnd)),
        ("INFO []\r\n", .malformedJSON(.wrongKind(expected: .object, found: .array, at: 0))),
        ("INFO {} x\r\n", .malformedJSON(.trailingBytes(at: 3))),
        (#"INFO {"version":"2.12.0"}"# + "\r\n", .unexpectedMember("max_payload")),
    ]

    @Test("a fault is the same for all cuts", arguments: faults, Cut.allCases)
    func fault(_ fault: (input: String, error: NATSError), cut: Cut) {
        #expect(Transcript(of: fault.input, cut: cut).lines == ["\(fault.error)"])
        #expect(Transcript(of: fault.input, cut: cut).error == fault.error)
        #expect(Transcript(of: "PING\r\n" + fault.input, cut: cut).events == [.ping])
    }

    @Test("after a fault nothing is read, and the same error comes again")
    func failed() throws {
        var parser = ServerParser(limits: NATSLimits(payloadByteLimit: 8))
        for input in ["x\r\n", "PING\r\n"] {
            var cursor = 0
            #expect(throws: NATSError.unknownOperation) {
                try parser.nextEvent(in: input.utf8.span, at: &cursor)
            }
        }
        #expect(!parser.isBetweenEvents)
    }

    static let small: NATSLimits = {
        var limits = NATSLimits(payloadByteLimit: 4)
        limits.controlLineByteLimit = 20
        limits.infoByteLimit = 40
        limits.headerByteLimit = 12
        return limits
    }()

    static let limits: [(fits: String, exceeds: String, error: NATSError)] = [
        (
            "-ERR '2345678901234'\r\n", "-ERR '23456789012345'\r\n", .controlLineTooLong(limit: 20)
        ),
        ("MSG 678901234567 1 4\r\n", "MSG 6789012345678 1 4\r\n", .controlLineTooLong(limit: 20)),
        ("PING                \r", "PING                 ", .controlLineTooLong(limit: 20)),
        ("INFOS              \r", "INFOS                ", .controlLineTooLong(limit: 20)),
        (
            #"INFO {"version":"2.12","max_payload":1 }"# + "\r\n",
            #"INFO {"version":"2.12","max_payload":1  }"#, .infoTooLong(limit: 40)
        ),
        (
            "HMSG a 1 12 12\r\nNATS/1.0\r\n\r\n\r\n", "HMSG a 1 13 13\r\n",
            .headersTooLarge(byteCount: 13, limit: 12)
        ),
        ("MSG a 1 4\r\n1234\r\n", "MSG a 1 5\r\n", .payloadTooLarge(byteCount: 5, limit: 4)),
        (
            "HMSG a 1 12 16\r\nNATS/1.0\r\n\r\n1234\r\n", "HMSG a 1 12 17\r\n",
            .payloadTooLarge(byteCount: 5, limit: 4)
        ),
    ]

    @Test("the input at a limit passes, one past it does not", arguments: limits, Cut.allCases)
    func limit(_ limit: (fits: String, exceeds: String, error: NATSError), cut: Cut) {
        #expect(Transcript(of: limit.fits, cut: cut, limits: Self.small).error == nil)
        #expect(Transcript(of: limit.exceeds, cut: cut, limits: Self.small).error == limit.error)
    }

    @Test("the default of a control line is 4,096 bytes, of an INFO 32,768, of headers 8,192")
    func defaults() {
        func line(_ start: String, _ count: Int) -> String {
            start + String(repeating: "x", count: count - start.utf8.count) + "\r\n"
        }
        #expect(Transcript(of: line("-ERR ", 4_096)).events.count == 1)
        #expect(Transcript(of: line("-ERR ", 4_097)).error == .controlLineTooLong(limit: 4_096))
        let info = #"INFO {"version":"2.12.0","max_payload":1}"#
        let blanks = String(repeating: " ", count: 32_768 - info.utf8.count)
        #expect(Transcript(of: info + blanks + "\r\n").events.count == 1)
        #expect(Transcript(of: info + blanks + " \r\n").error == .infoTooLong(limit: 32_768))
        #expect(Transcript(of: "HMSG a 1 8192 8192\r\n").error == nil)
        #expect(
            Transcript(of: "HMSG a 1 8193 8193\r\n").error
                == .headersTooLarge(byteCount: 8_193, limit: 8_192))
    }

    @Test("a whole conversation with a server is read, however it is cut", arguments: Cut.allCases)
    func conversation(cut: Cut) {
        let input =
            Captured.info + "PONG\r\n" + Captured.republished + Captured.acknowledged
            + Captured.batch + "PING\r\n"
        let transcript = Transcript(of: input, cut: cut)
        #expect(transcript.error == nil && transcript.isBetweenEvents)
        #expect(transcript.messages.count == 5)
        #expect(transcript.events.last == .ping)
        #expect(transcript == Transcript(of: input))
    }
}
