/// The answer to "who would get this?" (rule O8).
public struct Explanation: Sendable {
    /// The observers that match, in registration order, with their expected reports.
    public var observers: [(row: ObserverRow, report: ReportRow)] = []
    /// Observers that nearly match; they come with the first page.
    public var nearMisses: [NearMiss] = []
    /// Whether it was asked with a userInfo, which conditions of observers have decided about.
    public var hasUserInfo = false
    /// Whether near misses may be missing: not all names and observers were examined.
    public var isPartial = false
    /// The start of the next page of observers; nil on the last page.
    public var next: UInt64?
}
