/// The work that a command with a limit has done, in deliveries, about.
///
/// The center has no clock. Its host decides how much work each command may do, and reads a clock
/// between them; a log of commands gives the same state again.
enum Work {
    /// The work of posting a queue entry without observers.
    static func ofEntry(byteCount: Int) -> Int { 16 + byteCount / 256 }

    /// The work of one end: of an observer, of an entry held for it, of a wait, of a key.
    static let ofEnd = 16

    /// The deliveries after which the remaining reports wait for another command.
    static let reportShare = 20_000

    /// The number of void deadlines, or of old entries of a table, that a command removes besides.
    static let vainLookLimit = 1_024
}
