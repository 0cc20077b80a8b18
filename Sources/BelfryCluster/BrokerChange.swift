/// A change of a broker's part in the log.
public enum BrokerChange: Sendable, Equatable {
    /// Its life has begun.
    case came
    /// The broker has ended its own life.
    case left
    /// Another broker, which did not hear it, has ended its life.
    case ended(by: [UInt8])
}
