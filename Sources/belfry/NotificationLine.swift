import BelfryClient
import BelfrySystem

/// A notification as a line: for people when, what, who and what it carries, for programs its JSON.
struct NotificationLine {
    private let isForPeople: Bool
    private let paint: Paint

    init(_ report: ReportOptions) throws(ToolError) {
        self.init(
            isForPeople: report.isForPeople, paint: Paint(environment: try Environment.variables()))
    }

    init(isForPeople: Bool, paint: Paint) {
        self.isForPeople = isForPeople
        self.paint = paint
    }

    /// The line of a notification.
    func line(_ notification: ReceivedNotification) -> [UInt8] {
        guard isForPeople else { return Report.oneLine(notification.json) }
        var parts = [
            paint.dim(Self.time(notification.postedAt)),
            paint.bold(Report.shown(notification.name)),
        ]
        if let object = notification.object { parts.append(paint.colored(Report.shown(object))) }
        if let userInfo = notification.userInfo {
            let json = Report.oneLine(userInfo.json)
            parts.append(Report.shown(String(decoding: json, as: UTF8.self)))
        }
        if notification.isRedelivered { parts.append(paint.dim("(again)")) }
        return Array(parts.joined(separator: "  ").utf8)
    }

    /// The time of day of an RFC 3339 time, which is UTC.
    private static func time(_ text: String) -> String {
        Report.shown(String(text.drop { $0 != "T" }.dropFirst()))
    }
}

/// The colors of a terminal, for those who want them (no-color.org).
struct Paint {
    private let isOn: Bool

    init(environment: [String: String]) {
        isOn = (environment["NO_COLOR"] ?? "").isEmpty && environment["TERM"] != "dumb"
    }

    /// What is less important.
    func dim(_ text: String) -> String { painted(text, "2") }

    /// What is looked for first.
    func bold(_ text: String) -> String { painted(text, "1") }

    /// What stands beside it.
    func colored(_ text: String) -> String { painted(text, "36") }

    private func painted(_ text: String, _ code: String) -> String {
        isOn ? "\u{1B}[\(code)m\(text)\u{1B}[0m" : text
    }
}
