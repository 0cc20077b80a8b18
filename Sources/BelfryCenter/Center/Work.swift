/// How much of its work a command with a limit has done, in deliveries, about.
///
/// The center has no clock. Who gives it commands says how much each may do and looks at a clock
/// between them; a log of commands gives the same state again.
enum Work {
    /// The work of posting a queue entry to nobody.
    static func ofEntry(byteCount: Int) -> Int { 16 + byteCount / 256 }

    /// The work of ending one thing: an observer, what is held for it, a wait, a key.
    static let ofEnd = 16

    /// After how many deliveries the reports that are left wait for another command.
    static let reportShare = 20_000

    /// How many deadlines a command may look at besides that bring about nothing any more.
    static let vainLookLimit = 1_024
}
