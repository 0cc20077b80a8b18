import BelfryHTTP

/// The events of a parser for a whole input, in words that can be compared.
struct Transcript: Equatable, CustomStringConvertible {
    var lines: [String] = []
    var description: String { lines.joined(separator: " | ") }

    /// Adds content to the content before it, so that the cuts do not show.
    mutating func addContent(_ bytes: some Collection<UInt8>) {
        let text = String(decoding: bytes, as: UTF8.self)
        if let last = lines.last, last.hasPrefix("body ") {
            lines[lines.count - 1] = last + text
        } else {
            lines.append("body " + text)
        }
    }
}

/// How an input is cut into pieces.
enum Cut: CaseIterable {
    case whole, bytes, random1, random2, random3

    func pieces(of input: [UInt8]) -> [[UInt8]] {
        var generator = TestGenerator(state: 0x9E37_79B9)
        var pieces: [[UInt8]] = []
        var rest = input[...]
        while !rest.isEmpty {
            let size =
                switch self {
                case .whole: rest.count
                case .bytes: 1
                case .random1: Int(generator.next() % 7) + 1
                case .random2: Int(generator.next() % 40) + 1
                case .random3: Int(generator.next() % 300) + 1
                }
            pieces.append(Array(rest.prefix(size)))
            rest = rest.dropFirst(size)
        }
        return pieces
    }
}

/// A small generator with a known start, so that a failure comes again.
struct TestGenerator: RandomNumberGenerator {
    var state: UInt64
    mutating func next() -> UInt64 {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return state >> 33
    }
}

func text(_ span: Span<UInt8>) -> String {
    var bytes: [UInt8] = []
    for index in span.indices { bytes.append(span[index]) }
    return String(decoding: bytes, as: UTF8.self)
}

func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

/// Bytes from text in which each character is one byte (ISO 8859-1).
func latin(_ text: String) -> [UInt8] {
    text.unicodeScalars.map { UInt8($0.value) }
}

/// Feeds requests in pieces and notes what comes out; the error is the last note.
func transcript(
    of input: [UInt8], cut: Cut = .whole, limits: HTTPLimits = HTTPLimits()
) -> Transcript {
    var parser = RequestParser(limits: limits)
    var transcript = Transcript()
    do {
        for piece in cut.pieces(of: input) {
            var cursor = 0
            while let event = try parser.nextEvent(in: piece.span, at: &cursor) {
                switch event {
                case .head:
                    let head = parser.head
                    transcript.lines.append(
                        "\(head.method.name ?? "other") \(text(head.target)) 1.\(head.minorVersion)"
                    )
                    for index in 0..<head.fieldCount {
                        transcript.lines.append(
                            "\(text(head.name(at: index)))=\(text(head.value(at: index)))")
                    }
                case .body(let range): transcript.addContent(piece[range])
                case .end: transcript.lines.append("end")
                }
            }
            if cursor != piece.count { transcript.lines.append("left bytes behind") }
        }
        if !parser.isBetweenRequests { transcript.lines.append("waiting") }
    } catch {
        transcript.lines.append("\(error)")
    }
    return transcript
}

/// The error that an input ends in, the same for all cuts, or `nil`.
func error(in input: [UInt8], limits: HTTPLimits = HTTPLimits()) -> HTTPError? {
    var parser = RequestParser(limits: limits)
    do {
        var cursor = 0
        while try parser.nextEvent(in: input.span, at: &cursor) != nil {}
        return nil
    } catch {
        return error
    }
}

/// The head of the first request of an input.
func head(of input: String) throws -> RequestHead {
    var parser = RequestParser(limits: HTTPLimits())
    var cursor = 0
    _ = try parser.nextEvent(in: input.utf8.span, at: &cursor)
    return parser.head
}

/// An error as a transcript has it.
func text(_ error: HTTPError) -> String { "\(error)" }
