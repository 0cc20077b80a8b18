import ArgumentParser
import BelfryClient
import BelfryJSON

/// A command that lists all rows of a path with these columns.
protocol ListingCommand: ClientCommand {
    static var path: String { get }
    static var columns: [String] { get }
    /// The parameters that choose rows; one that is nil was not given.
    var filter: [(String, String?)] { get }
    var place: PlaceOptions { get }
    var report: ReportOptions { get }
}

extension ListingCommand {
    func perform(_ signals: StopSignals) async throws(ToolError) {
        let filter = Listing.given(filter)
        let rows = try await Listing.rows(
            Self.path, filter: filter, from: try place.brokerURL())
        let none = filter.isEmpty ? "No \(Self.path)." : "No \(Self.path) match."
        // Few observers have a condition, and it is long.
        let columns = Self.columns.filter { column in
            column != "where" || rows.contains { $0.raw(column) != nil }
        }
        try Listing.write(Self.path, rows, columns, none: none, report)
    }
}

/// The choice of rows by a part of them, as all lists have it.
struct ContainsOption: ParsableArguments {
    @Option(
        help: .value(
            "Only rows with this text in a name, object, selector, principal or id.", "TEXT"))
    var contains: String?
}

/// `belfry observers`.
struct Observers: ListingCommand {
    static let configuration = CommandConfiguration(abstract: "List the observers.")
    static let path = "observers"
    static let columns = [
        "id", "name", "object", "client", "target", "selector", "state", "delivered", "held",
        "dropped", "where",
    ]

    @Option(help: .value("Only observers of this name.", "NAME"), completion: Completing.channels)
    var name: String?

    @Option(
        help: .value("Only observers of this object.", "OBJECT"), completion: Completing.objects)
    var object: String?

    @Option(
        help: .value("Only observers that send to this address.", "OBJECT"),
        completion: Completing.addresses)
    var target: String?

    @Option(help: .value("Only observers of this client.", "ID"))
    var client: String?

    @Option(help: .value("Only observers whose client is live, suspended or away.", "STATE"))
    var state: String?

    @Option(help: .value("Only observers that this principal registered.", "NAME"))
    var principal: String?

    @OptionGroup var containing: ContainsOption
    @OptionGroup var place: PlaceOptions
    @OptionGroup var report: ReportOptions

    var filter: [(String, String?)] {
        [
            ("name", name), ("object", object), ("target", target), ("client", client),
            ("state", state), ("principal", principal), ("contains", containing.contains),
        ]
    }
}

/// `belfry clients`.
struct Clients: ListingCommand {
    static let configuration = CommandConfiguration(
        abstract: "List clients that are connected, or have observers here without a connection.")
    static let path = "clients"
    static let columns = [
        "id", "transport", "state", "stateSince", "principal", "observers", "held", "unsentBytes",
    ]

    @Option(help: .value("Only clients in this state.", "STATE"))
    var state: String?

    @Option(help: .value("Only clients of this principal.", "NAME"))
    var principal: String?

    @OptionGroup var containing: ContainsOption
    @OptionGroup var place: PlaceOptions
    @OptionGroup var report: ReportOptions

    var filter: [(String, String?)] {
        [("state", state), ("principal", principal), ("contains", containing.contains)]
    }
}

/// `belfry channels`.
struct Channels: ListingCommand {
    static let configuration = CommandConfiguration(
        abstract: "List names that are observed or were posted.")
    static let path = "channels"
    static let columns = ["name", "observers", "posts", "lastPostedAt"]

    @Option(help: .value("Only the channel of this name.", "NAME"), completion: Completing.channels)
    var name: String?

    @OptionGroup var containing: ContainsOption
    @OptionGroup var place: PlaceOptions
    @OptionGroup var report: ReportOptions

    var filter: [(String, String?)] {
        [("name", name), ("contains", containing.contains)]
    }
}

/// `belfry responders`.
struct Responders: ListingCommand {
    static let configuration = CommandConfiguration(
        abstract: "List responders with their addresses and counts.")
    static let path = "responders"
    static let columns = [
        "id", "object", "implements", "next", "client", "state", "openAsks", "asked",
        "answered",
    ]

    @Option(
        help: .value("Only responders at this address.", "OBJECT"), completion: Completing.addresses
    )
    var object: String?

    @Option(
        help: .value("Only responders that implement this selector.", "SELECTOR"),
        completion: Completing.selectors)
    var selector: String?

    @Option(help: .value("Only responders of this client.", "ID"))
    var client: String?

    @Option(help: .value("Only responders whose client is in this state.", "STATE"))
    var state: String?

    @OptionGroup var containing: ContainsOption
    @OptionGroup var place: PlaceOptions
    @OptionGroup var report: ReportOptions

    var filter: [(String, String?)] {
        [
            ("object", object), ("selector", selector), ("client", client), ("state", state),
            ("contains", containing.contains),
        ]
    }
}

/// `belfry asks`.
struct Asks: ListingCommand {
    static let configuration = CommandConfiguration(
        abstract: "List open requests (asks), oldest first.")
    static let path = "asks"
    static let columns = [
        "id", "object", "selector", "observer", "path", "state", "askedAt", "answerBy",
    ]

    @Option(help: .value("Only asks of this address.", "OBJECT"), completion: Completing.addresses)
    var object: String?

    @Option(
        help: .value("Only asks of this selector.", "SELECTOR"), completion: Completing.selectors)
    var selector: String?

    @Option(help: .value("Only asks that this responder is to answer.", "ID"))
    var observer: String?

    @OptionGroup var containing: ContainsOption
    @OptionGroup var place: PlaceOptions
    @OptionGroup var report: ReportOptions

    var filter: [(String, String?)] {
        [
            ("object", object), ("selector", selector), ("observer", observer),
            ("contains", containing.contains),
        ]
    }
}

/// `belfry values`.
struct Values: ListingCommand {
    static let configuration = CommandConfiguration(
        abstract: "List objects that have a value.")
    static let path = "values"
    static let columns = ["object", "bytes", "observers", "changedAt"]

    @Option(help: .value("Only the value of this object.", "OBJECT"), completion: Completing.values)
    var object: String?

    @OptionGroup var containing: ContainsOption
    @OptionGroup var place: PlaceOptions
    @OptionGroup var report: ReportOptions

    var filter: [(String, String?)] {
        [("object", object), ("contains", containing.contains)]
    }
}

/// Listings of the broker, which come in pages.
enum Listing {
    /// The parameters that were given.
    static func given(_ filter: [(String, String?)]) -> [(String, String)] {
        filter.compactMap { name, value in value.map { (name, $0) } }
    }

    /// All rows of a path; they are the member of that name, or of another one.
    static func rows(
        _ path: String, _ member: String? = nil, filter: [(String, String)] = [],
        from url: BrokerURL
    ) async throws(ToolError) -> [JSONObject] {
        var rows: [JSONObject] = []
        var cursor: String?
        repeat {
            var request = HTTPRequest.get(path)
            request.form = .object([member ?? path])
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
        _ member: String, _ rows: [JSONObject], _ columns: [String], none: String,
        _ report: ReportOptions
    ) throws(ToolError) {
        if report.isForPeople {
            if rows.isEmpty { return try Report.write(Array(none.utf8)) }
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
