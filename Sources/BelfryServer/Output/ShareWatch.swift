/// Tells when it must be found out anew who has how much of a sum that is above the share of one.
///
/// That is a look at all connections, so it is not done each turn: with each eighth of a share that the sum has
/// grown, and now and then.
struct ShareWatch {
    /// What one may have.
    let share: Int
    private var seen = 0
    private var turnCount = 0

    private static let turnsBetweenLooks = 256

    init(share: Int) {
        self.share = share
    }

    mutating func mustLook(_ sum: Int) -> Bool {
        turnCount += 1
        seen = min(seen, sum)
        guard sum - seen > share / 8 || turnCount >= Self.turnsBetweenLooks else { return false }
        seen = sum
        turnCount = 0
        return true
    }
}
