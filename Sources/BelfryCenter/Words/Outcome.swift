/// The answer to a command.
public enum Outcome: Sendable, Equatable {
    /// It was done, and there is no more to say; for posts the receipts say it.
    case done
    /// The posts were dispatched, and are waited for: a ``Completion`` follows under the command's
    /// name. The receipts say how they stand now. Or a long poll waits at a mailbox.
    case waiting
    /// The ask is open, and waited for: an ``AskCompletion`` follows under the command's name.
    case awaiting(NotificationID)
    /// The posts were made before under the same key; the receipts are those of the first answer.
    case replayed(form: UInt8)
    /// The observers that were registered, in the order of the request.
    case registered([ObserverRow])
    /// How many observers were removed.
    case removed(Int)
    /// A client goes on; the deliveries are what it was held, as far as it is written at once.
    indirect case resumed(ResumedClient)
    /// How many queue entries were removed.
    case dequeued(Int)
    /// How an ask stands, or how it ended.
    ///
    /// The form is that of the first answer, if this one replays it.
    indirect case asked(AskOutcome, replayedForm: UInt8?)
    /// What a write to a value did.
    indirect case written(WrittenValue)
    /// Nothing was changed.
    case refused(Refusal)

    /// Whether it says more than that the command was done.
    var hasMore: Bool {
        if case .done = self { false } else { true }
    }
}
