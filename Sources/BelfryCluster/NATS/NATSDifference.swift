/// A setting of a stream with a wrong value.
public struct NATSDifference: Equatable, Sendable {
    /// The name of the setting, as JetStream has it; nil for one that is not looked at.
    public let setting: String?
    /// The value that was found.
    public let found: String
    /// The value that it should have.
    public let wanted: String
}
