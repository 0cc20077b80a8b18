import ArgumentParser
import BelfryClient
import BelfryJSON

/// The values of options that are neither text nor numbers.
enum ArgumentText {
    /// Reads one of the words that an option has.
    static func word<Word: RawRepresentable<String>>(_ text: String) throws -> Word {
        guard let word = Word(rawValue: text) else {
            throw ValidationError("`\(text)` is not one of the words that this option takes.")
        }
        return word
    }

    /// Reads `name`, `sender`, both with a comma between them, or `none`.
    static func coalescing(_ text: String) throws -> Coalescing {
        switch text {
        case "none": return []
        case "name": return .onName
        case "sender": return .onSender
        case "name,sender", "sender,name": return [.onName, .onSender]
        default: throw ValidationError("`\(text)` is not name, sender, name,sender or none.")
        }
    }

    /// Reads a whole number with one of the units ms, s, m, h and d.
    static func duration(_ text: String) throws -> Duration {
        guard let duration = Quantity.duration(text) else {
            throw ValidationError("`\(text)` is not a time. Write 500ms, 8s or 1h.")
        }
        return duration
    }

    /// Reads a whole number of bytes, also with a unit from B to GiB.
    static func byteCount(_ text: String) throws -> Int {
        guard let byteCount = Quantity.byteCount(text) else {
            throw ValidationError("`\(text)` is not a size. Write 4096, 64KiB or 16MiB.")
        }
        return byteCount
    }

    /// Reads a time as the broker has it; the broker checks the rest.
    static func time(_ text: String) throws -> String {
        let year = text.utf8.prefix { 0x30...0x39 ~= $0 }
        guard year.count == 4, text.contains("T") else {
            throw ValidationError("`\(text)` is not a time. Write 2026-11-22T06:00:00Z.")
        }
        return text
    }

    /// Reads a place in the past: a sequence number, a time, or `oldest`.
    static func place(_ text: String) throws -> Beginning {
        if text == "oldest" { return .oldest }
        if let number = Quantity.count(text).flatMap({ UInt64(exactly: $0) }) {
            return .after(number)
        }
        do {
            return .from(try time(text))
        } catch {
            throw ValidationError(
                "`\(text)` is no place in the past. Write a seq, 2026-11-22T06:00:00Z or oldest.")
        }
    }

    /// Reads how many of the newest an observer begins with.
    static func last(_ text: String) throws -> Beginning {
        .last(try count(text, through: 1_000))
    }

    /// Reads how many of each name and object an observer begins with.
    static func lastEach(_ text: String) throws -> Beginning {
        .lastEach(try count(text, through: 100))
    }

    private static func count(_ text: String, through greatest: Int) throws -> Int {
        guard let count = Quantity.count(text), 1...greatest ~= count else {
            throw ValidationError("`\(text)` is not a number from 1 to \(greatest).")
        }
        return count
    }

    /// Reads a condition on userInfos.
    static func condition(_ text: String) throws -> NotificationFilter.Condition {
        do throws(ClientError) {
            return try NotificationFilter.Condition(json: text)
        } catch {
            throw ValidationError("`\(text)` is neither a JSON object nor an array of them.")
        }
    }

    /// Whether a text is JSON.
    static func isJSON(_ text: [UInt8]) -> Bool {
        do throws(JSONError) {
            _ = try JSONScanner.validate(text.span)
            return true
        } catch {
            return false
        }
    }
}
