public import BelfryJSON

/// What is at a place of a value.
public struct PresentValue: Sendable {
    /// The value.
    public let value: Document
    /// Its tag.
    public let tag: ValueTag
    /// The number of the center's last notification: what comes later has a higher one.
    public let sequence: UInt64
}
