import BelfryWebSocket
import Testing

@Suite("MessageReader (RFC 6455 §5)")
struct MessageReaderTests {
    static let hello = Array("Hello".utf8)

    @Test("the samples of RFC 6455 §5.7 are read")
    func samples() {
        let single = Seen(event: .text, bytes: Self.hello)
        let unmasked: [UInt8] = [0x81, 0x05, 0x48, 0x65, 0x6C, 0x6C, 0x6F]
        #expect(Reading.ofAllSplits(unmasked, role: .client)?.seen == [single])
        let masked: [UInt8] = [
            0x81, 0x85, 0x37, 0xFA, 0x21, 0x3D, 0x7F, 0x9F, 0x4D, 0x51, 0x58,
        ]
        #expect(Reading.ofAllSplits(masked)?.seen == [single])
        let fragments: [UInt8] = [0x01, 0x03, 0x48, 0x65, 0x6C, 0x80, 0x02, 0x6C, 0x6F]
        #expect(Reading.ofAllSplits(fragments, role: .client)?.seen == [single])
        let ping: [UInt8] = [0x89, 0x05, 0x48, 0x65, 0x6C, 0x6C, 0x6F]
        #expect(
            Reading.ofAllSplits(ping, role: .client)?.seen == [
                Seen(event: .ping, bytes: Self.hello)
            ])
        let pong: [UInt8] = [
            0x8A, 0x85, 0x37, 0xFA, 0x21, 0x3D, 0x7F, 0x9F, 0x4D, 0x51, 0x58,
        ]
        #expect(Reading.ofAllSplits(pong)?.seen == [Seen(event: .pong, bytes: Self.hello)])
    }

    @Test(
        "payloads of every length form come through",
        arguments: [0, 1, 3, 4, 5, 125, 126, 127, 128, 65_535, 65_536])
    func lengths(count: Int) {
        let payload = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        let bytes = frame(2, payload) + text("x")
        #expect(
            Reading.ofAllSplits(bytes)?.seen == [
                Seen(event: .binary, bytes: payload), Seen(event: .text, bytes: [0x78]),
            ])
    }

    @Test("control frames stand between fragments, and each keeps its own bytes")
    func interleaved() {
        let bytes =
            text("a€", isFinal: false) + frame(9, [1, 2])
            + frame(0, Array("b".utf8), isFinal: false)
            + frame(10) + frame(0) + frame(9, [3])
        let reading = Reading.ofAllSplits(bytes)
        #expect(
            reading?.seen == [
                Seen(event: .ping, bytes: [1, 2]), Seen(event: .pong),
                Seen(event: .text, bytes: Array("a€b".utf8)), Seen(event: .ping, bytes: [3]),
            ])
        #expect(reading?.error == nil)
        #expect(reading?.isBetweenMessages == true)
    }

    @Test(
        "an unfinished part keeps the reader from being between messages",
        arguments: [
            (Array(text("ab").prefix(1)), false), (Array(text("ab").prefix(6)), false),
            (Array(text("ab").prefix(7)), false), (text("ab"), true),
            (text("ab", isFinal: false), false), (frame(9), true),
            (text("ab", isFinal: false) + frame(9), false), (frame(8), false),
        ] as [([UInt8], Bool)])
    func betweenMessages(bytes: [UInt8], expected: Bool) {
        #expect(Reading.ofAllSplits(bytes)?.isBetweenMessages == expected)
    }

    @Test("a good message before a fault is reported first, and nothing after it")
    func faultLast() {
        let bytes = text("good") + frame(3) + text("never")
        let reading = Reading.ofAllSplits(bytes)
        #expect(reading?.seen == [Seen(event: .text, bytes: Array("good".utf8))])
        #expect(reading?.error == .unknownOpcode(3))
        #expect(reading?.isBetweenMessages == false)
    }

    @Test("what follows a Close frame is ignored")
    func afterClose() {
        let reading = Reading.ofAllSplits(frame(8, [3, 0xE8]) + frame(3) + text("x"))
        #expect(reading?.seen == [Seen(event: .close(code: .normalClosure))])
        #expect(reading?.error == nil)
    }

    @Test("a server demands masks and a client refuses them (§5.1)")
    func masks() {
        let unmasked = RawFrame(opcode: 1, key: nil).bytes
        #expect(Reading.ofAllSplits(unmasked, role: .server)?.error == .missingMask)
        #expect(Reading.ofAllSplits(unmasked, role: .client)?.error == nil)
        #expect(Reading.ofAllSplits(text("a"), role: .client)?.error == .unexpectedMask)
    }

    @Test("reserved bits are refused (§5.2)", arguments: 1...7 as ClosedRange<UInt8>)
    func reservedBits(bits: UInt8) {
        let bytes = RawFrame(opcode: 1, reserved: bits).bytes
        #expect(Reading.ofAllSplits(bytes)?.error == .reservedBits(bits))
    }

    @Test("reserved opcodes are refused (§5.2)", arguments: [3, 4, 5, 6, 7, 11, 12, 13, 14, 15])
    func unknownOpcodes(opcode: UInt8) {
        #expect(Reading.ofAllSplits(frame(opcode))?.error == .unknownOpcode(opcode))
    }

    @Test("a control frame is final and has at most 125 bytes (§5.5)", arguments: [8, 9, 10])
    func controlFrames(opcode: UInt8) {
        let unfinished = frame(opcode, isFinal: false)
        #expect(Reading.ofAllSplits(unfinished)?.error == .fragmentedControlFrame)
        let payload = [3, 0xE8] + [UInt8](repeating: 65, count: 124)
        #expect(Reading.ofAllSplits(frame(opcode, Array(payload.prefix(125))))?.error == nil)
        #expect(Reading.ofAllSplits(frame(opcode, payload))?.error == .controlFrameTooLong)
    }

    @Test(
        "a length that is not minimal is refused (§5.2)",
        arguments: [
            ([126, 0, 125], .lengthNotMinimal(byteCount: 125)), ([126, 0, 126], nil),
            ([127, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF], .lengthNotMinimal(byteCount: 65_535)),
            ([127, 0, 0, 0, 0, 0, 1, 0, 0], nil),
            ([127, 0x80, 0, 0, 0, 0, 0, 0, 0], .lengthOutOfRange),
            (
                [127, 0x7F, 255, 255, 255, 255, 255, 255, 255],
                .messageTooBig(byteCount: .max, limit: 1_048_576)
            ),
        ] as [([UInt8], WebSocketError?)])
    func lengthForms(length: [UInt8], error: WebSocketError?) {
        let bytes = RawFrame(opcode: 2, length: length).bytes
        #expect(Reading.ofAllSplits(bytes)?.error == error)
    }

    @Test("a continuation needs an open message, and a new message needs none (§5.4)")
    func fragmentOrder() {
        #expect(Reading.ofAllSplits(frame(0))?.error == .unexpectedContinuation)
        #expect(
            Reading.ofAllSplits(text("a") + frame(0))?.error == .unexpectedContinuation)
        let open = text("a", isFinal: false)
        #expect(Reading.ofAllSplits(open + text("b"))?.error == .missingContinuation)
        #expect(Reading.ofAllSplits(open + frame(2))?.error == .missingContinuation)
        #expect(Reading.ofAllSplits(open + frame(0) + text("b"))?.error == nil)
    }
}
