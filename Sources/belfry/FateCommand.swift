import ArgumentParser
import BelfryClient

/// `belfry fate`.
struct FateCommand: ClientCommand {
    static let configuration = CommandConfiguration(
        commandName: "fate",
        abstract: "Print the answer to a request that was asked before.",
        discussion: """
            `belfry ask --no-wait` prints the ID, and `belfry asks` lists those of open requests. \
            The broker knows a request until 5 minutes after its end. The exit code is as of \
            `belfry ask`: 3 when there is no answer, or none yet. Ctrl-C leaves the request as it \
            is.
            """)

    @Argument(help: .value("The id of the request.", "ID"), completion: Completing.asks)
    var id: String

    @Option(
        help: .value("How long to wait for the answer, also over restarts of the broker.", "TIME"),
        transform: ArgumentText.duration)
    var wait: Duration?

    @Flag(help: "Print JSON with the responder and the state of the request.")
    var json = false

    @OptionGroup var place: PlaceOptions

    func perform(_ signals: StopSignals) async throws(ToolError) {
        let url = try place.brokerURL()
        let answer: AskAnswer
        do throws(ClientError) {
            answer = try await signals.run { () async throws(ClientError) in
                var course = AskCourse.reporting(at: url)
                return try await course.end(of: id, within: wait ?? .zero)
            }
        } catch {
            // The broker has fates of posts, too.
            if error == .notUnderstood { throw .failure("\(url): \(id) is not a request") }
            throw ToolError(askError: error, url)
        }
        try AnswerPrinter(isWhole: json).write(answer)
    }
}
