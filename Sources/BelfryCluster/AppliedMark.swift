/// An entry that was applied, and when that was.
struct AppliedMark {
    let index: UInt64
    let chain: UInt64
    /// The time by the clock of this broker.
    let appliedAt: Int64
}
