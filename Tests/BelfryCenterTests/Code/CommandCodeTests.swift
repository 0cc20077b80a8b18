import TestSupport
import Testing

@testable import BelfryCenter

@Suite("The code of commands (Architecture.md section 6)")
struct CommandCodeTests {
    private static let commands = CodeExamples.commands

    @Test("every kind of command is read as it was written")
    func roundTrip() throws {
        for (kind, command) in Self.commands.enumerated() {
            let read = try Command(code: command.code)
            #expect(differences(command, read) == [], "kind \(kind)")
            #expect(read.code == command.code, "kind \(kind)")
        }
    }

    @Test("the examples are all kinds there are")
    func allKinds() throws {
        let count = UInt64(Self.commands.count)
        for number in 0..<count {
            #expect(Self.error(of: Self.head(kind: number)) != .unknownKind(number))
        }
        #expect(Self.error(of: Self.head(kind: count)) == .unknownKind(count))
        #expect(Self.error(of: Self.head(kind: .max)) == .unknownKind(.max))
    }

    @Test(
        "what earlier programs have written is read, and written so again",
        arguments: [
            ("commands-1.txt", CodeExamples.ofVersion1),
            ("commands-level-3.txt", CodeExamples.ofLevel3),
            ("commands-level-4.txt", CodeExamples.ofLevel4),
            ("commands-level-5.txt", CodeExamples.ofLevel5),
            ("commands-level-6.txt", CodeExamples.ofLevel6),
        ])
    func golden(file: String, places: Range<Int>) throws {
        #expect(CodeExamples.ofLevel6.upperBound == Self.commands.count)
        let commands = Self.commands[places]
        let golden = try Golden(file, writing: commands.map(\.code))
        try #require(golden.lines.count == commands.count)
        for (line, command) in zip(golden.lines, commands) {
            #expect(line == command.code)
            #expect(try Command(code: line).code == line)
        }
    }

    @Test("what is asked for on a connection is not such a command again")
    func nested() {
        let place: [UInt8] = [7, 2, 99]
        let nested = Self.head(kind: 36) + place + [36] + place + [4, 7, 1]
        #expect(Self.error(of: nested) == .malformed)
    }

    @Test("what is covered is neither such a command again nor one of a connection")
    func nestedCover() {
        let cover: [UInt8] = [0, 0, 0]
        let place: [UInt8] = [7, 2, 99]
        for inner in [[37] + cover, [36] + place] {
            let nested = Self.head(kind: 37) + cover + inner + [4, 7, 1]
            #expect(Self.error(of: nested) == .malformed)
        }
    }

    @Test("a version that is not known is named")
    func unknownVersion() {
        var code = Self.commands[0].code
        code[0] = 2
        #expect(Self.error(of: code) == .unknownVersion(2))
        code[0] = 0
        #expect(Self.error(of: code) == .unknownVersion(0))
    }

    @Test("fields that a newer program has put behind the last one are left out")
    func laterFields() throws {
        for command in Self.commands {
            #expect(try Command(code: command.code + [1, 2, 3]).code == command.code)
        }
    }

    @Test("no part of a command is a command")
    func parts() {
        for command in Self.commands {
            let code = command.code
            for count in code.indices {
                #expect(Self.error(of: Array(code[..<count])) != nil)
            }
        }
    }

    @Test("changed bytes are refused, or are another command")
    func changedBytes() {
        var generator = SplitMix(seed: 97)
        var refused = 0
        for command in Self.commands {
            for _ in 0..<200 {
                var code = command.code
                for _ in 0...generator.below(3) {
                    code[generator.below(code.count)] = UInt8(generator.below(256))
                }
                guard let read = try? Command(code: code) else {
                    refused += 1
                    continue
                }
                // Whatever is read has one code, which may be shorter: texts are made whole again.
                let again = try? Command(code: read.code)
                #expect(again?.code == read.code)
            }
        }
        #expect(refused > 1_000)
    }

    @Test(
        "a number has one form, and a count no more than there is room for",
        arguments: [
            // Nine groups and a tenth that is too large; an empty last group; a list of 2⁶³
            // elements.
            [1] + [UInt8](repeating: 0xFF, count: 9) + [2], [1, 0x80, 0],
            head(kind: 8) + [UInt8](repeating: 0xFF, count: 8) + [0x7F],
        ])
    func malformed(code: [UInt8]) {
        #expect([.malformed, .ended].contains(Self.error(of: code)))
    }

    private static func head(kind: UInt64) -> [UInt8] {
        var writer = CodeWriter()
        // The version, three numbers of the command, its three clocks, its kind.
        for number: UInt64 in [1, 1, 1, 1, 0, 0, 0, kind] { _ = writer.word(number) }
        return writer.bytes
    }

    private static func error(of code: [UInt8]) -> CodeError? {
        do {
            _ = try Command(code: code)
            return nil
        } catch {
            return error
        }
    }
}
