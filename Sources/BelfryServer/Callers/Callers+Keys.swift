import BelfryBytes
import BelfryCenter
import BelfryHTTP
import BelfryWire

// What a poster wishes besides the post: how long to wait, and a key under which to ask again.

extension Callers {
    /// Options of the answer: `report`, `Prefer` and `Idempotency-Key`.
    mutating func readPostWishes(
        _ query: inout Query, content: Span<UInt8>
    ) throws(Problem) -> PostWishes? {
        if let report = query.take("report") {
            guard report.elementsEqual("observers".utf8) else {
                throw Problem.invalidParameter("report", "must be observers")
            }
            exchange.reply.reportsObservers = true
        }
        let uncommonFields = exchange.parser.head.uncommonFields
        if uncommonFields.isDisjoint(with: [.prefer, .idempotencyKey]) { return nil }
        let wait = uncommonFields.contains(.prefer) ? readPreferences() : nil
        let key =
            uncommonFields.contains(.idempotencyKey) ? try readKey(content: content) : nil
        return PostWishes(wait: wait, key: key)
    }

    /// What the poster prefers; tells for how many nanoseconds it wants to wait.
    private mutating func readPreferences() -> Int64? {
        let preferences = Preferences(of: exchange.parser.head)
        if preferences.return == .minimal {
            exchange.reply.isMinimal = true
            exchange.reply.appliedPreference = .minimal
        }
        // With both it waits that long, and then no longer (RFC 7240 §4.3).
        if let seconds = preferences.waitSeconds { return Self.nanoseconds(seconds: seconds) }
        guard preferences.respondsAsync else { return nil }
        if preferences.return != .minimal { exchange.reply.appliedPreference = .asynchronous }
        return 0
    }

    /// The nanoseconds that a request waits at most; more than 60 s is as much as that.
    static func nanoseconds(seconds: Int) -> Int64 { Int64(min(seconds, 60)) * 1_000_000_000 }

    private func readKey(
        content: Span<UInt8>
    ) throws(Problem) -> (text: [UInt8], requestHash: SecretHash) {
        let lines = exchange.parser.head.values(of: "idempotency-key")
        guard lines.count == 1, let line = lines.first else {
            throw Problem.invalidHeader("Idempotency-Key", "must stand once")
        }
        let text = Self.unquoted([UInt8](copying: exchange.parser.head.value(in: line)))
        try requestReader.check(idempotencyKey: text)
        // None of these has a line end, but the last.
        var request = Array("POST ".utf8)
        request.append(exchange.parser.head.path)
        request.append(UInt8(ascii: "?"))
        if exchange.parser.head.hasQuery { request.append(exchange.parser.head.query) }
        request.append(UInt8(ascii: "\n"))
        request.append(content)
        return (text, SecretHash(of: request))
    }

    /// The text of a structured string (RFC 9651 §3.3.3); another value stands for itself.
    private static func unquoted(_ text: [UInt8]) -> [UInt8] {
        let quote = UInt8(ascii: "\"")
        guard text.count >= 2, text.first == quote, text.last == quote else { return text }
        var result: [UInt8] = []
        var isEscaped = false
        for byte in text.dropFirst().dropLast() {
            if byte == UInt8(ascii: "\\"), !isEscaped {
                isEscaped = true
            } else {
                // A quotation mark inside must be escaped, and a backslash escapes nothing else.
                if isEscaped != (byte == quote || byte == UInt8(ascii: "\\")) { return text }
                result.append(byte)
                isEscaped = false
            }
        }
        return isEscaped ? text : result
    }
}
