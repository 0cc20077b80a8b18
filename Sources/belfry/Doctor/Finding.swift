import BelfryClient
import BelfryJSON

/// What `belfry doctor` says of one thing.
struct Finding: Equatable {
    enum State: String {
        /// As it should be.
        case ok
        /// It works, and somebody should look at it.
        case warning
        /// A broker cannot run so, or loses what it should keep.
        case fault
    }

    let state: State
    /// What was looked at, such as `clock`.
    let subject: String
    /// What is so.
    let text: String
    /// What to do, unless all is well.
    var advice: String?

    static func ok(_ subject: String, _ text: String) -> Finding {
        Finding(state: .ok, subject: subject, text: text)
    }

    static func warning(_ subject: String, _ text: String, _ advice: String) -> Finding {
        Finding(state: .warning, subject: subject, text: text, advice: advice)
    }

    static func fault(_ subject: String, _ text: String, _ advice: String) -> Finding {
        Finding(state: .fault, subject: subject, text: text, advice: advice)
    }

    /// What people read: a line for each, and what to do below it.
    static func text(_ findings: [Finding]) -> String {
        let width = findings.map(\.subject.count).max() ?? 0
        func padded(_ text: String, _ width: Int) -> String {
            text + String(repeating: " ", count: max(0, width - text.count))
        }
        return findings.map { finding in
            let start =
                padded(finding.state.rawValue, State.warning.rawValue.count) + "  "
                + padded(finding.subject, width) + "  "
            let indent = String(repeating: " ", count: start.count)
            let advice = finding.advice.map { "\n\(indent)What to do: \($0)" } ?? ""
            return start + Screen.safe(finding.text) + advice
        }.joined(separator: "\n")
    }

    /// What programs read.
    static func json(_ findings: [Finding]) -> [UInt8] {
        var bytes: [UInt8] = []
        var writer = JSONWriter()
        writer.beginObject(into: &bytes)
        writer.key("findings", into: &bytes)
        writer.beginArray(into: &bytes)
        for finding in findings {
            writer.beginObject(into: &bytes)
            writer.member("state", string: finding.state.rawValue, into: &bytes)
            writer.member("subject", string: finding.subject, into: &bytes)
            writer.member("text", string: finding.text, into: &bytes)
            if let advice = finding.advice {
                writer.member("advice", string: advice, into: &bytes)
            }
            writer.endObject(into: &bytes)
        }
        writer.endArray(into: &bytes)
        writer.endObject(into: &bytes)
        return bytes
    }
}
