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

/// `belfry clients`.
struct Clients: ListingCommand {
    static let configuration = CommandConfiguration(
        abstract: "List who is connected, or has observers here without a connection.")
    static let path = "clients"
    static let columns = [
        "id", "transport", "state", "stateSince", "principal", "observers", "held", "unsentBytes",
    ]

    @OptionGroup var place: PlaceOptions
    @OptionGroup var report: ReportOptions
}

/// `belfry channels`.
struct Channels: ListingCommand {
    static let configuration = CommandConfiguration(
        abstract: "List the names that are observed or were posted.")
    static let path = "channels"
    static let columns = ["name", "observers", "posts", "lastPostedAt"]

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
