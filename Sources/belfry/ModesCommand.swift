import ArgumentParser
import BelfryClient

/// `belfry modes`.
struct Modes: ClientCommand {
    static let configuration = CommandConfiguration(
        abstract: "Show the mode of the queue, and the modes that clients have entered.")

    @OptionGroup var place: PlaceOptions
    @OptionGroup var report: ReportOptions

    func perform(_ signals: StopSignals) async throws(ToolError) {
        var request = HTTPRequest.get("modes")
        request.form = .object(["current", "common", "stack"])
        let answer = try await request.requiredAnswer(from: place.brokerURL())
        guard report.isForPeople, let modes = JSONObject(answer.content) else {
            return try Report.write(Report.oneLine(answer.content))
        }
        try Report.write(Array(Self.text(modes).utf8))
    }

    /// The report for people.
    static func text(_ modes: JSONObject) -> String {
        let common = modes.strings("common").map(Screen.safe).joined(separator: ", ")
        let stack = modes.objects("stack")
        let head = "The mode is \(Report.cell(modes.raw("current"))); common includes \(common)."
        return stack.isEmpty ? head : head + "\n\n" + Report.table(["id", "mode", "client"], stack)
    }
}
