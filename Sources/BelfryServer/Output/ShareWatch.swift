/// Decides when to search for askers over their share of a sum.
///
/// The search goes through all connections, so it is not made each turn: it is made with each
/// eighth of a share that the sum has grown, and now and then.
struct ShareWatch {
    /// The share of one asker.
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
