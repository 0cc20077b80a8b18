/// A setting of a stream that is not what it should be.
public struct NATSDifference: Equatable, Sendable {
    /// The name of the setting, as JetStream has it; nil for one that is not looked at.
    public let setting: String?
    /// What it is.
    public let found: String
    /// What it should be.
    public let wanted: String
}
