/// Where a walk along the addresses ends (rules R4 to R9).
struct Walk: Sendable {
    /// The addresses that were asked, in order.
    var path: [[UInt8]]
    /// Whether one who implements the selector was busy, or suspended.
    var sawBusy = false
    var sawSuspended = false
    /// The observer that has just handed the ask on.
    var handedOnBy: UInt64?
    /// How many holders were looked at.
    var lookCount = 0
    /// Who was stepped over, and why; nil where nobody wants to know.
    var skipped: [AskExplanation.Skipped]?
    var end = End.nobody

    /// Counts why a holder that implements the selector cannot be asked; the one that has just
    /// handed on has said why it does not answer (rule R9).
    mutating func note(_ reason: AskExplanation.Reason?, of holder: UInt64) {
        if holder == handedOnBy { return }
        if reason == .busy { sawBusy = true }
        if reason == .suspended { sawSuspended = true }
    }

    /// What a walk comes to.
    enum End: Sendable {
        /// This observer may be asked.
        case ask(slot: UInt32)
        /// This observer will be asked when it is live and has room.
        case hold(slot: UInt32)
        /// There is nobody.
        case nobody
    }
}
