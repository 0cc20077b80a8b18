import ArgumentParser
import BelfryClient
import BelfrySystem

/// `belfry ask`.
struct AskCommand: ClientCommand {
    static let configuration = CommandConfiguration(
        commandName: "ask",
        abstract: "Send a request to an address, and print the answer.",
        discussion: """
            The exit code is 0 for the answer of a responder, 3 for the default, and 1 when there \
            is no answer. Ctrl-C withdraws the ask, unless it has a --ttl.
            """)

    @Argument(help: .value("The address.", "OBJECT"), completion: Completing.addresses)
    var object: String

    @Argument(help: .value("What is asked for.", "SELECTOR"), completion: Completing.selectors)
    var selector: String

    @Argument(help: .value("A JSON object; - reads it from standard input.", "USERINFO"))
    var userInfo: String?

    @Option(
        name: .customLong("default"),
        help: .value("The answer when there is no other.", "JSON"))
    var fallback: String?

    @Option(
        help: .value("How long to wait for the answer, at most 60s. Default: 5s.", "TIME"),
        transform: ArgumentText.duration)
    var wait: Duration?

    @Option(
        help: .value(
            "Keep the request open this long, even after this command has ended.",
            "TIME"), transform: ArgumentText.duration)
    var ttl: Duration?

    @Flag(help: "Show the request to one responder at most, and only once.")
    var once = false

    @Flag(help: "Print JSON with the responder and the id of the request; --ttl does so too.")
    var json = false

    @OptionGroup var place: PlaceOptions

    func perform(_ signals: StopSignals) async throws(ToolError) {
        let url = try place.brokerURL()
        let request = try request()
        let answer = try await signals.run { () async throws(ToolError) in
            try await request.requiredAnswer(from: url)
        }
        try write(answer.content)
    }

    /// Prints an answer, and throws when it is the default.
    private func write(_ content: [UInt8]) throws(ToolError) {
        let members = JSONObject(content)
        let isWhole = json || ttl != nil
        try Report.write(Report.oneLine(isWhole ? content : members?.raw("answer") ?? content))
        guard members?.string("by") == "default" else { return }
        throw .byDefault("the answer is the default: \(members?.string("reason") ?? "no reason")")
    }

    /// The request that asks.
    func request() throws(ToolError) -> HTTPRequest {
        if let wait, wait > .seconds(60) { throw .usage("--wait is at most 60s") }
        if let fallback, !ArgumentText.isJSON(Array(fallback.utf8)) {
            throw .usage("--default is not JSON: text needs quotation marks")
        }
        let userInfo = try UserInfo(argument: userInfo, name: "USERINFO")
        do throws(ClientError) {
            return try .ask(
                object, selector, userInfo: userInfo, default: fallback, wait: wait, ttl: ttl,
                once: once)
        } catch {
            throw ToolError(error)
        }
    }
}
