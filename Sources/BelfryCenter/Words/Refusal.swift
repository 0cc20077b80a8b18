/// Why a command changed nothing.
public enum Refusal: Error, Sendable, Equatable {
    /// The center has no such client.
    case unknownClient
    /// The center has and remembers no such observer.
    case unknownObserver
    /// The observer was removed before (rule O4).
    case observerRemoved(Tombstone)
    /// The client is away for longer than the lease of its new observer, in milliseconds (rule O7).
    case leaseIsOver(awayMilliseconds: Int64)
    /// The client has as many observers as it may.
    case tooManyObservers(limit: Int)
    /// The chain of `causedBy` is too long (rules C12 and R14); `post` is the place in the batch, and nil of an ask.
    case causedByTooDeep(limit: Int, post: Int?)
    /// A `now` post whose modes are not current (rule Q18).
    case modeNotCurrent(current: [UInt8], post: Int)
    /// The queue is full (rule Q24).
    case queueFull(limit: Int)
    /// All queues of the broker hold as many bytes as they may.
    case queueBytesFull
    /// The center has as many timers as it may.
    case timersFull(limit: Int)
    /// All timers of the broker hold as many bytes as they may.
    case timerBytesFull
    /// The client has as many farewells as it may.
    case tooManyFarewells(limit: Int)
    /// What the command asks for would have to be stored, and cannot be.
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
    /// Somebody holds the address (rules R1 and R2).
    case alreadyHeld
    /// The chain of `next` would come back to the address (rule R15).
    case responderCircle
    /// The client, or the principal, has as many open asks as it may.
    case tooManyAsks(limit: Int)
    /// The center has as many open asks as it may.
    case asksFull(limit: Int)
    /// All open asks of the broker take as many bytes as they may.
    case askBytesFull
    /// There is no such ask, or the observer was not asked.
    case unknownAsk
    /// The ask is over.
    case alreadySettled
    /// There is nothing at the place of a value.
    case unknownValue
    /// What is at the place does not meet the condition of a write; its tag, if anything is there.
    case preconditionFailed(current: ValueTag?)
    /// A write would take away what is no object on its way, and the caller may not.
    case leafNotCovered(path: [UInt8])
    /// The value of an object would have too many bytes.
    case valueTooLarge(limit: Int)
    /// The value of an object would nest too deep.
    case valueTooDeep(limit: Int)
    /// The center has as many values as it may.
    case valuesFull(limit: Int)
    /// All values of the broker take as many bytes as they may.
    case valueBytesFull
    /// As many places of the value end some time as may.
    case tooManyParts(limit: Int)
    /// The client has as many entries of values as it may.
    case tooManyEntries(limit: Int)
    /// The observer belongs to a client that gets its notifications in another way.
    case noMailbox
}
