import BelfryWebSocket
import Testing

/// A compressed frame of a client.
func deflated(_ opcode: UInt8, _ payload: [UInt8], isFinal: Bool = true) -> [UInt8] {
    RawFrame(opcode: opcode, payload: payload, isFinal: isFinal, reserved: 4).bytes
}

/// A payload as the deflater makes it; it must become smaller.
func compress(_ payload: [UInt8], windowBitCount: Int = 15) throws -> [UInt8] {
    var compressed: [UInt8] = []
    let deflater = Deflater(windowBitCount: windowBitCount)
    let isAppended = deflater.append(payload.span, to: &compressed)
    try #require(isAppended)
    return compressed
}

/// Bytes that deflate cannot shorten.
func noise(_ count: Int, seed: UInt64 = 1) -> [UInt8] {
    var generator = SplitMix(state: seed)
    return (0..<count).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
}

/// A payload in blocks of deflate that hold it as it is (RFC 1951 §3.2.4).
func stored(_ payload: [UInt8]) -> [UInt8] {
    var blocks: [UInt8] = []
    var rest = payload[...]
    while !rest.isEmpty {
        let block = rest.prefix(0xFFFF)
        rest = rest.dropFirst(block.count)
        let (low, high) = (UInt8(block.count & 0xFF), UInt8(block.count >> 8))
        blocks += [0, low, high, ~low, ~high] + block
    }
    return blocks + [0]
}

@Suite("MessageReader: compressed messages (RFC 7692)")
struct DeflateTests {
    static func reading(
        _ bytes: [UInt8], limits: MessageLimits = MessageLimits()
    ) -> Reading? {
        Reading.ofAllSplits(bytes, limits: limits, inflates: true)
    }

    @Test(
        "the examples of §7.2.3 are Hello",
        arguments: [
            [0xF2, 0x48, 0xCD, 0xC9, 0xC9, 0x07, 0x00],
            [0x00, 0x05, 0x00, 0xFA, 0xFF, 0x48, 0x65, 0x6C, 0x6C, 0x6F, 0x00],
            [0xF3, 0x48, 0xCD, 0xC9, 0xC9, 0x07, 0x00, 0x00],
            [0xF2, 0x48, 0x05, 0x00, 0x00, 0x00, 0xFF, 0xFF, 0xCA, 0xC9, 0xC9, 0x07, 0x00],
        ] as [[UInt8]])
    func examples(payload: [UInt8]) {
        let hello = Seen(event: .text, bytes: Array("Hello".utf8))
        let one = Self.reading(deflated(1, payload))
        #expect(one?.seen == [hello])
        #expect(one?.isBetweenMessages == true)
        // The same in two fragments, RSV1 on the first alone (§6.1), and a plain message behind it.
        let two = deflated(1, Array(payload[..<3]), isFinal: false) + frame(0, Array(payload[3...]))
        #expect(Self.reading(two + text("Hello"))?.seen == [hello, hello])
    }

    @Test("an empty message is one byte, and no byte at all is taken for it, too (§7.2.3.6)")
    func empty() {
        #expect(Self.reading(deflated(1, [0]))?.seen == [Seen(event: .text)])
        #expect(Self.reading(deflated(2, []))?.seen == [Seen(event: .binary)])
    }

    @Test("the deflater makes the bytes of §7.2.3.1 out of a longer Hello, and they come back")
    func deflater() throws {
        let hello = Array("HelloHelloHelloHello".utf8)
        var frame: [UInt8] = []
        let deflater = Deflater()
        for _ in 0..<2 {
            frame = []
            let range = FrameWriter.append(.text, compressing: hello.span, by: deflater, to: &frame)
            let bytes = Array(frame[try #require(range)])
            // Nothing is taken over from the message before.
            #expect(bytes.prefix(6) == [0xC1, UInt8(bytes.count - 2), 0xF2, 0x48, 0xCD, 0xC9])
            let reading = Reading.ofAllSplits(bytes, role: .client, inflates: true)
            #expect(reading?.seen == [Seen(event: .text, bytes: hello)])
        }
    }

    @Test("what does not become smaller is not compressed, and leaves the buffer as it was")
    func incompressible() {
        let deflater = Deflater()
        for payload in [[], [1], Array("Hello".utf8), noise(100), noise(70_000)] {
            var buffer: [UInt8] = [1, 2, 3]
            let isAppended = deflater.append(payload.span, to: &buffer)
            #expect(!isAppended)
            let range = FrameWriter.append(
                .binary, compressing: payload.span, by: deflater, to: &buffer)
            #expect(range == nil)
            #expect(buffer == [1, 2, 3])
        }
    }

    @Test("messages of all sizes come back from each window", arguments: 9...15)
    func windows(windowBitCount: Int) throws {
        var bytes: [UInt8] = []
        var expected: [Seen] = []
        for count in [200, 300, 1_000, 5_000, 66_000] {
            // Text that repeats itself near and far, with something new in between.
            let words = noise(61, seed: UInt64(count)).map { "word" + String($0, radix: 16) }
            var text: [UInt8] = []
            var place = 0
            while text.count < count {
                text += Array(words[place % 61].utf8)
                place += 1
            }
            bytes += deflated(1, try compress(text, windowBitCount: windowBitCount))
            expected.append(Seen(event: .text, bytes: text))
        }
        #expect(Self.reading(bytes)?.seen == expected)
    }

    @Test("fragments, pings between them and bytes that deflate lengthens")
    func fragments() {
        let payload = noise(30_000)
        let compressed = stored(payload)
        var bytes: [UInt8] = []
        var rest = compressed[...]
        while !rest.isEmpty {
            let fragment = Array(rest.prefix(997))
            rest = rest.dropFirst(fragment.count)
            let isFirst = bytes.isEmpty
            bytes +=
                isFirst
                ? deflated(2, fragment, isFinal: rest.isEmpty)
                : frame(0, fragment, isFinal: rest.isEmpty)
            bytes += frame(9, [1])
        }
        let seen = Self.reading(bytes)?.seen ?? []
        #expect(seen.filter { $0.event == .binary } == [Seen(event: .binary, bytes: payload)])
        #expect(seen.count { $0.event == .ping } == (compressed.count + 996) / 997)
    }

    @Test("a last block may be followed by more, which may refer to what came before it")
    func lastBlocks() {
        // "Hello" in a last block, then the second message of §7.2.3.2, which repeats it.
        let payload: [UInt8] = [0xF3, 0x48, 0xCD, 0xC9, 0xC9, 0x07, 0, 0xF2, 0, 0x11, 0, 0]
        #expect(
            Self.reading(deflated(1, payload))?.seen
                == [Seen(event: .text, bytes: Array("HelloHello".utf8))])
        let many = [UInt8](repeating: 3, count: 1) + [0]
        let row = Array(repeatElement(many, count: 2_000).joined()) + [0]
        #expect(Self.reading(deflated(2, row))?.seen == [Seen(event: .binary)])
    }

    // MARK: What is refused

    @Test("RSV1 stands on the first frame of a message alone, and needs an agreement (§6)")
    func reservedBit() {
        #expect(Reading.ofAllSplits(deflated(1, [0]))?.error == .reservedBits(4))
        let first = deflated(1, [0xF2, 0x48, 0xCD], isFinal: false)
        #expect(Self.reading(first + deflated(0, [0xC9]))?.error == .reservedBits(4))
        #expect(Self.reading(text("a", isFinal: false) + deflated(0, [0]))?.error != nil)
        for opcode: UInt8 in [8, 9, 10] {
            #expect(Self.reading(deflated(opcode, []))?.error == .reservedBits(4))
        }
        for reserved: UInt8 in [1, 2, 3, 5, 6, 7] {
            let bytes = RawFrame(opcode: 1, payload: [0], reserved: reserved).bytes
            #expect(Self.reading(bytes)?.error == .reservedBits(reserved))
        }
        #expect(Self.reading(deflated(3, []))?.error == .reservedBits(4))
        #expect(WebSocketError.reservedBits(4).closeCode == .protocolError)
    }

    @Test(
        "what is no deflate is refused with 1007",
        arguments: [
            [0xFF], [0x07, 0x12], [0x01, 0x01, 0x00, 0x00, 0x00],  // kinds, and a length
            [0xF2, 0x00, 0x11, 0x00, 0x00],  // refers to a message before (§7.2.3.2)
            [0xF2, 0x48], [0x00, 0x09, 0x00, 0xF6, 0xFF, 0x48],  // ends inside a block
        ] as [[UInt8]])
    func invalid(payload: [UInt8]) {
        #expect(Self.reading(deflated(2, payload))?.error == .invalidDeflate)
        let good = deflated(1, [0xF2, 0x48, 0xCD, 0xC9, 0xC9, 0x07, 0x00])
        let reading = Self.reading(good + deflated(2, payload) + good)
        #expect(reading?.seen.count == 1)
        #expect(reading?.error?.closeCode == .invalidPayload)
    }

    @Test("text is UTF-8 after inflation: the first fault is told, wherever it is")
    func utf8() throws {
        for (last, offset) in [(0xFF, 1), (0xC3, 2)] as [(UInt8, Int)] {
            #expect(
                Self.reading(deflated(1, stored([0x61, last])))?.error
                    == .invalidUTF8(byteOffset: offset))
        }
        #expect(Self.reading(deflated(2, stored([0x61, 0xFF])))?.error == nil)
        // A character that lies across two pieces of output.
        let long = [UInt8](repeating: 0x61, count: 16_383) + Array("€".utf8)
        #expect(Self.reading(deflated(1, try compress(long)))?.seen.first?.bytes == long)
        var bad = [UInt8](repeating: 0x61, count: 40_000)
        bad[39_000] = 0x80
        #expect(
            Self.reading(deflated(1, try compress(bad)))?.error == .invalidUTF8(byteOffset: 39_000))
    }

    // MARK: Limits

    static let limits = MessageLimits(messageByteLimit: 20_000, fragmentLimit: 3)

    @Test("the limit counts inflated bytes: at it a message is read, one past it is refused")
    func limit() throws {
        let full = [UInt8](repeating: 7, count: 20_000)
        #expect(
            Self.reading(deflated(2, try compress(full)), limits: Self.limits)?.seen
                == [Seen(event: .binary, bytes: full)])
        #expect(
            Self.reading(deflated(2, try compress(full + [7])), limits: Self.limits)?.error
                == .messageTooBig(byteCount: 20_001, limit: 20_000))
        // A payload that cannot be compressed may be a little longer on the wire.
        let dense = noise(20_000)
        #expect(
            Self.reading(deflated(2, stored(dense)), limits: Self.limits)?.seen.first?.bytes
                == dense)
    }

    @Test("compressed bytes have a limit of their own, which is told by the header")
    func compressedLimit() {
        // 22,564 bytes that become nothing: empty blocks.
        let blocks = Array(repeatElement([0, 0, 0, 0xFF, 0xFF] as [UInt8], count: 5_000).joined())
        let atLimit = deflated(2, blocks.prefix(22_555) + [3, 0, 3, 0, 3, 0, 3, 0, 0])
        #expect(Self.reading(atLimit, limits: Self.limits)?.seen == [Seen(event: .binary)])
        let header = Array(deflated(2, Array(blocks.prefix(22_565))).prefix(8))
        #expect(
            Self.reading(header, limits: Self.limits)?.error
                == .messageTooBig(byteCount: 22_565, limit: 22_564))
    }

    @Test("a fault in the text comes before a limit behind it, in whatever pieces")
    func order() throws {
        var payload = [UInt8](repeating: 0x61, count: 100_000)
        payload[19_000] = 0xFF
        #expect(
            Self.reading(deflated(1, try compress(payload)), limits: Self.limits)?.error
                == .invalidUTF8(byteOffset: 19_000))
    }

    @Test("a bomb is found before its end, and nothing of it is kept")
    func bomb() throws {
        let zeros = [UInt8](repeating: 0, count: 4 << 20)
        let encoded = GzipEncoder().encode(zeros.span)
        // Between the header and the checksums of gzip.
        let bomb = Array(try #require(encoded).dropFirst(10).dropLast(8)) + [0]
        #expect(bomb.count < 4_200)
        var reader = MessageReader(role: .server, inflater: Inflater())
        // The header announces more than ever arrives.
        let bytes = Array(deflated(2, bomb, isFinal: false))
        var cursor = 0
        #expect(throws: WebSocketError.messageTooBig(byteCount: 1_048_577, limit: 1_048_576)) {
            _ = try reader.nextEvent(in: Array(bytes.prefix(2_100)).span, at: &cursor)
        }
        #expect(reader.message.capacity == 0)
    }

    @Test("an unfinished message holds what was sent of it, and not what it would become")
    func unfinished() throws {
        let compressed = try compress([UInt8](repeating: 0, count: 1_000_000))
        var reader = MessageReader(role: .server, inflater: Inflater())
        let bytes = deflated(2, compressed)
        var cursor = 0
        let early = try reader.nextEvent(in: Array(bytes.dropLast()).span, at: &cursor)
        #expect(early == nil)
        #expect(reader.message.capacity == 0)
        cursor = 0
        let event = try reader.nextEvent(in: Array(bytes.suffix(1)).span, at: &cursor)
        #expect(event == .binary)
        #expect(reader.message.count == 1_000_000)
    }

    @Test("readers that share an inflater do not disturb each other")
    func sharing() throws {
        let inflater = Inflater()
        let payloads = (0..<3).map { noise(3_000, seed: UInt64($0)).map { $0 & 7 } }
        let inputs = try payloads.map { deflated(2, try compress($0)) }
        var readers = inputs.map { _ in MessageReader(role: .server, inflater: inflater) }
        for position in 0..<(inputs.map(\.count).max() ?? 0) {
            for index in readers.indices where position < inputs[index].count {
                var cursor = 0
                let event = try readers[index].nextEvent(
                    in: [inputs[index][position]].span, at: &cursor)
                #expect((event == .binary) == (position == inputs[index].count - 1))
            }
        }
        #expect(readers.map(\.message) == payloads)
    }

    @Test("one changed bit gives the same events or the same error in any pieces")
    func flippedBits() throws {
        let text = Array("Grüße, Grüße, und noch einmal viele Grüße an alle!".utf8)
        let compressed = try compress(text)
        let whole =
            deflated(1, Array(compressed[..<9]), isFinal: false) + frame(9, [1])
            + frame(0, Array(compressed[9...])) + deflated(1, compressed)
        for index in whole.indices {
            var bytes = whole
            bytes[index] ^= 1 << UInt8(index % 8)
            let limits = MessageLimits(messageByteLimit: 100, fragmentLimit: 2)
            #expect(Self.reading(bytes, limits: limits) != nil)
        }
    }

    @Test("noise gives the same events or the same error in any pieces", arguments: 0..<60)
    func noises(seed: UInt64) {
        var payload = noise(3_000, seed: seed)
        payload[0] = [0, 2, 4, 0xF2][Int(seed / 2 % 4)]
        let bytes =
            deflated(seed % 2 == 0 ? 1 : 2, Array(payload[..<1_500]), isFinal: false)
            + frame(9, [1]) + frame(0, Array(payload[1_500...]))
        #expect(Self.reading(bytes, limits: Self.limits) != nil)
    }
}

@Suite("GzipEncoder (RFC 1952)")
struct GzipEncoderTests {
    @Test("content becomes one member of gzip, again and again")
    func member() throws {
        let encoder = GzipEncoder()
        let content = Array(repeatElement("a line of text\n".utf8, count: 100).joined())
        for _ in 0..<2 {
            let whole = encoder.encode(content.span)
            let encoded = try #require(whole)
            #expect(encoded.prefix(3) == [0x1F, 0x8B, 8])
            #expect(encoded.suffix(4) == [0xDC, 0x05, 0, 0])  // 1,500 bytes
            // The bytes between the header and the checksums are a compressed message.
            let payload = Array(encoded[10..<(encoded.count - 8)])
            let reading = Reading.ofAllSplits(deflated(2, payload + [0]), inflates: true)
            #expect(reading?.seen.first?.bytes == content)
        }
    }

    @Test("content that does not become smaller is left alone")
    func incompressible() {
        let encoder = GzipEncoder()
        for content in [[], [1], noise(1_000)] {
            let encoded = encoder.encode(content.span)
            #expect(encoded == nil)
        }
    }
}
