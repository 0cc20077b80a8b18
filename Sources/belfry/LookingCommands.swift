import ArgumentParser
import BelfryClient
import BelfryJSON

/// `belfry observers`.
struct Observers: ClientCommand {
    static let configuration = CommandConfiguration(abstract: "List the observers.")

    @OptionGroup var place: PlaceOptions
    @OptionGroup var report: ReportOptions

    func perform(_ signals: StopSignals) async throws(ToolError) {
        let url = try place.brokerURL()
        var rows: [JSONObject] = []
        var cursor: String?
        repeat {
            var request = HTTPRequest.get("observers")
            request.query = [("limit", "1000")]
            if let cursor { request.query.append(("cursor", cursor)) }
            let answer = try await request.requiredAnswer(from: url)
            let page = JSONObject(answer.content)
            rows += Report.rows(page?.raw("observers"))
            cursor = page?.string("next")
        } while cursor != nil
        if report.isForPeople {
            let columns = ["id", "name", "object", "client", "selector", "state", "delivered"]
            return try Report.write(Array(Report.table(columns, rows).utf8))
        }
        var bytes: [UInt8] = []
        var writer = JSONWriter()
        writer.beginObject(into: &bytes)
        writer.key("observers", into: &bytes)
        writer.beginArray(into: &bytes)
        for row in rows { writer.raw(Report.oneLine(row.json), into: &bytes) }
        writer.endArray(into: &bytes)
        writer.endObject(into: &bytes)
        try Report.write(bytes)
    }
}

/// `belfry explain`.
struct Explain: ClientCommand {
    static let configuration = CommandConfiguration(
        abstract: "Tell who would get a notification, and who nearly would.")

    @Argument(help: .value("The notification name.", "NAME"))
    var name: String

    @Option(help: .value("The object.", "OBJECT"))
    var object: String?

    @OptionGroup var place: PlaceOptions
    @OptionGroup var report: ReportOptions

    func perform(_ signals: StopSignals) async throws(ToolError) {
        let url = try place.brokerURL()
        var request = HTTPRequest.get("explain")
        request.query = [("name", name)]
        if let object { request.query.append(("object", object)) }
        let answer = try await request.requiredAnswer(from: url)
        guard report.isForPeople, let explanation = JSONObject(answer.content) else {
            return try Report.write(Report.oneLine(answer.content))
        }
        let observers = Report.rows(explanation.raw("observers"))
        let near = Report.rows(explanation.raw("near"))
        var text = "\(observers.count) would get it"
        if !observers.isEmpty {
            text += "\n" + Report.table(["id", "state", "outcome"], observers)
        }
        if !near.isEmpty { text += "\n\nNear misses\n" + Report.table(["id", "reason"], near) }
        try Report.write(Array(text.utf8))
    }
}

/// `belfry healthcheck`.
struct Healthcheck: ClientCommand {
    static let configuration = CommandConfiguration(
        abstract: "Ask a broker whether it is ready: exit code 0 when it is, else 1.",
        discussion: """
            Without --url it asks the broker that `serve` would be here: at the port of \
            BELFRY_LISTEN, or at port 8080.
            """)

    @OptionGroup var place: PlaceOptions

    func perform(_ signals: StopSignals) async throws(ToolError) {
        let environment = try Environment.variables()
        let url = try PlaceOptions.ownURL(flag: place.url, environment: environment)
        var request = HTTPRequest.get("/readyz")
        request.timeout = .seconds(5)
        _ = try await request.requiredAnswer(from: url)
    }
}
