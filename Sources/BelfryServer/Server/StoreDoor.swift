import BelfryLoop
import BelfryStore

/// The store, as the loops see it: they hand it what must last, and its commits come back as mail.
protocol StoreDoor: Sendable {
    /// Takes what a turn of a loop has changed.
    ///
    /// The loop gets ``LoopMessage/committed(_:)`` with the ticket of the batch once it is stored, and
    /// so is everything that the loop handed over before.
    func hand(_ batch: StoreBatch)
    /// Whether what is promised from now on can be kept; what was handed over is kept in any case.
    var takesPromises: Bool { get }
    /// Whether half of what may wait to be committed does; what can be put off should be.
    var isBehind: Bool { get }
    /// Counts that a promise was refused, with the reason.
    func noteRefusal()
    /// Whether writing fails, other than by what the broker may keep.
    var isFailing: Bool { get }
    /// Whether the disk has no room for what it was handed.
    var isFull: Bool { get }
    /// A promise was not kept in time: nothing more is promised until something is committed.
    func noteStandstill()
    /// Whether nothing can be expected of it now: a stop does not wait for it.
    var keepsNothing: Bool { get }
    /// Whether it has not got on for so long, whatever it does.
    func isHeldUp(for time: Duration) -> Bool
    /// Takes nothing more: commits what waits, ends the life in order, and gives the data up, for
    /// which nobody waits.
    ///
    /// Each loop then gets ``LoopMessage/released``.
    func end(telling mailboxes: [LoopMailbox<LoopMessage>])
    /// What it has done so far.
    var figures: StoreFigures { get }
    /// Begins to make a copy of it, and tells later, from another thread, what became of that.
    func backUp(_ onOutcome: @escaping BackupOutcome) throws(BackupError)
}
