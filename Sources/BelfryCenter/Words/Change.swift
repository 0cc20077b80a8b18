/// A change that must last: a store keeps it, and a restarted center begins with it.
///
/// Changes of one command are committed together, and in the order of the commands. Observers that
/// end with their connection never appear, nor do the notifications held for them.
public enum Change: Sendable, Equatable {
    /// The center has a state that must last from now on.
    case center(CenterRecord)
    /// Sequence numbers up to this one may be used: a restart begins above it.
    case sequenceReserved(through: UInt64)
    /// A client exists, or is different now.
    case client(ClientRecord)
    /// A client is removed, and all that belongs to it.
    case clientRemoved(UInt64)
    /// An observer exists, or is different now.
    case observer(ObserverRecord)
    /// An observer is removed, and the notifications held for it; its tombstone remains.
    case observerRemoved(serial: UInt64, Tombstone)
    /// A notification is held from now on.
    case notification(NotificationRecord)
    /// A notification is no longer held by any observer.
    case notificationReleased(sequence: UInt64)
    /// An observer holds a notification from now on.
    case held(observer: UInt64, sequence: UInt64)
    /// An observer no longer holds a notification.
    case released(observer: UInt64, sequence: UInt64)
    /// A responder holds an action from now on, or was sent it.
    indirect case action(ActionRecord)
    /// A responder no longer holds an action; the row is the observer that has the target.
    case actionReleased(row: UInt64, sequence: UInt64)
    /// The untold losses of an observer for one reason; a count of zero forgets them.
    case gap(observer: UInt64, GapRecord)
    /// A queue entry exists, or is different now.
    case queued(QueueRecord)
    /// A queue entry is removed.
    case dequeued(NotificationID)
    /// A timer exists, or is different now.
    indirect case timer(TimerRecord)
    /// A timer is removed: it is due, was dequeued or has ended.
    case timerEnded(NotificationID)
    /// An ask that must last exists, or is different now.
    indirect case ask(AskRecord)
    /// An ask is forgotten, and how it ended.
    case askForgotten(NotificationID)
    /// The value of an object exists, or is different now.
    indirect case value(ValueRecord)
    /// An object has no value any more.
    case valueRemoved(object: [UInt8])
    /// An idempotency key has its effect, or its answer is different now.
    case key(KeyRecord)
    /// An idempotency key is forgotten.
    case keyForgotten(principal: [UInt8], text: [UInt8])
    /// An archive exists, or is different now.
    indirect case archive(ArchiveRecord)
    /// An archive is forgotten, with its kinds.
    case archiveRemoved(number: UInt32)
    /// The marks of a kind of an archive are different now.
    indirect case archivedKind(ArchivedKindRecord)
    /// A kind of an archive is forgotten.
    indirect case archivedKindForgotten(ArchivedKindKey)
    /// An archive keeps a notification from now on.
    case kept(KeptRecord)
    /// An archive no longer keeps a notification.
    case letGo(sequence: UInt64)
}
