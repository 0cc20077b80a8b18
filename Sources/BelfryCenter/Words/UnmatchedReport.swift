/// Names that are posted and not observed, or observed and not posted: mostly typing errors.
public struct UnmatchedReport: Sendable, Equatable {
    /// Names that were posted and that no observer ever matched.
    public var postedNeverObserved: [UnobservedName] = []
    /// Observers whose name was never posted.
    public var observedNeverPosted: [ObserverRow] = []
}
