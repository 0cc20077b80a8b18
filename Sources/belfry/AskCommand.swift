import ArgumentParser
import BelfryClient
import BelfrySystem

/// `belfry ask`.
struct AskCommand: ClientCommand {
    static let configuration = CommandConfiguration(
        commandName: "ask",
        abstract: "Send a request to an address, and print the answer.",
        discussion: """
            The exit code is 0 for the answer of a responder. It is 3 when there is none: the \
            default, no responder, a refusal, a request that has expired or was withdrawn, and a \
            wait that is over. It is 1 for a fault, after which the outcome is not known.

            Up to 60s of --wait the request ends with its connection. For a longer one the broker \
            stores it, and lost connections and restarts of the broker do not end it. When the \
            wait is over, and on Ctrl-C, the request is withdrawn, unless it has --keep or a --ttl \
            of its own: then `belfry fate ID --wait TIME` waits for its answer.

            With --fail-closed anything but the answer of a responder prints the default, within \
            the wait: a broker that is away, hangs or refuses, another server in its place, a \
            signal. In the JSON form it is by the asker, with a reason.
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

    @Flag(help: "Print the default for anything but the answer of a responder.")
    var failClosed = false

    @Option(
        help: .value(
            "How long to wait for the answer, at most 30d. Default: --ttl, else 5s.", "TIME"),
        transform: ArgumentText.duration)
    var wait: Duration?

    @Flag(help: "Print the id of the request, and end; needs --ttl.")
    var noWait = false

    @Option(
        help: .value(
            "How long the request lives, even after this command has ended. Default: the wait.",
            "TIME"), transform: ArgumentText.duration)
    var ttl: Duration?

    @Flag(help: "Keep the request for the wait, even after this command has ended.")
    var keep = false

    @Flag(help: "Show the request to one responder at most, and only once.")
    var once = false

    @Option(
        help: .value("With wait, a stored request waits for the first responder.", "wait"),
        completion: .list(["wait"]), transform: ArgumentText.word)
    var ifNobody: AskOptions.IfNobody?

    @Flag(help: "Print JSON with the responder and the id of the request.")
    var json = false

    @OptionGroup var place: PlaceOptions

    func validate() throws {
        if noWait, ttl == nil || wait != nil || failClosed {
            throw ValidationError("--no-wait needs --ttl, and neither --wait nor --fail-closed.")
        }
        if keep, ttl != nil || wait == nil {
            throw ValidationError("--keep needs --wait, and no --ttl.")
        }
        if failClosed, fallback == nil { throw ValidationError("--fail-closed needs --default.") }
        if let fallback, !ArgumentText.isJSON(Array(fallback.utf8)) {
            throw ValidationError("--default is not JSON: text needs quotation marks.")
        }
    }

    func perform(_ signals: StopSignals) async throws(ToolError) {
        let options = options
        let run: AskRun
        do throws(ToolError) {
            run = AskRun(
                url: try place.brokerURL(), object: object, selector: selector,
                userInfo: try UserInfo(argument: userInfo, name: "USERINFO"))
        } catch {
            guard failClosed, case .failure(let reason) = error else { throw error }
            return try write(AskAnswer(byAsker: options.closedAnswer, reason: reason))
        }
        var answer = try await signals.run { () async throws(ToolError) in
            try await run.answer(options)
        }
        let isWithdrawn = options.ttl == nil && !failClosed && answer.source == .open
        if isWithdrawn, let last = try await run.giveUp(fallback: fallback) { answer = last }
        do throws(ToolError) {
            try write(answer)
        } catch {
            // The default of one that fails closed may be urgent: its ask is withdrawn behind it.
            if failClosed, options.ttl == nil { _ = try? await run.giveUp(fallback: nil) }
            throw error
        }
    }

    private func write(_ answer: AskAnswer) throws(ToolError) {
        if noWait, answer.source == .open {
            return try Report.write(json ? Report.oneLine(answer.content) : Array(answer.id.utf8))
        }
        try AnswerPrinter(isWhole: json).write(answer)
    }

    var options: AskOptions {
        var options = AskOptions()
        options.fallback = fallback
        options.failsClosed = failClosed
        options.wait = noWait ? nil : wait ?? ttl
        options.ttl = keep ? wait : ttl
        options.isOnce = once
        options.ifNobody = ifNobody
        return options
    }
}
