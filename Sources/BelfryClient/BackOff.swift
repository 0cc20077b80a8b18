/// The random pauses before attempts to reconnect, so that many clients do not come at once.
package struct BackOff {
    private let first: Duration
    private let longest: Duration
    private var attemptCount = 0
    /// How long the next pause is at least.
    private var leastPause = Duration.zero

    /// Takes the pauses of these options.
    package init(_ options: ClientOptions) {
        first = options.firstPause
        longest = options.longestPause
    }

    /// A pause from nothing up to the longest one that is due, which then doubles.
    package mutating func nextPause(using random: inout some RandomNumberGenerator) -> Duration {
        var limit = first
        for _ in 0..<attemptCount where limit < longest { limit *= 2 }
        attemptCount += 1
        defer { leastPause = .zero }
        return max(leastPause, min(limit, longest) * Double.random(in: 0...1, using: &random))
    }

    /// A connection has held for a while.
    package mutating func reset() {
        attemptCount = 0
    }

    /// The broker has too much to do: the next pause is not one of the first.
    mutating func giveWay() {
        attemptCount = max(attemptCount, 4)
        leastPause = min(.seconds(1), longest)
    }
}

extension ClientError {
    /// Whether the broker closed because it, or this client, could not keep up.
    var isOverload: Bool {
        guard case .closed(let code, _) = self else { return false }
        return code == 1013 || code == 4008
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
        // Whoever answers wrongly may stand before a broker that is away.
        case .invalidOpening, .http, .webSocket, .notUnderstood: true
        case .openingRefused(let refusal): ![401, 403, 421].contains(refusal.status)
        case .refused(let refusal): refusal.status.map { $0 >= 500 || $0 == 429 } ?? false
        // Ended in order, taken over, removed, expired credentials, and what the policy refuses: no.
        case .closed(let code, _): ![1000, 1008, 4001, 4002, 4003].contains(code)
        case .invalidURL, .invalidUserInfo, .invalidValue, .invalidEntityTag,
            .invalidIdempotencyKey, .invalidToken, .selectorInUse, .system, .observerRemoved,
            .tooManyRequests, .notConnected, .tls, .closedByOwner, .cancelled:
            false
        }
    }
}
