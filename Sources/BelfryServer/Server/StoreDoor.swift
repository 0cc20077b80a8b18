import BelfryLoop
import BelfryStore

/// The store, as the loops see it: they hand it changes, and its commits come back as mail.
protocol StoreDoor: Sendable {
    /// Takes the changes of a loop's turn.
    ///
    /// The loop gets ``LoopMessage/committed(_:)`` with the ticket of the batch once it is stored,
    /// with all batches that the loop handed over before.
    func hand(_ batch: StoreBatch)
    /// Whether new promises can be kept; changes that were handed over are kept in any case.
    var takesPromises: Bool { get }
    /// Whether the uncommitted changes fill half of their limit: other work should wait.
    var isBehind: Bool { get }
    /// Counts a refused promise.
    func noteRefusal()
    /// Whether writing fails for another reason than the broker's own limit.
    var isFailing: Bool { get }
    /// Whether the disk has no room for the changes.
    var isFull: Bool { get }
    /// Records that a promise was not kept in time: the store refuses others until a commit.
    func noteStandstill()
    /// Whether no commit can be expected now, so that a stop does not wait for one.
    var keepsNothing: Bool { get }
    /// Whether there was no progress for this time, whatever the store does.
    func isHeldUp(for time: Duration) -> Bool
    /// Closes the store: commits waiting changes, ends the life in order, and unlocks the data.
    ///
    /// The caller does not wait.
    ///
    /// Each loop then gets ``LoopMessage/released``.
    func end(telling mailboxes: [LoopMailbox<LoopMessage>])
    /// The figures of its work so far.
    var figures: StoreFigures { get }
    /// Begins to make a copy, and reports its outcome later, from another thread.
    func backUp(_ onOutcome: @escaping BackupOutcome) throws(BackupError)
}
