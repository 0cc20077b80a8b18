/// The answer to "who would get this?" (rule O8).
public struct Explanation: Sendable {
    /// The observers that match, in registration order, with what would happen.
    public var observers: [(row: ObserverRow, report: ReportRow)] = []
    /// Observers that nearly would; they come with the first page.
    public var nearMisses: [NearMiss] = []
    /// Whether there may be more that nearly would: not all names and observers were looked at.
    public var isPartial = false
    /// Where the next page of observers starts; nil when this was the last one.
    public var next: UInt64?
}
