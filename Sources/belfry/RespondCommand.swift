import ArgumentParser
import BelfryClient

/// `belfry respond`.
struct Respond: ResponderCommand {
    static let configuration = CommandConfiguration(
        abstract: "Answer requests sent to an address, until Ctrl-C.",
        usage: "belfry respond <OBJECT> [<SELECTOR> ...] [<options>] [-- <COMMAND> ...]",
        discussion: """
            COMMAND is run for each ask, with its userInfo as standard input, and ASK_ID, \
            ASK_OBJECT, ASK_SELECTOR, ASK_TARGET and ASK_ANSWER_BY in its environment. With exit \
            code 0 its standard output is the answer, as JSON; none is null. 75 hands the ask on \
            to --next. Any other one refuses, with its standard error as the reason. It gets \
            SIGTERM when its ask is over before.

            Actions, which observers with the target OBJECT send, run it too, without \
            ASK_ANSWER_BY and one after the other: ASK_NAME and ASK_OBJECT are the name and the \
            object of what was posted. What it prints and its exit code are the answer where the \
            observer acknowledges, else nobody waits for them. So do posts with OBJECT whose names \
            are selectors, without ASK_TARGET.

            Without COMMAND each ask is printed as one line of JSON, and answered by a line on \
            standard input: {"id":ID,"answer":JSON}, {"id":ID,"refused":"REASON"} or \
            {"id":ID,"passed":true}. A line without id answers the oldest ask. The command ends \
            with its standard input.
            """)

    static let isWorker = false

    @Argument(help: .value("The address.", "OBJECT"))
    var object: String

    @Argument(
        help: .value(
            "A selector to answer; with --next and no selector the address is an alias.", "SELECTOR"
        ))
    var selectors: [String] = []

    @Option(
        help: .value("The address to ask when this one does not answer.", "OBJECT"),
        completion: Completing.addresses)
    var next: String?

    @Flag(help: "Share the address with other responders that share it, instead of replacing them.")
    var share = false

    @Option(
        help: .value(
            "Requests answered at the same time; more wait at the broker.", "N"))
    var concurrency = 1

    @OptionGroup var following: FollowOptions
    @OptionGroup var place: PlaceOptions

    @Option(parsing: .remaining, help: .hidden)
    var command: [String] = []

    func validate() throws {
        if selectors.isEmpty, next == nil {
            throw ValidationError("Give a SELECTOR, or --next for an alias.")
        }
    }

    /// The options of the responder: asks wait while it is busy, and it ends with its connection.
    var options: ResponderOptions {
        var options = ResponderOptions(selectors)
        options.next = next
        options.ifHeld = share ? .share : nil
        options.concurrency = concurrency
        options.terms.suspensionBehavior = .hold
        return options
    }
}
