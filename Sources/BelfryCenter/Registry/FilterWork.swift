/// The work that the conditions of one command may do in notifications of the past.
///
/// A client selects both the conditions and how many notifications they are asked about, so all
/// of them together have the limit of one post.
struct FilterWork {
    /// The bytes that may still be read and looked through.
    private var left = ConditionTruth.workLimit

    /// The least that an evaluation counts, whatever it reads.
    private static let evaluation = 64

    /// Whether a notification fulfils a condition; nil past the limit.
    mutating func isTrue(
        _ condition: FilterCondition, of content: Notification.Content
    ) -> Bool? {
        guard left > 0 else { return nil }
        var truth = ConditionTruth()
        // The first condition of a notification is never past the limit.
        let isTrue = truth.ask(condition, in: content.userInfoOrNothing) ?? true
        left -= Self.evaluation + max(content.userInfoOrNothing.count, truth.work)
        return isTrue
    }
}
