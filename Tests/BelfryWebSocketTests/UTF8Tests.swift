import Testing

@testable import BelfryWebSocket

/// The cases are those of Markus Kuhn's UTF-8 decoder test, as Autobahn uses them in 6.*.
@Suite("UTF8Validator (RFC 3629, RFC 6455 §8.1)")
struct UTF8Tests {
    static let valid: [[UInt8]] = [
        [], Array("Hello-µ@ßöäüàá-UTF-8!!".utf8), Array("κόσμε".utf8), [0x00], [0x7F],
        [0xC2, 0x80], [0xDF, 0xBF], [0xE0, 0xA0, 0x80], [0xEF, 0xBF, 0xBF], [0xED, 0x9F, 0xBF],
        [0xEE, 0x80, 0x80], [0xEF, 0xBF, 0xBD], [0xF0, 0x90, 0x80, 0x80],
        [0xF4, 0x8F, 0xBF, 0xBF], [0xEF, 0xBF, 0xBE], [0xEF, 0xB7, 0x90],
        [0xF0, 0x9F, 0xBF, 0xBE], [0xF1, 0x80, 0x80, 0x80], [0xF3, 0xBF, 0xBF, 0xBF],
    ]

    /// The invalid texts, each with the byte at which it can no longer become valid.
    static let invalid: [([UInt8], Int)] = [
        ([0x80], 0), ([0xBF], 0), ([0xC0, 0xAF], 0), ([0xC1, 0xBF], 0), ([0xF5, 0x80], 0),
        ([0xFE], 0), ([0xFF], 0), ([0xF8, 0x88, 0x80, 0x80, 0x80], 0), ([0xFC, 0x84], 0),
        ([0xC2, 0x20], 1), ([0xC2, 0xC2], 1), ([0xE0, 0x9F, 0xBF], 1), ([0xE0, 0x80, 0xAF], 1),
        ([0xED, 0xA0, 0x80], 1), ([0xED, 0xBF, 0xBF], 1), ([0xE1, 0x80, 0x20], 2),
        ([0xF0, 0x8F, 0xBF, 0xBF], 1), ([0xF0, 0x80, 0x80, 0xAF], 1), ([0xF4, 0x90], 1),
        ([0xF1, 0x80, 0x80, 0x20], 3), ([0xF1, 0x80, 0x20], 2), ([0xEF, 0xBF, 0xC0], 2),
        (Array("κόσμε".utf8) + [0xED, 0xA0, 0x80] + Array("edited".utf8), 11),
    ]

    /// Starts of characters that are valid so far and may not be the end.
    static let truncated: [[UInt8]] = [
        [0xC2], [0xE0], [0xE0, 0xA0], [0xEF, 0xBF], [0xF0], [0xF0, 0x90], [0xF0, 0x90, 0x80],
        [0xF4, 0x8F, 0xBF],
    ]

    /// Stretches of ASCII before the case, so that every place in a block of 16 is met.
    static let leads = 0..<34

    static func fault(_ bytes: [UInt8]) -> Int? {
        var validator = UTF8Validator()
        return validator.firstFault(in: bytes.span)
    }

    @Test("valid text is taken, wherever it stands", arguments: valid)
    func validText(bytes: [UInt8]) {
        for lead in Self.leads {
            let text = [UInt8](repeating: 0x61, count: lead) + bytes + Array("tail".utf8)
            #expect(Self.fault(text) == nil)
        }
    }

    @Test("invalid text is refused at its first bad byte", arguments: invalid)
    func invalidText(bytes: [UInt8], offset: Int) {
        for lead in Self.leads {
            let text = [UInt8](repeating: 0x61, count: lead) + bytes
            #expect(Self.fault(text) == lead + offset)
        }
    }

    /// The borders of what may follow a lead byte.
    static let seconds: [UInt8] = [
        0x00, 0x41, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0, 0xFF,
    ]

    @Test("Swift's own decoder agrees on the borders behind each lead byte")
    func agreesWithTheStandardLibrary() {
        for lead in UInt8.min ... .max {
            for second in Self.seconds {
                for rest in [[], [0x80], [0x80, 0x80], [0xBF, 0x41]] as [[UInt8]] {
                    let bytes = [lead, second] + rest
                    var validator = UTF8Validator()
                    let isValid =
                        validator.firstFault(in: bytes.span) == nil && validator.isAtBoundary
                    #expect(isValid == (String(validating: bytes, as: UTF8.self) != nil))
                }
            }
        }
    }

    @Test("a text message that ends inside a character is refused", arguments: truncated)
    func truncatedMessage(bytes: [UInt8]) {
        #expect(Reading.ofAllSplits(frame(1, bytes, isFinal: false))?.error == nil)
        #expect(
            Reading.ofAllSplits(frame(1, bytes))?.error == .invalidUTF8(byteOffset: bytes.count))
        #expect(Reading.ofAllSplits(frame(2, bytes))?.error == nil)
    }

    @Test("a message is refused before its frame is complete", arguments: invalid)
    func failsFast(bytes: [UInt8], offset: Int) {
        let all = RawFrame(opcode: 1, payload: bytes + [0x61, 0x61, 0x61]).bytes
        let reading = Reading.ofAllSplits(Array(all.prefix(6 + offset + 1)))
        #expect(reading?.error == .invalidUTF8(byteOffset: offset))
        #expect(Reading.ofAllSplits(Array(all.prefix(6 + offset)))?.error == nil)
    }

    @Test("a character may be cut anywhere by fragments, and a fault is seen across them")
    func acrossFragments() {
        let text = Array("a€😀ß".utf8)
        for cut in 0...text.count {
            let bytes =
                frame(1, Array(text[..<cut]), isFinal: false) + frame(9)
                + frame(0, Array(text[cut...]))
            #expect(
                Reading.ofAllSplits(bytes)?.seen == [
                    Seen(event: .ping), Seen(event: .text, bytes: text),
                ])
        }
        let bad = frame(1, [0xF4], isFinal: false) + frame(0, [0x90], isFinal: false)
        #expect(Reading.ofAllSplits(bad)?.error == .invalidUTF8(byteOffset: 1))
    }

    @Test("a new text message does not begin inside a character of the last one")
    func fresh() {
        let reading = Reading.ofAllSplits(frame(2, [0xE2]) + text("ok"))
        #expect(reading?.error == nil)
    }
}
