/// The options of an ask; the broker has defaults for those that are nil.
public struct AskOptions: Equatable, Sendable {
    /// The answer, as JSON text, when no responder gives one.
    public var fallback: String?
    /// How long to wait for the answer; the broker's default is 5 seconds, and with `ttl` none.
    ///
    /// Up to 60 seconds the ask lives as long as its one request. For a longer wait the broker
    /// stores the ask, at most 30 days, and it outlives lost connections and restarts of the
    /// broker. When the wait is over the ask is withdrawn, unless it has a `ttl`.
    public var wait: Duration?
    /// How long the ask lives, at most 30 days, whether or not somebody waits for it.
    ///
    /// `RemoteCenter.answer(toAsk:wait:)` reads its answer.
    public var ttl: Duration?
    /// Whether it is shown to one responder at most, and once.
    public var isOnce = false
    /// The id of the notification or ask whose handling asks this.
    public var causedBy: String?
    /// A text of 1 to 255 visible ASCII characters: a repetition gets the first answer.
    public var idempotencyKey: String?
    /// The treatment of an ask that no responder may answer; it needs a `ttl`, or a long wait.
    public var ifNobody: IfNobody?
    /// Whether anything but the answer of a responder gives `fallback`, within the wait.
    ///
    /// A broker that is away, hangs or refuses, another server in its place and a token function
    /// that fails are then no errors: the source of the answer is `AskAnswer.Source.asker`. Without
    /// a `fallback` the answer is null; without a `wait` the time is 5 seconds.
    public var failsClosed = false

    /// The choice when no responder may answer an ask.
    public enum IfNobody: String, Sendable {
        /// The ask waits for a responder, as long as it lives.
        case wait
    }

    /// Makes options with the defaults.
    public init() {}

    /// The time to wait where none is given, as the broker has it.
    static let defaultWait = Duration.seconds(5)
    /// The longest wait of one request.
    static let longestRequestWait = Duration.seconds(60)

    /// The answer of an asker that fails closed.
    package var closedAnswer: String { fallback ?? "null" }

    /// Whether the broker stores the ask, so that it outlives its request.
    package var isStored: Bool {
        ttl != nil || (wait ?? .zero) > Self.longestRequestWait
    }
}
