import ArgumentParser
import BelfryClient

/// `belfry queue`.
struct Queue: ClientCommand {
    static let configuration = CommandConfiguration(
        abstract: """
            List queued notifications in the order of posting, and those that enter the queue \
            later.
            """)

    @Option(
        help: .value("Remove the notification with this id instead; repeatable.", "ID"),
        completion: Completing.entries)
    var remove: [String] = []

    @Flag(help: "List only what enters the queue later.")
    var waiting = false

    @Option(help: .value("Only entries of this name.", "NAME"), completion: Completing.channels)
    var name: String?

    @Option(help: .value("Only entries of this object.", "OBJECT"), completion: Completing.objects)
    var object: String?

    @OptionGroup var containing: ContainsOption
    @OptionGroup var place: PlaceOptions
    @OptionGroup var report: ReportOptions

    func validate() throws {
        let isID = remove.allSatisfy { $0.utf8.allSatisfy { 0x30...0x5A ~= $0 } && !$0.isEmpty }
        if !isID {
            throw ValidationError(
                "--remove needs the id of a notification, as `belfry queue` lists it.")
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
        let filter = Listing.given([
            ("waiting", waiting ? "true" : nil), ("name", name), ("object", object),
            ("contains", containing.contains),
        ])
        let rows = try await Listing.rows("queue", "entries", filter: filter, from: url)
        let columns =
            waiting
            ? ["id", "name", "object", "dueAt", "every", "fired", "missed", "onDisconnect"]
            : ["id", "name", "object", "style", "modes", "merged", "enqueuedAt", "dueAt"]
        let none = filter.isEmpty ? "The queue is empty." : "No entries match."
        try Listing.write("entries", rows, columns, none: none, report)
    }
}
