/// The work that the conditions of one command may do in notifications of the past.
///
/// A client selects both the conditions and how many notifications they are asked about, so all
/// of them together have the limit of one post.
struct FilterWork {
    /// The bytes that may still be read and looked through.
    private var left = ConditionTruth.workLimit
    /// The same for the conditions of grants, past the first limit.
    private var leftForGrants = ConditionTruth.workLimit

    /// The least that an evaluation counts, whatever it reads.
    private static let evaluation = 64

    /// Whether a notification fulfils a condition; nil past the limit.
    ///
    /// A gap says nothing of a notification that the grants exclude, as far as they can be asked
    /// (rule W11).
    mutating func isTrue(
        _ condition: FilterCondition, of content: Notification.Content
    ) -> Bool? {
        var truth = ConditionTruth()
        guard left > 0 else {
            guard leftForGrants > 0 else { return nil }
            let isGranted = truth.askGrants(condition, in: content.userInfoOrNothing)
            leftForGrants -= Self.evaluation + max(content.userInfoOrNothing.count, truth.work)
            return isGranted ? nil : false
        }
        // The first condition of a notification is never past the limit.
        let isTrue = truth.ask(condition, in: content.userInfoOrNothing) ?? true
        left -= Self.evaluation + max(content.userInfoOrNothing.count, truth.work)
        return isTrue
    }
}
