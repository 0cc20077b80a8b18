import ArgumentParser
import BelfryClient

/// `belfry work`.
struct Work: ResponderCommand {
    static let configuration = CommandConfiguration(
        abstract: "Run a command for each request sent to an address, beside other workers.",
        usage: "belfry work <OBJECT> <SELECTOR> ... [<options>] -- <COMMAND> ...",
        discussion: """
            The address is shared: each request goes to one of its workers, and waits while none \
            has room. A worker that was killed keeps its place for --lease, so requests that are \
            stored (`belfry ask` with --ttl or a long --wait) wait for the next worker too, also \
            over a restart of the broker. The request that a killed worker had is shown to another \
            one: COMMAND may run twice for one request.

            COMMAND gets the userInfo and the environment as of `belfry respond`. With exit code 0 \
            its standard output is the answer: JSON, or else text. 75 hands the request on to \
            another responder. Any other one refuses, with its standard error as the reason: the \
            request has ended then. On Ctrl-C COMMAND gets SIGTERM, and the place is kept as after \
            a kill.
            """)

    static let isWorker = true

    @Argument(help: .value("The address.", "OBJECT"))
    var object: String

    @Argument(help: .value("A selector to answer.", "SELECTOR"))
    var selectors: [String]

    @Option(help: .value("Requests worked on at the same time, 1 to 1000.", "N"))
    var concurrency = 1

    @Option(
        help: .value(
            "How long the place is kept without a connection, at most 30d. Default: 1h.", "TIME"),
        transform: ArgumentText.duration)
    var lease: Duration?

    @OptionGroup var following: FollowOptions
    @OptionGroup var place: PlaceOptions

    @Option(parsing: .remaining, help: .hidden)
    var command: [String] = []

    func validate() throws {
        if command.isEmpty { throw ValidationError("Give a COMMAND behind the word --.") }
    }

    var options: ResponderOptions {
        .worker(selectors, concurrency: concurrency, lease: lease)
    }
}
