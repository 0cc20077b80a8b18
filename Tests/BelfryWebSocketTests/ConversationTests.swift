import BelfryWebSocket
import Testing

@Suite("FrameWriter and MessageReader as twins")
struct ConversationTests {
    @Test("whatever one side writes, the other side reads in any pieces", arguments: 0..<40)
    func conversation(seed: UInt64) {
        for role in [Role.client, .server] {
            var writing = Conversation(generator: SplitMix(state: seed), reader: role)
            for _ in 0..<12 { writing.addMessage() }
            FrameWriter.appendClose(.goingAway, maskingKey: writing.key(), to: &writing.bytes)
            writing.expected.append(Seen(event: .close(code: .goingAway)))
            let reading = Reading.ofAllSplits(writing.bytes, role: role)
            #expect(reading?.seen == writing.expected)
            #expect(reading?.error == nil)
        }
    }

    @Test("one changed bit gives the same events or the same error in any pieces")
    func flippedBits() {
        var writing = Conversation(generator: SplitMix(state: 7), reader: .server)
        for _ in 0..<4 { writing.addMessage() }
        for index in writing.bytes.indices {
            var bytes = writing.bytes
            bytes[index] ^= 1 << UInt8(index % 8)
            #expect(Reading.ofAllSplits(bytes, limits: MessageLimits(fragmentLimit: 2)) != nil)
        }
    }

    @Test("noise gives the same events or the same error in any pieces", arguments: 0..<200)
    func noise(seed: UInt64) {
        var generator = SplitMix(state: seed)
        let bytes = (0..<100).map { _ in
            // Every other byte looks like the start of a frame, so that noise gets further.
            Bool.random(using: &generator)
                ? UInt8.random(in: .min ... .max, using: &generator)
                : [0x81, 0x01, 0x80, 0x89, 0x82, 0x84].randomElement(using: &generator) ?? 0
        }
        #expect(Reading.ofAllSplits(bytes) != nil)
        #expect(Reading.ofAllSplits(bytes, role: .client) != nil)
    }
}

/// Random messages in random fragments with pings between them, and what a reader must see.
struct Conversation {
    var generator: SplitMix
    let reader: Role
    var bytes: [UInt8] = []
    var expected: [Seen] = []

    mutating func key() -> MaskingKey? {
        switch reader {
        case .client: nil
        case .server: MaskingKey(using: &generator)
        }
    }

    mutating func addMessage() {
        let isText = Bool.random(using: &generator)
        let characters: [Character] = ["a", "{", "ß", "€", "😀", "\n"]
        let text = (0..<Int.random(in: 0...60, using: &generator)).map { _ in
            characters.randomElement(using: &generator) ?? "a"
        }
        let payload = Array(String(text).utf8)
        var opcode = isText ? Opcode.text : .binary
        var rest = payload[...]
        var isFinal = false
        while !isFinal {
            let fragment = Array(rest.prefix(Int.random(in: 0...50, using: &generator)))
            rest = rest.dropFirst(fragment.count)
            isFinal = rest.isEmpty
            FrameWriter.append(
                opcode, payload: fragment.span, isFinal: isFinal, maskingKey: key(), to: &bytes)
            opcode = .continuation
            if !isFinal { addPing() }
        }
        expected.append(Seen(event: isText ? .text : .binary, bytes: payload))
    }

    private mutating func addPing() {
        let payload = [UInt8.random(in: .min ... .max, using: &generator)]
        FrameWriter.append(.ping, payload: payload.span, maskingKey: key(), to: &bytes)
        expected.append(Seen(event: .ping, bytes: payload))
    }
}
