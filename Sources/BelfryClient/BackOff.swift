/// The random pauses before attempts to reconnect, so that many clients do not come at once.
package struct BackOff {
    private let first: Duration
    private let longest: Duration
    /// The attempts that have failed since a connection held for a while.
    private var failureCount = 0
    /// The frames since then that could not be read.
    private var badFrameCount = 0

    /// A connection that holds for so long is a good one: the next pause is a first one again.
    package static let steadyTime = Duration.seconds(10)
    /// The least count of failures behind an answer of a broker with too much to do.
    private static let overloadCount = 3

    /// Begins with the pauses of these options.
    package init(_ options: ClientOptions) {
        first = options.firstPause
        longest = options.longestPause
    }

    /// Makes the next pause, at random: the first from 0 up, a later one in its upper half.
    ///
    /// The greatest pause doubles each time, up to a limit.
    ///
    /// - Parameter announced: the pause that the broker asks for: the next one is not shorter, and
    ///   longer by half of the greatest one at most.
    package mutating func nextPause(
        announced: Duration? = nil, using random: inout some RandomNumberGenerator
    ) -> Duration {
        var due = first
        for _ in 0..<failureCount where due < longest { due *= 2 }
        failureCount += 1
        let half = min(due, longest) / 2
        let spread = Double.random(in: 0...1, using: &random)
        if let announced { return announced + max(first, half) * spread }
        return failureCount == 1 ? first * spread : half + half * spread
    }

    /// Begins anew, as a connection has held for a while.
    package mutating func reset() {
        failureCount = 0
        badFrameCount = 0
    }

    /// Counts a frame that cannot be read; true if it is passed over.
    ///
    /// The first one ends the connection; a later one is passed over, as a new connection did not
    /// help.
    mutating func passesOverBadFrame() -> Bool {
        badFrameCount += 1
        return badFrameCount > 1
    }

    /// Makes the next pause a longer one, as the broker has too much to do.
    package mutating func giveWay() {
        failureCount = max(failureCount, Self.overloadCount)
    }
}

extension ClientError {
    /// Whether the broker, or this client, could not keep up.
    package var isOverload: Bool {
        switch self {
        case .closed(let code, _): code == 1013 || code == 4008
        case .openingRefused(let refusal), .refused(let refusal):
            refusal.status == 503 || refusal.status == 429
        case .foreignAnswer(let answer): answer.status == 503 || answer.status == 429
        default: false
        }
    }

    /// The pause that the answer asked for, if it did.
    package var retryAfter: Duration? {
        switch self {
        case .openingRefused(let refusal), .refused(let refusal): refusal.retryAfter
        case .foreignAnswer(let answer): answer.retryAfter
        default: nil
        }
    }

    /// Whether another attempt may end better with another token.
    var asksForAnotherToken: Bool {
        switch self {
        case .openingRefused(let refusal): refusal.status == 401
        case .closed(let code, _): code == 4003
        default: self == .invalidToken
        }
    }

    /// Whether another attempt may end better than this one (Protocol.md section 10).
    package var isWorthRetrying: Bool {
        switch self {
        case .hostNotFound, .connectionFailed, .connectionLost, .timedOut, .noToken: true
        // A proxy may give a wrong answer while the broker behind it is away.
        case .invalidOpening, .http, .webSocket, .notUnderstood, .foreignAnswer: true
        // A certificate is renewed, a proxy has none while it starts, and a machine has room again.
        case .tls, .system: true
        case .openingRefused(let refusal): ![401, 403, 421].contains(refusal.status)
        case .refused(let refusal): refusal.status.map { $0 >= 500 || $0 == 429 } ?? false
        // Not after a takeover, a removal, expired credentials or a violated policy.
        case .closed(let code, _): ![1008, 4001, 4002, 4003].contains(code)
        case .invalidURL, .invalidUserInfo, .invalidCondition, .invalidValue, .invalidEntityTag,
            .invalidIdempotencyKey, .invalidToken, .dotSegment, .selectorInUse,
            .observerRemoved, .tooManyRequests, .notConnected, .closedByOwner, .cancelled:
            false
        }
    }
}
