import BelfryWebSocket
import Testing

@Suite("MessageReader: limits and Close frames (RFC 6455 §5.5.1, §7.4, §10.4)")
struct MessageReaderLimitTests {
    static let limits = MessageLimits(messageByteLimit: 200, fragmentLimit: 3)

    @Test("a message at the limit is read, and one past it is refused at its header")
    func messageLimit() {
        let payload = [UInt8](repeating: 1, count: 200)
        let atLimit = Reading.ofAllSplits(frame(2, payload), limits: Self.limits)
        #expect(atLimit?.seen == [Seen(event: .binary, bytes: payload)])
        let header = Array(frame(2, payload + [1]).prefix(8))
        #expect(
            Reading.ofAllSplits(header, limits: Self.limits)?.error
                == .messageTooBig(byteCount: 201, limit: 200))
    }

    @Test("the fragments of a message count together", arguments: [(100, nil), (101, 201)])
    func sumOfFragments(second: Int, refused: Int?) {
        let bytes =
            frame(2, [UInt8](repeating: 1, count: 100), isFinal: false)
            + frame(0, [UInt8](repeating: 2, count: second))
        let error = Reading.ofAllSplits(bytes, limits: Self.limits)?.error
        #expect(error == refused.map { .messageTooBig(byteCount: $0, limit: 200) })
    }

    @Test("a sum that overflows is refused, too")
    func overflowingSum() {
        let huge = RawFrame(opcode: 0, length: [127, 0x7F] + [UInt8](repeating: 255, count: 7))
        let bytes = frame(2, [1], isFinal: false) + huge.bytes
        #expect(
            Reading.ofAllSplits(bytes, limits: Self.limits)?.error
                == .messageTooBig(byteCount: .max, limit: 200))
    }

    @Test("a message has at most as many frames as the limit; the next one counts anew")
    func fragmentLimit() {
        let three = frame(2, isFinal: false) + frame(0, isFinal: false) + frame(0)
        let reading = Reading.ofAllSplits(three + three, limits: Self.limits)
        #expect(reading?.seen == [Seen(event: .binary), Seen(event: .binary)])
        let four = frame(2, isFinal: false) + frame(0, isFinal: false) + frame(0, isFinal: false)
        #expect(
            Reading.ofAllSplits(four + frame(0), limits: Self.limits)?.error
                == .tooManyFragments(limit: 3))
    }

    @Test("a header alone makes the reader allocate nothing")
    func noAllocationAhead() throws {
        let header = Array(frame(2, [UInt8](repeating: 0, count: 1_000_000)).prefix(14))
        var reader = MessageReader(role: .server)
        var cursor = 0
        let event = try reader.nextEvent(in: header.span, at: &cursor)
        #expect(event == nil)
        #expect(reader.message.capacity == 0)
    }

    @Test("a message fills its storage again, but a big one gives it back")
    func storage() throws {
        var reader = MessageReader(role: .server)
        for (count, kept) in [(1_000_000, true), (1, false)] {
            var cursor = 0
            let bytes = frame(2, [UInt8](repeating: 0, count: count))
            _ = try reader.nextEvent(in: bytes.span, at: &cursor)
            #expect((reader.message.capacity > 65_536) == kept)
        }
    }

    @Test(
        "codes that may stand on the wire are taken (§7.4)",
        arguments: [
            1000, 1001, 1002, 1003, 1007, 1008, 1009, 1010, 1011, 1012, 1013, 1014, 3000, 3999,
            4000, 4999,
        ] as [UInt16])
    func validCode(code: UInt16) {
        let payload = [UInt8(code >> 8), UInt8(code & 0xFF)]
        let event = WebSocketEvent.close(code: CloseCode(rawValue: code))
        #expect(Reading.ofAllSplits(frame(8, payload))?.seen == [Seen(event: event)])
    }

    @Test(
        "codes that may not are refused (§7.4)",
        arguments: [
            0, 999, 1004, 1005, 1006, 1015, 1016, 1100, 2000, 2999, 5000, 65_535,
        ] as [UInt16])
    func invalidCode(code: UInt16) {
        let payload = [UInt8(code >> 8), UInt8(code & 0xFF)]
        #expect(
            Reading.ofAllSplits(frame(8, payload))?.error
                == .invalidCloseCode(CloseCode(rawValue: code)))
    }

    @Test("a Close has no payload, or a code and perhaps a reason (§5.5.1)")
    func closePayload() {
        #expect(Reading.ofAllSplits(frame(8))?.seen == [Seen(event: .close(code: nil))])
        #expect(Reading.ofAllSplits(frame(8, [3]))?.error == .truncatedCloseCode)
        let reason = Array("Grüße".utf8)
        #expect(
            Reading.ofAllSplits(frame(8, [3, 0xE8] + reason))?.seen
                == [Seen(event: .close(code: .normalClosure), bytes: reason)])
    }

    @Test("the reason of a Close is UTF-8 (§5.5.1)", arguments: [[0x61, 0xFF], [0x61, 0xC3]])
    func invalidReason(reason: [UInt8]) {
        let offset = reason[1] == 0xFF ? 1 : 2
        #expect(
            Reading.ofAllSplits(frame(8, [3, 0xE8] + reason))?.error
                == .invalidUTF8(byteOffset: offset))
    }

    @Test("a Close between the fragments of a message ends everything")
    func closeInside() {
        let reading = Reading.ofAllSplits(text("a", isFinal: false) + frame(8) + frame(0))
        #expect(reading?.seen == [Seen(event: .close(code: nil))])
    }

    @Test("each error has its close code (§7.4.1)")
    func closeCodes() {
        #expect(WebSocketError.missingMask.closeCode == .protocolError)
        #expect(WebSocketError.invalidUTF8(byteOffset: 0).closeCode == .invalidPayload)
        #expect(
            WebSocketError.messageTooBig(byteCount: 2, limit: 1).closeCode == .messageTooBig)
        #expect(WebSocketError.tooManyFragments(limit: 1).closeCode == .messageTooBig)
        #expect(CloseCode.takenOver.isValidOnWire && CloseCode.tooSlow.isValidOnWire)
    }
}
