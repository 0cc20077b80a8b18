import ArgumentParser
import BelfryClient
import BelfryJSON

/// `belfry reports`.
struct Reports: ClientCommand {
    static let configuration = CommandConfiguration(
        abstract: "List observers and names that look forgotten or mistyped.",
        discussion: """
            These are observers that seem abandoned, names that were posted without an observer, \
            and observers whose name was never posted.
            """)

    @OptionGroup var place: PlaceOptions
    @OptionGroup var report: ReportOptions

    func perform(_ signals: StopSignals) async throws(ToolError) {
        let url = try place.brokerURL()
        let leaks = try await Listing.rows("reports/leaks", "observers", from: url)
        var request = HTTPRequest.get("reports/unmatched")
        request.form = .object(["postedNeverObserved", "observedNeverPosted"])
        request.query = [("limit", "1000")]
        let content = try await request.requiredAnswer(from: url).content
        let unmatched = JSONObject(content)
        let lists: [(title: String, member: String, columns: [String], rows: [JSONObject])] = [
            (
                "Observers that look abandoned", "leaks", ["id", "reason", "stateSince"], leaks
            ),
            (
                "Posted, but not observed", "postedNeverObserved", ["name", "posts"],
                unmatched?.objects("postedNeverObserved") ?? []
            ),
            (
                "Observed, but never posted", "observedNeverPosted", ["id", "name"],
                unmatched?.objects("observedNeverPosted") ?? []
            ),
        ]
        guard report.isForPeople else {
            return try Report.write(Self.json(lists.map { ($0.member, $0.rows) }))
        }
        let parts = lists.map { list in
            list.rows.isEmpty
                ? "\(list.title): none"
                : "\(list.title)\n" + Report.table(list.columns, list.rows)
        }
        try Report.write(Array(parts.joined(separator: "\n\n").utf8))
    }

    private static func json(_ lists: [(member: String, rows: [JSONObject])]) -> [UInt8] {
        var bytes: [UInt8] = []
        var writer = JSONWriter()
        writer.beginObject(into: &bytes)
        for (member, rows) in lists {
            writer.key(escaping: Array(member.utf8), into: &bytes)
            writer.beginArray(into: &bytes)
            for row in rows { writer.raw(Report.oneLine(row.json), into: &bytes) }
            writer.endArray(into: &bytes)
        }
        writer.endObject(into: &bytes)
        return bytes
    }
}
