/// What waits for a turn that has time for it, in the order in which it came.
struct PostponedWork {
    var line = Line<Postponed>()
    /// The turn in which a connection ended last.
    var departureTurn: UInt64 = .max

    var isEmpty: Bool { line.count == 0 }
}

/// One thing that waits for a turn that has time for it.
enum Postponed {
    /// A center is to hear that the connection of a client has ended.
    case departure(_ client: UInt64, Submission)
    /// The calls of a frame are to be performed, from one on.
    case calls(CallFrame, from: Int)
}
