// The dispatched numbers, as a kill of the process leaves them (decision 91).

extension NotificationCenter {
    /// The known numbers of the lives before the restoration; a new center has used none.
    public var earlierMarks: DispatchMarks {
        history.marks ?? DispatchMarks(all: history.restoredThrough)
    }

    /// Visits the numbers and names that were dispatched above a number, the oldest first.
    ///
    /// - Returns: false where some of them are forgotten; nothing was visited then.
    public func forEachDispatched(
        above sequence: UInt64, _ visit: (UInt64, Span<UInt8>) -> Void
    ) -> Bool {
        guard history.replay.forgottenThrough <= sequence else { return false }
        history.replay.forEach(above: sequence) { visit($0.sequence, $0.content.name) }
        return true
    }
}
