import BelfryClient
/// A notification as a line: time, name, object and userInfo for people, JSON for programs.
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
    func line(_ notification: ReceivedNotification) -> PrintedLine {
        guard isForPeople else { return PrintedLine(Report.oneLine(notification.json)) }
        var parts = [
            paint.dim(Self.time(notification.postedAt)), paint.bold(notification.name),
        ]
        if let object = notification.object { parts.append(paint.colored(object)) }
        if let userInfo = notification.userInfo {
            let json = Report.oneLine(userInfo.json)
            parts.append(paint.plain(String(decoding: json, as: UTF8.self)))
        }
        if notification.isRedelivered { parts.append(paint.dim("(again)")) }
        return PrintedLine(parts)
    }

    /// The time of day of an RFC 3339 time, which is UTC.
    private static func time(_ text: String) -> String {
        String(text.drop { $0 != "T" }.dropFirst())
    }
}
