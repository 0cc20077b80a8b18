public import BelfryJSON

/// The present value at a place.
public struct PresentValue: Sendable {
    /// The value.
    public let value: Document
    /// Its tag.
    public let tag: ValueTag
    /// The number of the center's last notification: later ones have a higher one.
    public let sequence: UInt64
}
