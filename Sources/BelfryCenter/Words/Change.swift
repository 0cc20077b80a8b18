/// Something that must last: what a store keeps of a center, and a restarted center begins with.
///
/// Changes of one command are committed together, and in the order of the commands. Observers whose
/// lifetime is their connection never appear, nor does what is held for them.
public enum Change: Sendable, Equatable {
    /// The center has something that must last from now on.
    case center(CenterRecord)
    /// Sequence numbers up to this one may be used: a restart begins above it.
    case sequenceReserved(through: UInt64)
    /// A client is there, or is different now.
    case client(ClientRecord)
    /// A client is gone, and all that belongs to it.
    case clientRemoved(UInt64)
    /// An observer is there, or is different now.
    case observer(ObserverRecord)
    /// An observer is gone, and what was held for it; its tombstone remains.
    case observerRemoved(serial: UInt64, Tombstone)
    /// A notification is held by somebody from now on.
    case notification(NotificationRecord)
    /// Nobody holds this notification any more.
    case notificationReleased(sequence: UInt64)
    /// An observer holds a notification from now on.
    case held(observer: UInt64, sequence: UInt64)
    /// An observer holds a notification no more.
    case released(observer: UInt64, sequence: UInt64)
    /// A responder holds an action from now on, or was sent it.
    indirect case action(ActionRecord)
    /// A responder holds an action no more; the number is that of the observer that has the target.
    case actionReleased(row: UInt64, sequence: UInt64)
    /// What an observer lost for one reason and was not told yet; a count of zero forgets it.
    case gap(observer: UInt64, GapRecord)
    /// A queue entry is there, or is different now.
    case queued(QueueRecord)
    /// A queue entry is gone.
    case dequeued(NotificationID)
    /// A timer is there, or is different now.
    indirect case timer(TimerRecord)
    /// A timer is gone: it is due, was taken out or has ended.
    case timerEnded(NotificationID)
    /// An ask that must last is there, or is different now.
    indirect case ask(AskRecord)
    /// An ask is forgotten, and how it ended.
    case askForgotten(NotificationID)
    /// The value of an object is there, or is different now.
    indirect case value(ValueRecord)
    /// An object has no value any more.
    case valueRemoved(object: [UInt8])
    /// An idempotency key has its effect, or its answer is different now.
    case key(KeyRecord)
    /// An idempotency key is forgotten.
    case keyForgotten(principal: [UInt8], text: [UInt8])
}
