import ArgumentParser
import BelfryClient
import BelfrySystem

/// `belfry post`.
struct Post: ClientCommand {
    static let configuration = CommandConfiguration(
        abstract: "Post a notification, and print the receipt.",
        discussion: """
            With - as NAME it posts what standard input has, one JSON object a line, such as \
            {"name":"A","object":"o","userInfo":{}}, as it comes and up to 1000 lines at once, and \
            prints a receipt a line. Lines that are posted together are all posted or none; the \
            first ones that are refused end the command.
            """)

    @Argument(
        help: .value("The notification name; - posts the lines of standard input.", "NAME"),
        completion: Completing.channels)
    var name: String

    @Option(
        help: .value("The object: the sender of the notification.", "OBJECT"),
        completion: Completing.objects)
    var object: String?

    @Option(help: .value("The userInfo, a JSON object; - reads it from standard input.", "JSON"))
    var userInfo: String?

    @Option(
        help: .value(
            "now, asap or idle. Without it the broker posts at once, past the queue.", "STYLE"),
        completion: .list(["now", "asap", "idle"]), transform: ArgumentText.word)
    var style: PostingStyle?

    @Option(
        help: .value(
            "What a similar post has in common with this one: name,sender, name, sender or none.",
            "LIST"),
        completion: .list(["name,sender", "name", "sender", "none"]),
        transform: ArgumentText.coalescing)
    var coalesce: Coalescing?

    @Option(
        help: .value(
            "Which of several similar posts stays in the queue: first or latest.", "WHICH"),
        completion: .list(["first", "latest"]), transform: ArgumentText.word)
    var keep: PostOptions.Keep?

    @Option(help: .value("A mode in which the post may leave the queue; repeatable.", "MODE"))
    var mode: [String] = []

    @Option(
        help: .value("The time after which an idle post counts as asap: 500ms, 8s, 1h.", "TIME"),
        transform: ArgumentText.duration)
    var maxDelay: Duration?

    @Flag(help: "Deliver to suspended clients too.")
    var immediate = false

    @Option(
        help: .value("Drop a queued or held copy after this time.", "TIME"),
        transform: ArgumentText.duration)
    var ttl: Duration?

    @Option(
        help: .value("Enter the queue this much later: 2s, 1h, 30d.", "TIME"),
        transform: ArgumentText.duration)
    var after: Duration?

    @Option(help: .value("Enter the queue at this time: 2026-11-22T06:00:00Z.", "TIME"))
    var at: String?

    @Option(
        help: .value(
            "Enter the queue repeatedly, at this interval: at least 100ms.", "TIME"),
        transform: ArgumentText.duration)
    var every: Duration?

    @Option(
        help: .value("With --every: when to stop. Default: 24h.", "TIME"),
        transform: ArgumentText.duration)
    var lease: Duration?

    @Flag(help: "Replace posts with this name and object that wait for their time.")
    var replaces = false

    @Option(
        help: .value("Wait this long for observers that acknowledge, at most 60s.", "TIME"),
        transform: ArgumentText.duration)
    var wait: Duration?

    @Option(
        help: .value(
            "The broker posts once for each key: a repetition with this key has no second effect.",
            "KEY"))
    var idempotencyKey: String?

    @OptionGroup var place: PlaceOptions
    @OptionGroup var report: ReportOptions

    func perform(_ signals: StopSignals) async throws(ToolError) {
        let url = try place.brokerURL()
        if name == "-" {
            var lines = PostLines(url, report)
            return try await lines.run()
        }
        let answer = try await request().requiredAnswer(from: url)
        guard report.isForPeople, let receipt = JSONObject(answer.content) else {
            return try Report.write(Report.oneLine(answer.content))
        }
        // A post that waits in the queue has no counts yet.
        let columns =
            receipt.raw("outcome") != nil
            ? ["id", "outcome", "into", "dueAt", "dequeued"].filter {
                $0 == "id" || $0 == "outcome" || receipt.raw($0) != nil
            }
            : ["id", "seq", "matched", "delivered", "held", "dropped", "acknowledged", "pending"]
        try Report.write(Array(Report.table(columns, [receipt]).utf8))
    }

    func validate() throws {
        if name == "-", object != nil || userInfo != nil || options != PostOptions() {
            throw ValidationError("With - each line says what is posted: leave out the options.")
        }
        if after != nil, at != nil { throw ValidationError("--after and --at do not go together.") }
        if lease != nil, every == nil { throw ValidationError("--lease needs --every.") }
        do throws(ClientError) {
            _ = try HTTPRequest.post(name: name, options: options)
        } catch {
            throw ValidationError("--idempotency-key: \(error)")
        }
    }

    /// The request that posts it.
    func request() throws(ToolError) -> HTTPRequest {
        let userInfo = try UserInfo(argument: userInfo, name: "--user-info")
        do throws(ClientError) {
            return try .post(name: name, object: object, userInfo: userInfo, options: options)
        } catch {
            throw ToolError(error)
        }
    }

    private var options: PostOptions {
        var options = PostOptions()
        options.style = style
        options.coalescing = coalesce
        options.keep = keep
        options.modes = mode
        options.maxDelay = maxDelay
        options.isImmediate = immediate
        options.timeToLive = ttl
        options.after = after
        options.at = at
        options.every = every
        options.lease = lease.map { .limited($0) }
        options.replaces = replaces
        options.wait = wait
        options.idempotencyKey = idempotencyKey
        return options
    }
}

extension UserInfo {
    /// Takes the argument of a command line under this name, if it is given; `-` is standard input.
    init?(argument: String?, name: String) throws(ToolError) {
        guard let argument else { return nil }
        do {
            if argument == "-" {
                try self.init(json: StandardStream.input.readAll(byteLimit: 1 << 20))
            } else {
                try self.init(json: argument)
            }
        } catch let error as SystemCallError {
            throw .failure("standard input cannot be read: \(error)")
        } catch {
            throw .usage("\(name): \(error)")
        }
    }
}

extension HTTPRequest {
    /// The answer of a broker that accepted the request.
    func acceptedAnswer(from url: BrokerURL) async throws(ClientError) -> HTTPAnswer {
        let answer = try await answer(from: url)
        guard answer.isSuccess else { throw answer.refusal }
        return answer
    }

    /// The same; an error names the broker.
    func requiredAnswer(from url: BrokerURL) async throws(ToolError) -> HTTPAnswer {
        do throws(ClientError) {
            return try await acceptedAnswer(from: url)
        } catch {
            if case .dotSegment = error { throw .usage(error.description) }
            throw .failure("\(url): \(error)")
        }
    }
}
