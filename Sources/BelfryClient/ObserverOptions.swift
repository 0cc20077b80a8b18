internal import BelfryJSON

/// The treatment of notifications for an observer while its client is suspended.
///
/// A client is suspended when it asked for that, is away, or is too slow.
public enum SuspensionBehavior: String, Sendable {
    /// Notifications are lost.
    case drop
    /// The last one of each name and object is held.
    case coalesce
    /// All are held, up to a limit.
    case hold
    /// Notifications are delivered although the client asked for suspension, else held.
    case deliverImmediately
}

/// The options of an observer; the broker has defaults for those that are nil.
public struct ObserverOptions: Equatable, Sendable {
    /// Whether an observer outlives its connection.
    public enum Lifetime: String, Sendable {
        /// The observer ends with the connection, and is registered anew on the next one.
        case connection
        /// The observer stays at the broker for its lease, which holds its notifications meanwhile.
        case token
    }

    /// How long an observer stays at the broker without a connection, or a post repeats.
    public enum Lease: Equatable, Sendable {
        /// For so long; the broker's limit is 30 days.
        case limited(Duration)
        /// Until it is removed, which needs a grant.
        case forever

        func write(_ writer: inout JSONWriter, _ bytes: inout [UInt8]) {
            switch self {
            case .limited(let duration): writer.member("lease", seconds: duration, into: &bytes)
            case .forever: writer.member(null: "lease", into: &bytes)
            }
        }
    }

    /// Whether it outlives its connection; the default is `connection`.
    ///
    /// With `ClientOptions.reconnects` the center resumes its observers of lifetime `token`, with
    /// their held notifications. A program that ends without closing its center leaves them behind.
    public var lifetime = Lifetime.connection
    /// How long an observer of lifetime `token` stays; the broker's default is an hour.
    public var lease: Lease?
    /// The treatment of notifications during suspension.
    ///
    /// The broker's default is `coalesce`, or `hold` for an acknowledging observer.
    public var suspensionBehavior: SuspensionBehavior?
    /// Whether the poster learns the answers of this observer, which needs a grant.
    ///
    /// Each notification is then answered: with `Observation.handle(_:)`, or with `acknowledge(_:)`
    /// and `refuse(_:reason:)`. Notifications without an answer when the connection is lost come
    /// again when it is resumed.
    public var acknowledges = false
    /// How many notifications are held at the broker; its default is 1,000.
    public var holdLimit: Int?
    /// The time limit of the registration, in place of `ClientOptions.requestTimeout`.
    ///
    /// An observer that the broker confirms later is removed.
    public var timeout: Duration?
    /// The shortest time between two deliveries of one name and object; the last of them wins.
    public var minInterval: Duration?
    /// Whether the observer has a connection of its own.
    ///
    /// While an observer reads the past its client counts as slow, and nothing overtakes: other
    /// observers of the same connection get no live notification until the replay ends. So by
    /// default an observer that begins in the past has its own, unless it begins behind a sequence
    /// number, as an observer that continues does. The own connection keeps as many notifications
    /// for a slow reader as `ClientOptions.bufferByteLimit` allows, and ends with the observer;
    /// `RemoteCenter.connectionStates` does not include it.
    public var ownsConnection: Bool?

    /// Makes options with the defaults.
    public init() {}

    func write(_ writer: inout JSONWriter, _ bytes: inout [UInt8]) {
        writer.member("lifetime", string: lifetime.rawValue, into: &bytes)
        lease?.write(&writer, &bytes)
        if let suspensionBehavior {
            writer.member("suspensionBehavior", string: suspensionBehavior.rawValue, into: &bytes)
        }
        if acknowledges { writer.member("acknowledge", bool: true, into: &bytes) }
        if let holdLimit { writer.member("holdLimit", integer: holdLimit, into: &bytes) }
        if let minInterval { writer.member("minInterval", seconds: minInterval, into: &bytes) }
    }
}
