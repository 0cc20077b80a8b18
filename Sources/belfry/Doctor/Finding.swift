import BelfryClient
import BelfryJSON

/// A finding of `belfry doctor` about one subject.
struct Finding: Equatable {
    enum State: String {
        /// All is well.
        case ok
        /// The subject works, but deserves a look.
        case warning
        /// A broker cannot run so, or would lose data.
        case fault
    }

    let state: State
    /// The subject, such as `clock`.
    let subject: String
    /// The fact.
    let text: String
    /// The advice, unless all is well.
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

    /// The report for people: a line for each finding, with the advice below it.
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

    /// The report for programs.
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
