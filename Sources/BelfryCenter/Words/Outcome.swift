/// The answer to a command.
public enum Outcome: Sendable, Equatable {
    /// The command was done, without a result; the results of posts are the receipts.
    case done
    /// The caller waits: a ``Completion`` follows under the command's name.
    ///
    /// The posts were dispatched, and the receipts have their present states; or a long poll waits
    /// at a mailbox.
    case waiting
    /// The ask is open, and its caller waits: an ``AskCompletion`` follows with the command's id.
    case awaiting(NotificationID)
    /// The posts were made before under the same key; the receipts are those of the first answer.
    case replayed(form: UInt8)
    /// The observers that were registered, in the order of the request.
    case registered([ObserverRow])
    /// How many observers were removed.
    case removed(Int)
    /// A client continues; the deliveries are its held notifications, as far as written at once.
    indirect case resumed(ResumedClient)
    /// How many queue entries were removed.
    case dequeued(Int)
    /// The state of an ask.
    ///
    /// The form is that of the first answer, if this one replays it.
    indirect case asked(AskOutcome, replayedForm: UInt8?)
    /// The result of a write to a value.
    indirect case written(WrittenValue)
    /// An archive as it is now.
    indirect case archive(ArchiveRow)
    /// How many notifications were forgotten, and the number behind which to go on; nil at the end.
    case forgot(count: Int, next: UInt64?)
    /// Nothing was changed.
    case refused(Refusal)

    /// Whether it has a result.
    var hasMore: Bool {
        if case .done = self { false } else { true }
    }
}
