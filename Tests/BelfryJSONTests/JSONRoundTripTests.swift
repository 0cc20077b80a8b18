import BelfryJSON
import Testing

/// A value made at random, in a form that is written, read back and compared.
private indirect enum Tree: Equatable {
    case object([Member])
    case array([Tree])
    case string([UInt8])
    case integer(Int)
    case double(Double)
    case bool(Bool)
    case null

    struct Member: Equatable {
        let key: [UInt8]
        let value: Tree
    }

    static func random(depth: Int, using generator: inout SplitMix) -> Tree {
        switch Int.random(in: depth > 0 ? 0..<7 : 2..<7, using: &generator) {
        case 0:
            return .object(
                (0..<Int.random(in: 0..<5, using: &generator)).map { _ in
                    Member(
                        key: text(using: &generator),
                        value: random(depth: depth - 1, using: &generator))
                })
        case 1:
            return .array(
                (0..<Int.random(in: 0..<5, using: &generator)).map { _ in
                    random(depth: depth - 1, using: &generator)
                })
        case 2: return .string(text(using: &generator))
        case 3: return .integer(Int(truncatingIfNeeded: generator.next()))
        case 4:
            let value = Double(bitPattern: generator.next())
            return .double(value.isFinite ? value : 0.5)
        case 5: return .bool(Bool.random(using: &generator))
        default: return .null
        }
    }

    private static func text(using generator: inout SplitMix) -> [UInt8] {
        var scalars = String.UnicodeScalarView()
        let highest: UInt32 = Bool.random(using: &generator) ? 0x7F : 0x10FFFF
        for _ in 0..<Int.random(in: 0..<12, using: &generator) {
            let value = UInt32.random(in: 0...highest, using: &generator)
            scalars.append(Unicode.Scalar(value) ?? "\\")
        }
        return [UInt8](String(scalars).utf8)
    }

    func write(with writer: inout JSONWriter, into bytes: inout [UInt8]) {
        switch self {
        case .object(let members):
            writer.beginObject(into: &bytes)
            for member in members {
                writer.key(escaping: member.key, into: &bytes)
                member.value.write(with: &writer, into: &bytes)
            }
            writer.endObject(into: &bytes)
        case .array(let elements):
            writer.beginArray(into: &bytes)
            for element in elements { element.write(with: &writer, into: &bytes) }
            writer.endArray(into: &bytes)
        case .string(let text): writer.string(text, into: &bytes)
        case .integer(let value): writer.integer(value, into: &bytes)
        case .double(let value): writer.double(value, into: &bytes)
        case .bool(let value): writer.bool(value, into: &bytes)
        case .null: writer.null(into: &bytes)
        }
    }

    /// Reads what `write` wrote for `self`, whose number cases JSON alone cannot tell apart.
    func readBack(with reader: inout JSONReader, in bytes: Span<UInt8>) throws -> Tree {
        switch self {
        case .object(let members):
            var found: [Member] = []
            try reader.beginObject(in: bytes)
            for member in members where try reader.nextMember(in: bytes) {
                let key = reader.key
                found.append(
                    Member(key: key, value: try member.value.readBack(with: &reader, in: bytes)))
            }
            #expect(try !reader.nextMember(in: bytes))
            return .object(found)
        case .array(let elements):
            var found: [Tree] = []
            try reader.beginArray(in: bytes)
            for element in elements where try reader.nextElement(in: bytes) {
                found.append(try element.readBack(with: &reader, in: bytes))
            }
            #expect(try !reader.nextElement(in: bytes))
            return .array(found)
        case .string: return .string(try reader.readString(in: bytes))
        case .integer: return .integer(try reader.readInt(in: bytes))
        case .double: return .double(try reader.readDouble(in: bytes))
        case .bool: return .bool(try reader.readBool(in: bytes))
        case .null:
            _ = try reader.readNullIfPresent(in: bytes)
            return .null
        }
    }
}

/// SplitMix64, so that a failure can be repeated from its seed.
struct SplitMix: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
        return mixed ^ mixed >> 31
    }
}

@Suite("JSONWriter and JSONReader together")
struct JSONRoundTripTests {
    @Test("what is written is valid and reads back the same", arguments: 0..<200 as Range<UInt64>)
    func roundTrip(_ seed: UInt64) throws {
        var generator = SplitMix(state: seed)
        let tree = Tree.random(depth: 6, using: &generator)
        var bytes: [UInt8] = []
        var writer = JSONWriter()
        tree.write(with: &writer, into: &bytes)
        _ = try JSONScanner.validate(bytes.span)
        var reader = JSONReader()
        #expect(try tree.readBack(with: &reader, in: bytes.span) == tree)
        try reader.finish(in: bytes.span)
    }

    @Test(
        "a damaged text ends in an error or in JSON, never in a trap",
        arguments: 0..<100 as Range<UInt64>)
    func damaged(_ seed: UInt64) {
        var generator = SplitMix(state: seed)
        var bytes: [UInt8] = []
        var writer = JSONWriter()
        Tree.random(depth: 5, using: &generator).write(with: &writer, into: &bytes)
        let damage = [UInt8]("\"\\u{}[],:-0e.dD8\u{0}\u{80}".utf8) + [0xFF, 0xED]
        for _ in 0..<20 {
            let position = Int.random(in: bytes.indices, using: &generator)
            bytes[position] = damage.randomElement(using: &generator) ?? 0
            let isValid = (try? JSONScanner.validate(bytes.span)) != nil
            #expect(isValid == walks(bytes))
        }
    }

    /// Whether the reader comes to the end of the text; lone surrogates are passed by.
    private func walks(_ bytes: [UInt8]) -> Bool {
        func visit(_ reader: inout JSONReader) throws {
            switch try reader.peekKind(in: bytes.span) {
            case .object:
                try reader.beginObject(in: bytes.span)
                while try tolerant({ try reader.nextMember(in: bytes.span) }) { try visit(&reader) }
            case .array:
                try reader.beginArray(in: bytes.span)
                while try reader.nextElement(in: bytes.span) { try visit(&reader) }
            case .string:
                _ = try tolerant {
                    _ = try reader.readString(in: bytes.span)
                    return true
                }
            case .number:
                _ = try tolerant {
                    _ = try reader.readDouble(in: bytes.span)
                    return true
                }
            case .boolean, .null: _ = try reader.skipValue(in: bytes.span)
            }
        }
        func tolerant(_ read: () throws -> Bool) throws -> Bool {
            do { return try read() } catch let error as JSONError where !error.isMalformed {
                return true
            }
        }
        var reader = JSONReader()
        do {
            try visit(&reader)
            try reader.finish(in: bytes.span)
            return true
        } catch {
            return false
        }
    }
}
