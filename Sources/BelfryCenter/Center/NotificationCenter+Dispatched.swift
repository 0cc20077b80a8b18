// What was dispatched, as a kill of the process leaves it (decision 91).

extension NotificationCenter {
    /// What it knows of the numbers that it used before it was restored; a new center has used none.
    public var earlierMarks: DispatchMarks {
        marks ?? DispatchMarks(all: restoredThrough)
    }

    /// Visits the numbers and names that were dispatched above a number, the oldest first.
    ///
    /// - Returns: false where some of them are not known any more; nothing was visited then.
    public func forEachDispatched(
        above sequence: UInt64, _ visit: (UInt64, Span<UInt8>) -> Void
    ) -> Bool {
        guard replay.forgottenThrough <= sequence else { return false }
        replay.forEach(above: sequence) { visit($0.sequence, $0.content.name) }
        return true
    }

    /// The last number that an earlier life can have dispatched of a name.
    func lastDispatchedEarlier(of name: [UInt8]?) -> UInt64 {
        min(restoredThrough, marks?.last(of: name) ?? restoredThrough)
    }

    /// The last number of a name that the replay ring does not have any more.
    func forgottenThrough(of name: [UInt8]?) -> UInt64 {
        replay.forgottenThrough > restoredThrough
            ? replay.forgottenThrough : lastDispatchedEarlier(of: name)
    }
}
