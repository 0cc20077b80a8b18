internal import BelfryJSON

/// The options of an observer of a value; the broker has defaults for those that are nil.
public struct ValueOptions: Equatable, Sendable {
    /// The treatment of changes while the client is suspended.
    ///
    /// There is no `drop`: the value would lack the changes that are lost.
    public enum SuspensionBehavior: String, Sendable {
        /// Afterwards comes the value as it is.
        case coalesce
        /// All are held, up to a limit; past it comes the value as it is.
        case hold
        /// Changes are delivered although the client asked for suspension; otherwise they are held.
        case deliverImmediately
    }

    /// Whether frames have the old value; the default is not.
    public var tellsOld = false
    /// Whether it outlives its connection; the default is `connection`.
    public var lifetime = ObserverOptions.Lifetime.connection
    /// How long an observer of lifetime `token` stays; the broker's default is an hour.
    public var lease: ObserverOptions.Lease?
    /// The treatment of changes during suspension; the broker's default is `coalesce`.
    public var suspensionBehavior: SuspensionBehavior?
    /// How many changes are held at the broker; its default is 1,000.
    public var holdLimit: Int?
    /// The shortest time between two frames; the last value wins.
    public var minInterval: Duration?

    /// Takes the defaults.
    public init() {}

    /// The options of all observers.
    var terms: ObserverOptions {
        var terms = ObserverOptions()
        terms.lifetime = lifetime
        terms.lease = lease
        terms.suspensionBehavior = suspensionBehavior.flatMap {
            BelfryClient.SuspensionBehavior(rawValue: $0.rawValue)
        }
        terms.holdLimit = holdLimit
        terms.minInterval = minInterval
        return terms
    }

    /// Writes what only an observer of a value has.
    func write(_ writer: inout JSONWriter, _ bytes: inout [UInt8]) {
        if tellsOld { writer.member("old", bool: true, into: &bytes) }
    }
}
