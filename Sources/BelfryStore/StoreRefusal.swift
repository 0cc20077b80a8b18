/// Why a store takes no new promise.
public enum StoreRefusal: String, CaseIterable, Sendable {
    /// More waits to be committed than a full disk could take; it is over in a moment.
    case behind
    /// The disk is full, or has no room for the ballast.
    case full
    /// The disk fails.
    case failing
    /// A file is not where it was opened.
    case displaced
    /// The size in use has reached its limit.
    case size
    /// The block of numbers in use is used up, and the next one is not committed yet.
    case numbers
    /// The broker stops.
    case closing
}
