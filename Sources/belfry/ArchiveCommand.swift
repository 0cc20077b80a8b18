import ArgumentParser
import BelfryClient

/// `belfry archive`.
struct ArchiveCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "archive",
        abstract: "Keep what is posted for those who come later: make, list and remove archives.",
        discussion: """
            An archive keeps what is posted to one channel, or to all whose names begin alike, \
            whether anybody observes it or not. `belfry history` prints what is kept, and `belfry \
            observe --since oldest` begins with it. To make or to remove one needs the grant admin.
            """,
        subcommands: [SetArchive.self, ListArchives.self, RemoveArchive.self])
}

/// The channels of an archive.
struct ArchiveChannels: ParsableArguments {
    @Argument(help: .value("The notification name.", "NAME"), completion: Completing.channels)
    var name: String

    @Flag(help: "Take NAME for the beginning of names: all channels that begin so.")
    var prefix = false

    /// The name, or the prefix.
    var archive: ArchiveName { prefix ? .prefix(name) : .exactly(name) }
}

/// `belfry archive set`.
struct SetArchive: ClientCommand {
    static let configuration = CommandConfiguration(
        commandName: "set", abstract: "Make an archive, or change its bounds, and print it.",
        discussion: """
            All bounds hold at once, and those that are not given are the defaults, also of an \
            archive that is there. What is past them goes, the oldest first.
            """)

    @OptionGroup var channels: ArchiveChannels

    @Option(
        help: .value(
            "Keep at most this many of each channel (--each): 1 to 1000000. Default: any number.",
            "N"))
    var count: Int?

    @Option(
        help: .value("Keep at most this many bytes in all: 64KiB, 1GiB. Default: 16MiB.", "SIZE"),
        transform: ArgumentText.byteCount)
    var bytes: Int?

    @Option(
        help: .value(
            "Keep each this long since it was posted: 60s, 7d. Default: any time.", "TIME"),
        transform: ArgumentText.duration)
    var age: Duration?

    @Option(
        help: .value(
            "What --count and --keep-last count: those of a name, or of a name and object.",
            "WORD"),
        completion: .list(["name", "object"]), transform: ArgumentText.word)
    var each: ArchiveTerms.Each?

    @Option(
        help: .value("Keep the newest so many in spite of --age: 0 to 1000. Default: 0.", "N"))
    var keepLast: Int?

    @Flag(
        inversion: .prefixedNo,
        help: "Keep it in the store, or in memory alone. Default: in the store where there is one.")
    var stored: Bool?

    @OptionGroup var place: PlaceOptions
    @OptionGroup var report: ReportOptions

    func validate() throws {
        if keepLast ?? 0 > 0, age == nil {
            throw ValidationError("--keep-last says what stays in spite of --age: give --age too.")
        }
    }

    func perform(_ signals: StopSignals) async throws(ToolError) {
        var terms = ArchiveTerms()
        terms.count = count
        terms.byteLimit = bytes
        terms.age = age
        terms.each = each
        terms.keepLast = keepLast
        terms.isStored = stored
        let request = HTTPRequest.putArchive(channels.archive, terms)
        let answer = try await request.requiredAnswer(from: try place.brokerURL())
        guard report.isForPeople, let row = JSONObject(answer.content) else {
            return try Report.write(Report.oneLine(answer.content))
        }
        let text = Report.table(ListArchives.bounds, [row])
        try Report.write(Array(text.utf8))
    }
}

/// `belfry archive list`.
struct ListArchives: ListingCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List archives with their bounds and what they keep.")
    static let path = "archives"
    /// The columns of an archive whose figures are not known.
    static let bounds = ["name", "count", "bytes", "age", "each", "keepLast", "stored"]
    static let columns = bounds + ["kept", "keptBytes", "firstSeq", "lastSeq"]

    @OptionGroup var place: PlaceOptions
    @OptionGroup var report: ReportOptions

    var filter: [(String, String?)] { [] }
}

/// `belfry archive remove`.
struct RemoveArchive: ClientCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove", abstract: "Remove an archive with all that it keeps.")

    @OptionGroup var channels: ArchiveChannels
    @OptionGroup var place: PlaceOptions

    func perform(_ signals: StopSignals) async throws(ToolError) {
        let request = HTTPRequest.removeArchive(channels.archive)
        _ = try await request.requiredAnswer(from: try place.brokerURL())
    }
}
