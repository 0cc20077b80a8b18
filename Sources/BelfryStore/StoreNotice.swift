/// A notice to the operator, told once until its cause is over.
public enum StoreNotice: Sendable, Equatable {
    /// A commit failed, or there is no room for the ballast; both are tried again until they
    /// succeed, and nothing new is promised meanwhile.
    case failed(StoreError)
    /// A commit has taken longer than answers wait for it; nothing new is promised until it is
    /// over.
    case standsStill
    /// Everything is committed, and the ballast is laid again; or a stalled commit is over.
    case recovered
    /// More is in use than may be; nothing new is promised until it is less.
    case oversized(byteCount: Int, limit: Int)
    /// For some time it was not more than may be: it is less than the limit again.
    case fits(byteCount: Int, limit: Int)
    /// More waits to be committed than may wait: some promises are refused, so many so far.
    case behind(refusalCount: UInt64)
    /// The backlog has refused nothing for some time; so many promises were refused before.
    case caughtUp(refusalCount: UInt64)
    /// The log could not be moved into the main file, and grows on.
    case logStays(StoreError)
}
