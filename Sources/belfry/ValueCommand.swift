import ArgumentParser
import BelfryClient
import BelfryJSON
import BelfrySystem

/// `belfry value`.
struct ValueCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "value",
        abstract: "Read, write or watch the value of an object.",
        discussion: """
            A value is one JSON object. KEYPATH is keys, joined by points, such as ui.theme; \
            without it the command is about the whole.
            """,
        subcommands: [
            GetValue.self, PutValue.self, MergeValue.self, RemoveValue.self, WatchValue.self,
        ])
}

/// `belfry value get`.
struct GetValue: ClientCommand {
    static let configuration = CommandConfiguration(
        commandName: "get", abstract: "Print a value; exit code 1 when there is none.")

    @Argument(
        help: .value("The object that has the value.", "OBJECT"), completion: Completing.values)
    var object: String

    @Argument(help: .value("The keys, joined by points.", "KEYPATH"))
    var keyPath = ""

    @Flag(help: #"Print {"value":JSON,"etag":ETAG}, for --if-match."#)
    var etag = false

    @OptionGroup var place: PlaceOptions

    func perform(_ signals: StopSignals) async throws(ToolError) {
        let request = HTTPRequest.value(object, keyPath: keyPath)
        let answer = try await request.requiredAnswer(from: try place.brokerURL())
        guard etag else { return try Report.write(Report.oneLine(answer.content)) }
        var bytes: [UInt8] = []
        var writer = JSONWriter()
        writer.beginObject(into: &bytes)
        writer.member("value", raw: Report.oneLine(answer.content), into: &bytes)
        writer.member("etag", string: answer.entityTag ?? "", into: &bytes)
        writer.endObject(into: &bytes)
        try Report.write(bytes)
    }
}

/// A command that writes a value, and prints the receipt.
protocol ValueWriting: ClientCommand {
    var place: PlaceOptions { get }
    var report: ReportOptions { get }
    /// The request that writes; for the same command line it is the same one.
    func request() throws(ToolError) -> HTTPRequest
}

extension ValueWriting {
    func perform(_ signals: StopSignals) async throws(ToolError) {
        let url = try place.brokerURL()
        let answer = try await request().requiredAnswer(from: url)
        guard report.isForPeople, let receipt = JSONObject(answer.content) else {
            return try Report.write(Report.oneLine(answer.content))
        }
        let columns = ["seq", "changed", "etag", "matched", "delivered", "held"]
        try Report.write(Array(Report.table(columns, [receipt]).utf8))
    }
}

/// `belfry value put`.
struct PutValue: ValueWriting {
    static let configuration = CommandConfiguration(
        commandName: "put", abstract: "Set a value, and print the receipt.",
        usage: "belfry value put <OBJECT> [<KEYPATH>] <JSON> [<options>]",
        discussion: "Anything on the way to KEYPATH that is not an object is replaced by one.")

    @OptionGroup var given: GivenValue

    @Option(
        help: .value("Remove the value this long after it was last set.", "TIME"),
        transform: ArgumentText.duration)
    var ttl: Duration?

    @Flag(help: "Set it only where there is nothing.")
    var new = false

    @OptionGroup var condition: ValueCondition
    @OptionGroup var place: PlaceOptions
    @OptionGroup var report: ReportOptions

    func validate() throws {
        if new, condition.ifMatch != nil {
            throw ValidationError("--new and --if-match cannot both hold: leave out one.")
        }
    }

    func request() throws(ToolError) -> HTTPRequest {
        let json = try given.json()
        do throws(ClientError) {
            return try .setValue(
                given.object, keyPath: given.keyPath, json: json, ttl: ttl,
                ifMatch: condition.ifMatch, ifNoneMatch: new ? "*" : nil)
        } catch {
            throw ToolError(error)
        }
    }
}

/// `belfry value merge`.
struct MergeValue: ValueWriting {
    static let configuration = CommandConfiguration(
        commandName: "merge",
        abstract: "Apply a merge patch to a value, and print the receipt.",
        usage: "belfry value merge <OBJECT> [<KEYPATH>] <JSON> [<options>]",
        discussion:
            "The members of JSON are set in one change; one that is null is removed (RFC 7396).")

    @OptionGroup var given: GivenValue
    @OptionGroup var condition: ValueCondition
    @OptionGroup var place: PlaceOptions
    @OptionGroup var report: ReportOptions

    func request() throws(ToolError) -> HTTPRequest {
        let patch = try given.json()
        do throws(ClientError) {
            return try .mergeValue(
                given.object, keyPath: given.keyPath, patch: patch, ifMatch: condition.ifMatch)
        } catch {
            throw ToolError(error)
        }
    }
}

/// `belfry value rm`.
struct RemoveValue: ValueWriting {
    static let configuration = CommandConfiguration(
        commandName: "rm",
        abstract: "Remove a value, and print the receipt; exit code 1 when there is none.")

    @Argument(
        help: .value("The object that has the value.", "OBJECT"), completion: Completing.values)
    var object: String

    @Argument(help: .value("The keys, joined by points.", "KEYPATH"))
    var keyPath = ""

    @OptionGroup var condition: ValueCondition
    @OptionGroup var place: PlaceOptions
    @OptionGroup var report: ReportOptions

    func request() throws(ToolError) -> HTTPRequest {
        do throws(ClientError) {
            return try .removeValue(object, keyPath: keyPath, ifMatch: condition.ifMatch)
        } catch {
            throw ToolError(error)
        }
    }
}

/// Where a value is written, and what.
struct GivenValue: ParsableArguments {
    @Argument(
        help: .value("The object that has the value.", "OBJECT"), completion: Completing.values)
    var object: String

    @Argument(help: .value("The keys, joined by points; may be left out.", "KEYPATH"))
    var second: String

    @Argument(
        help: .value(
            "JSON text; - reads it from standard input. A negative number stands behind --.",
            "JSON"))
    var third: String?

    /// The keys, joined by points; empty for the whole.
    var keyPath: String { third == nil ? "" : second }

    private var argument: String { third ?? second }

    /// The value to write, as JSON.
    func json() throws(ToolError) -> [UInt8] {
        guard argument == "-" else { return Array(argument.utf8) }
        let json: [UInt8]
        do throws(SystemCallError) {
            json = try StandardStream.input.readAll(byteLimit: 1 << 20)
        } catch {
            throw .failure("standard input cannot be read: \(error)")
        }
        guard ArgumentText.isJSON(json) else { throw .usage("standard input is not JSON") }
        return json
    }

    func validate() throws {
        guard argument == "-" || ArgumentText.isJSON(Array(argument.utf8)) else {
            throw ValidationError("`\(argument)` is not JSON: text needs quotation marks.")
        }
    }
}

/// The condition of a write.
struct ValueCondition: ParsableArguments {
    @Option(
        help: .value(
            "Write only when the value has this ETag, with its quotation marks; else exit code 1.",
            "ETAG"))
    var ifMatch: String?

    func validate() throws {
        do throws(ClientError) {
            _ = try HTTPRequest.removeValue("", ifMatch: ifMatch)
        } catch {
            throw ValidationError("--if-match: \(error)")
        }
    }
}
