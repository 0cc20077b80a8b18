import BelfryWebSocket
import Testing

@Suite("FrameWriter (RFC 6455 §5.2)")
struct FrameWriterTests {
    static let hello = Array("Hello".utf8)
    static let key = MaskingKey([0x37, 0xFA, 0x21, 0x3D])
    static let counts = [0, 1, 2, 3, 4, 5, 124, 125, 126, 127, 65_535, 65_536]

    @Test("the samples of RFC 6455 §5.7 are written")
    func samples() {
        var buffer: [UInt8] = []
        FrameWriter.append(.text, payload: Self.hello.span, to: &buffer)
        #expect(buffer == [0x81, 0x05, 0x48, 0x65, 0x6C, 0x6C, 0x6F])
        buffer = []
        FrameWriter.append(.text, payload: Self.hello.span, maskingKey: Self.key, to: &buffer)
        #expect(
            buffer == [0x81, 0x85, 0x37, 0xFA, 0x21, 0x3D, 0x7F, 0x9F, 0x4D, 0x51, 0x58])
        buffer = []
        FrameWriter.append(.text, payload: [0x48, 0x65, 0x6C].span, isFinal: false, to: &buffer)
        FrameWriter.append(.continuation, payload: [0x6C, 0x6F].span, to: &buffer)
        #expect(buffer == [0x01, 0x03, 0x48, 0x65, 0x6C, 0x80, 0x02, 0x6C, 0x6F])
        for (count, header) in [(256, [0x82, 0x7E, 1, 0]), (65_536, [0x82, 0x7F, 0, 0, 0, 0])] {
            buffer = []
            FrameWriter.append(
                .binary, payload: [UInt8](repeating: 0, count: count).span, to: &buffer)
            #expect(Array(buffer.prefix(header.count)) == header.map { UInt8($0) })
        }
    }

    @Test("what a server writes, a client reads", arguments: counts)
    func serverToClient(count: Int) {
        let payload = [UInt8](repeating: 0x61, count: count)
        var buffer: [UInt8] = []
        FrameWriter.append(.text, payload: payload.span, to: &buffer)
        let short = Array(payload.prefix(125))
        FrameWriter.append(.pong, payload: short.span, to: &buffer)
        let reading = Reading.ofAllSplits(buffer, role: .client)
        #expect(
            reading?.seen == [
                Seen(event: .text, bytes: payload),
                Seen(event: .pong, bytes: short),
            ])
    }

    @Test("what a client writes, a server reads", arguments: counts)
    func clientToServer(count: Int) {
        var generator = SplitMix(state: UInt64(count))
        let payload = (0..<count).map { UInt8(truncatingIfNeeded: $0) }
        var buffer: [UInt8] = []
        let short = Array(payload.prefix(125))
        for (opcode, bytes) in [(Opcode.binary, payload), (.ping, short)] {
            FrameWriter.append(
                opcode, payload: bytes.span, maskingKey: MaskingKey(using: &generator), to: &buffer)
        }
        let reading = Reading.ofAllSplits(buffer, role: .server)
        #expect(
            reading?.seen == [
                Seen(event: .binary, bytes: payload),
                Seen(event: .ping, bytes: short),
            ])
    }

    @Test("a frame that is written in place is the same as one that is appended", arguments: counts)
    func inPlace(count: Int) {
        let payload = [UInt8](repeating: 0x61, count: count)
        var expected: [UInt8] = []
        FrameWriter.append(.text, payload: payload.span, to: &expected)
        var buffer: [UInt8] = [1, 2, 3]
        let frame = FrameWriter.beginFrame(in: &buffer)
        #expect(frame.payloadStart == buffer.count)
        buffer += payload
        let range = FrameWriter.endFrame(frame, .text, in: &buffer)
        #expect(Array(buffer[range]) == expected)
        #expect(range == 3..<buffer.count)
        #expect(Array(buffer.prefix(3)) == [1, 2, 3])
    }

    @Test("a Close carries no payload, a code, or a code and a reason (§5.5.1)")
    func close() {
        var buffer: [UInt8] = []
        FrameWriter.appendClose(nil, to: &buffer)
        #expect(buffer == [0x88, 0])
        buffer = []
        FrameWriter.appendClose(.tooSlow, to: &buffer)
        #expect(buffer == [0x88, 2, 0x0F, 0xA8])
        buffer = []
        let reason = [UInt8](repeating: 0x61, count: 123)
        FrameWriter.appendClose(.goingAway, reason: reason, maskingKey: Self.key, to: &buffer)
        #expect(
            Reading.ofAllSplits(buffer)?.seen == [
                Seen(event: .close(code: .goingAway), bytes: reason)
            ])
    }

    @Test("what may not be sent stops the program")
    func preconditions() async {
        await #expect(processExitsWith: .failure) {
            var buffer: [UInt8] = []
            FrameWriter.append(.ping, payload: [UInt8](repeating: 0, count: 126).span, to: &buffer)
        }
        await #expect(processExitsWith: .failure) {
            var buffer: [UInt8] = []
            FrameWriter.appendClose(.noStatusReceived, to: &buffer)
        }
    }
}
