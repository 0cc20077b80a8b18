import ArgumentParser
import BelfryClient

/// The options by which an observer begins in the past.
struct BeginningOptions: ParsableArguments {
    @Option(
        help: .value(
            """
            Begin in the past: behind this seq, at this time (2026-11-22T06:00:00Z), or with the \
            oldest that is kept (the word oldest).
            """, "PLACE"), transform: ArgumentText.place)
    var since: Beginning?

    @Option(
        help: .value("Begin with the newest so many that match: 1 to 1000.", "N"),
        transform: ArgumentText.last)
    var last: Beginning?

    @Option(
        help: .value("Begin with the newest so many of each name and object: 1 to 100.", "N"),
        transform: ArgumentText.lastEach)
    var lastEach: Beginning?

    private var given: [Beginning] { [since, last, lastEach].compactMap { $0 } }

    /// Where it begins; nil is the present.
    var beginning: Beginning? { given.first }

    func validate() throws {
        if given.count > 1 {
            throw ValidationError("Give --since, --last or --last-each: one of them.")
        }
    }
}
