import BelfrySystem

/// The only writer to standard output and standard error.
///
/// On a terminal no line can steer it, wherever the line is from: names, values, problems of a
/// broker, fields and log lines are other people's words. Elsewhere the bytes stay as they are.
enum Screen {
    private static let isOutputTerminal = StandardStream.output.isTerminal
    private static let isErrorTerminal = StandardStream.error.isTerminal

    /// Writes a line with its line feed.
    static func write(
        _ line: PrintedLine, to stream: StandardStream
    ) throws(SystemCallError) {
        let bytes = isTerminal(stream) ? line.safe : line.bytes
        try stream.write((bytes + [UInt8(ascii: "\n")]).span)
    }

    /// Writes lines of the log, each with its line feed.
    static func write(log lines: Span<UInt8>) throws(SystemCallError) {
        guard isTerminal(.error) else { return try StandardStream.error.write(lines) }
        try StandardStream.error.write(safe(lines.indices.map { lines[$0] }).span)
    }

    private static func isTerminal(_ stream: StandardStream) -> Bool {
        switch stream {
        case .input: false
        case .output: isOutputTerminal
        case .error: isErrorTerminal
        }
    }

    /// Lines without anything that steers a terminal.
    static func safe(_ lines: [UInt8]) -> [UInt8] {
        let lineFeed = UInt8(ascii: "\n")
        if lines.allSatisfy({ 0x20...0x7E ~= $0 || $0 == lineFeed }) { return lines }
        let text = lines.split(separator: lineFeed, omittingEmptySubsequences: false).map {
            safe(String(decoding: $0, as: UTF8.self))
        }
        return Array(text.joined(separator: "\n").utf8)
    }

    /// Text of one line: what steers a terminal, or turns the direction of text, is shown as JSON
    /// escapes it.
    static func safe(_ text: String) -> String {
        var safe = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            if steers(scalar) {
                let digits = String(scalar.value, radix: 16)
                let zeros = String(repeating: "0", count: 4 - digits.count)
                safe.append(contentsOf: "\\u\(zeros)\(digits)".unicodeScalars)
            } else {
                safe.append(scalar)
            }
        }
        return String(safe)
    }

    private static func steers(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        // C0, DEL and C1.
        case 0..<0x20, 0x7F...0x9F: true
        // Marks of direction, and ends of lines and paragraphs.
        case 0x61C, 0x200E, 0x200F, 0x2028...0x202E, 0x2066...0x2069: true
        default: false
        }
    }
}

/// A line for a person or a program: bytes as they came, or parts with colors.
struct PrintedLine: Equatable {
    let bytes: [UInt8]
    private let isSafe: Bool

    /// Makes a line of bytes, which stay as they are where no terminal is.
    init(_ bytes: [UInt8]) {
        self.bytes = bytes
        isSafe = false
    }

    /// Makes a line of parts, which are safe already: only the paint steers the terminal.
    init(_ parts: [Paint.Part]) {
        bytes = Array(parts.map(\.text).joined(separator: "  ").utf8)
        isSafe = true
    }

    /// The line for a terminal.
    var safe: [UInt8] { isSafe ? bytes : Screen.safe(bytes) }
}

/// The colors of a terminal, unless they are switched off (no-color.org).
struct Paint {
    /// A part of a line that steers nothing but its own color.
    struct Part {
        fileprivate let text: String
    }

    private let isOn: Bool

    init(environment: [String: String]) {
        isOn = (environment["NO_COLOR"] ?? "").isEmpty && environment["TERM"] != "dumb"
    }

    /// Text without a color.
    func plain(_ text: String) -> Part { Part(text: Screen.safe(text)) }

    /// Dims a text that is less important.
    func dim(_ text: String) -> Part { painted(text, "2") }

    /// Emphasizes the text that a reader looks for first.
    func bold(_ text: String) -> Part { painted(text, "1") }

    /// Colors a text that accompanies another one.
    func colored(_ text: String) -> Part { painted(text, "36") }

    private func painted(_ text: String, _ code: String) -> Part {
        let safe = Screen.safe(text)
        return Part(text: isOn ? "\u{1B}[\(code)m\(safe)\u{1B}[0m" : safe)
    }
}
