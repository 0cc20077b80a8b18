import ArgumentParser
import BelfryClient

/// `belfry explain`.
struct Explain: ClientCommand {
    static let configuration = CommandConfiguration(
        abstract: "List the observers that would get a notification, and near misses.",
        discussion: "With --object and --selector it shows instead which responder would be asked.")

    @Argument(help: .value("The notification name.", "NAME"), completion: Completing.channels)
    var name: String?

    @Option(
        help: .value("The object, or the address that would be asked.", "OBJECT"),
        completion: Completing.objects)
    var object: String?

    @Option(help: .value("What would be asked for.", "SELECTOR"), completion: Completing.selectors)
    var selector: String?

    @Option(
        help: .value(
            """
            The userInfo, a JSON object, which decides the conditions of observers; - reads it \
            from standard input.
            """, "JSON"))
    var userInfo: String?

    @OptionGroup var place: PlaceOptions
    @OptionGroup var report: ReportOptions

    func validate() throws {
        if (name == nil) == (selector == nil) {
            throw ValidationError("Give a NAME, or --object and --selector.")
        }
        if selector != nil, object == nil {
            throw ValidationError("--selector needs --object.")
        }
        if userInfo != nil, name == nil {
            throw ValidationError("--user-info needs a NAME.")
        }
    }

    func perform(_ signals: StopSignals) async throws(ToolError) {
        let url = try place.brokerURL()
        let answer = try await request().requiredAnswer(from: url)
        guard report.isForPeople, let explanation = JSONObject(answer.content) else {
            return try Report.write(Report.oneLine(answer.content))
        }
        if let ask = explanation.raw("ask").flatMap(JSONObject.init) {
            let skipped = ask.objects("skipped")
            var text = Report.table(["outcome", "observer", "path"], [ask])
            if !skipped.isEmpty {
                text +=
                    "\n\nStepped over\n" + Report.table(["object", "observer", "reason"], skipped)
            }
            return try Report.write(Array(text.utf8))
        }
        let observers = explanation.objects("observers")
        let near = explanation.objects("near")
        var text = "Observers that would get it: \(observers.count)"
        if !observers.isEmpty {
            var columns = ["id", "state", "outcome"]
            if observers.contains(where: { $0.raw("where") != nil }) { columns.append("where") }
            if observers.contains(where: { $0.raw("target") != nil }) {
                columns += ["target", "observer", "reason", "path"]
            }
            text += "\n" + Report.table(columns, observers)
        }
        if !near.isEmpty { text += "\n\nNear misses\n" + Report.table(["id", "reason"], near) }
        if explanation.raw("partial") != nil { text += "\n\nThere may be more near misses." }
        try Report.write(Array(text.utf8))
    }

    private func request() throws(ToolError) -> HTTPRequest {
        var request: HTTPRequest
        if let name, let userInfo = try UserInfo(argument: userInfo, name: "--user-info") {
            request = .explain(name: name, object: object, userInfo: userInfo)
        } else {
            request = .get("explain")
            let parameters = [("name", name), ("object", object), ("selector", selector)]
            request.query = parameters.compactMap { key, value in value.map { (key, $0) } }
        }
        request.form = .object([name == nil ? "ask" : "observers"])
        return request
    }
}
