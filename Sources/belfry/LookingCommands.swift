import ArgumentParser
import BelfryClient
import BelfryJSON

/// A command that lists what is at a path: all rows, with these columns.
protocol ListingCommand: ClientCommand {
    static var path: String { get }
    static var columns: [String] { get }
    var place: PlaceOptions { get }
    var report: ReportOptions { get }
}

extension ListingCommand {
    func perform(_ signals: StopSignals) async throws(ToolError) {
        let rows = try await Listing.rows(Self.path, from: try place.brokerURL())
        try Listing.write(Self.path, rows, Self.columns, report)
    }
}

/// `belfry observers`.
struct Observers: ListingCommand {
    static let configuration = CommandConfiguration(abstract: "List the observers.")
    static let path = "observers"
    static let columns = [
        "id", "name", "object", "client", "target", "selector", "state", "delivered", "held",
        "dropped",
    ]

    @OptionGroup var place: PlaceOptions
    @OptionGroup var report: ReportOptions
}

/// `belfry responders`.
struct Responders: ListingCommand {
    static let configuration = CommandConfiguration(
        abstract: "List who holds which address, and what they were asked.")
    static let path = "responders"
    static let columns = [
        "id", "object", "implements", "next", "client", "state", "openAsks", "asked",
        "answered",
    ]

    @OptionGroup var place: PlaceOptions
    @OptionGroup var report: ReportOptions
}

/// `belfry asks`.
struct Asks: ListingCommand {
    static let configuration = CommandConfiguration(
        abstract: "List the asks that have no answer yet, oldest first.")
    static let path = "asks"
    static let columns = [
        "id", "object", "selector", "observer", "path", "state", "askedAt", "answerBy",
    ]

    @OptionGroup var place: PlaceOptions
    @OptionGroup var report: ReportOptions
}

/// `belfry values`.
struct Values: ListingCommand {
    static let configuration = CommandConfiguration(
        abstract: "List the objects that have a value.")
    static let path = "values"
    static let columns = ["object", "bytes", "observers", "changedAt"]

    @OptionGroup var place: PlaceOptions
    @OptionGroup var report: ReportOptions
}

/// `belfry queue`.
struct Queue: ClientCommand {
    static let configuration = CommandConfiguration(
        abstract: """
            List what waits in the queue, in the order in which it would be posted, and what enters it \
            later.
            """)

    @Option(help: .value("Remove the notification with this id instead; repeatable.", "ID"))
    var remove: [String] = []

    @Flag(help: "List only what enters the queue later.")
    var waiting = false

    @OptionGroup var place: PlaceOptions
    @OptionGroup var report: ReportOptions

    func validate() throws {
        let isID = remove.allSatisfy { $0.utf8.allSatisfy { 0x30...0x5A ~= $0 } && !$0.isEmpty }
        if !isID {
            throw ValidationError(
                "--remove takes the id of a notification, as `belfry queue` lists it.")
        }
    }

    func perform(_ signals: StopSignals) async throws(ToolError) {
        let url = try place.brokerURL()
        guard remove.isEmpty else {
            for id in remove {
                _ = try await HTTPRequest.delete("queue/\(id)").requiredAnswer(from: url)
            }
            return
        }
        let rows = try await Listing.rows(
            "queue", "entries", filter: waiting ? [("waiting", "true")] : [], from: url)
        let columns =
            waiting
            ? ["id", "name", "object", "dueAt", "every", "fired", "missed", "onDisconnect"]
            : ["id", "name", "object", "style", "modes", "merged", "enqueuedAt", "dueAt"]
        try Listing.write("entries", rows, columns, report)
    }
}

/// Listings of the broker, which come in pages.
enum Listing {
    /// All rows of what is at a path; they are the member of that name, or of another one.
    static func rows(
        _ path: String, _ member: String? = nil, filter: [(String, String)] = [],
        from url: BrokerURL
    ) async throws(ToolError) -> [JSONObject] {
        var rows: [JSONObject] = []
        var cursor: String?
        repeat {
            var request = HTTPRequest.get(path)
            request.query = [("limit", "1000")] + filter
            if let cursor { request.query.append(("cursor", cursor)) }
            let page = JSONObject(try await request.requiredAnswer(from: url).content)
            rows += page?.objects(member ?? path) ?? []
            cursor = page?.string("next")
        } while cursor != nil
        return rows
    }

    /// Writes rows as a table for people, and as one JSON object for programs.
    static func write(
        _ member: String, _ rows: [JSONObject], _ columns: [String], _ report: ReportOptions
    ) throws(ToolError) {
        if report.isForPeople {
            return try Report.write(Array(Report.table(columns, rows).utf8))
        }
        var bytes: [UInt8] = []
        var writer = JSONWriter()
        writer.beginObject(into: &bytes)
        writer.key(escaping: Array(member.utf8), into: &bytes)
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
        abstract: "List the observers that would get a notification, and those that nearly would.",
        discussion: "With --object and --selector it tells instead who would be asked.")

    @Argument(help: .value("The notification name.", "NAME"))
    var name: String?

    @Option(help: .value("The object, or the address that would be asked.", "OBJECT"))
    var object: String?

    @Option(help: .value("What would be asked for.", "SELECTOR"))
    var selector: String?

    @OptionGroup var place: PlaceOptions
    @OptionGroup var report: ReportOptions

    func validate() throws {
        if (name == nil) == (selector == nil) {
            throw ValidationError("Give a NAME, or --object and --selector.")
        }
        if selector != nil, object == nil {
            throw ValidationError("--selector needs --object.")
        }
    }

    func perform(_ signals: StopSignals) async throws(ToolError) {
        let url = try place.brokerURL()
        var request = HTTPRequest.get("explain")
        let parameters = [("name", name), ("object", object), ("selector", selector)]
        request.query = parameters.compactMap { key, value in value.map { (key, $0) } }
        let answer = try await request.requiredAnswer(from: url)
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
            if observers.contains(where: { $0.raw("target") != nil }) {
                columns += ["target", "observer", "reason", "path"]
            }
            text += "\n" + Report.table(columns, observers)
        }
        if !near.isEmpty { text += "\n\nNear misses\n" + Report.table(["id", "reason"], near) }
        if explanation.raw("partial") != nil { text += "\n\nThere may be more near misses." }
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
        let url = try PlaceOptions.ownURL(flag: place.url, ca: place.ca, environment: environment)
        var request = HTTPRequest.get("/readyz")
        request.timeout = .seconds(5)
        _ = try await request.requiredAnswer(from: url)
    }
}
