import ArgumentParser
import BelfryClient

/// `belfry queue`.
struct Queue: ClientCommand {
    static let configuration = CommandConfiguration(
        abstract: """
            List what waits in the queue, in the order in which it would be posted, and what enters it \
            later.
            """)

    @Option(
        help: .value("Remove the notification with this id instead; repeatable.", "ID"),
        completion: Completing.entries)
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
