/// The reason why a command changed nothing.
public enum Refusal: Error, Sendable, Equatable {
    /// The center has no such client.
    case unknownClient
    /// The center has and remembers no such observer.
    case unknownObserver
    /// The observer was removed before (rule O4).
    case observerRemoved(Tombstone)
    /// The client was away, for these milliseconds, past the lease of its new observer (rule O7).
    case leaseIsOver(awayMilliseconds: Int64)
    /// The client is at its limit of observers.
    case tooManyObservers(limit: Int)
    /// The center is at its limit of distinct prefixes.
    case prefixesFull(limit: Int)
    /// The center is at its limit of distinct conditions.
    case conditionsFull(limit: Int)
    /// The chain of `causedBy` is too long (rules C12 and R14).
    ///
    /// `post` is the position in the batch, and nil for an ask.
    case causedByTooDeep(limit: Int, post: Int?)
    /// The modes of a `now` post are not current (rule Q18).
    case modeNotCurrent(current: [UInt8], post: Int)
    /// The queue is full (rule Q24).
    case queueFull(limit: Int)
    /// The queues of the whole broker are at their limit of bytes.
    case queueBytesFull
    /// The center is at its limit of timers.
    case timersFull(limit: Int)
    /// The timers of the whole broker are at their limit of bytes.
    case timerBytesFull
    /// The client is at its limit of farewells.
    case tooManyFarewells(limit: Int)
    /// The effect of the command would have to be stored, and cannot be.
    case cannotStore
    /// The idempotency key was used for another request.
    case keyReused
    /// The mode stack is full.
    case modeStackFull(limit: Int)
    /// There is no such mode lease.
    case unknownMode
    /// There is no such queue entry.
    case unknownEntry
    /// A client that has registered observers cannot continue another one.
    case resumeTooLate
    /// The address has a holder (rules R1 and R2).
    case alreadyHeld
    /// The chain of `next` would come back to the address (rule R15).
    case responderCircle
    /// The client, or the principal, is at its limit of open asks.
    case tooManyAsks(limit: Int)
    /// The center is at its limit of open asks.
    case asksFull(limit: Int)
    /// The open asks of the whole broker are at their limit of bytes.
    case askBytesFull
    /// There is no such ask, or the observer was not asked.
    case unknownAsk
    /// The ask is over.
    case alreadySettled
    /// The place of a value is empty.
    case unknownValue
    /// The value at the place does not meet the condition of a write; its tag, if there is one.
    case preconditionFailed(current: ValueTag?)
    /// A write would remove a value that is no object on its path, and the caller may not.
    case leafNotCovered(path: [UInt8])
    /// The value of an object would have too many bytes.
    case valueTooLarge(limit: Int)
    /// The value of an object would nest too deep.
    case valueTooDeep(limit: Int)
    /// The center is at its limit of values.
    case valuesFull(limit: Int)
    /// The values of the whole broker are at their limit of bytes.
    case valueBytesFull
    /// The value is at its limit of parts with a `ttl` or a `lease`.
    case tooManyParts(limit: Int)
    /// The client is at its limit of entries in values.
    case tooManyEntries(limit: Int)
    /// The archives of the center are at their limit of bytes or of number.
    case archiveFull(limit: Int, count: Int)
    /// There is no such archive.
    case unknownArchive
    /// The configuration file has set the archive.
    case setByConfiguration
    /// The observer belongs to a client of another transport.
    case noMailbox
}
