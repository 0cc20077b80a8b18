/// How much of its work a command with a limit has done, in deliveries, about.
///
/// The center has no clock. Who gives it commands says how much each may do and looks at a clock
/// between them; a log of commands gives the same state again.
enum Work {
    /// The work of posting a queue entry to nobody.
    static func ofEntry(byteCount: Int) -> Int { 16 + byteCount / 256 }
}
