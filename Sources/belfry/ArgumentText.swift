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
