internal import BelfrySystem

/// The course of one ask over HTTP: the ask itself, then looks after it until the ask has ended.
///
/// Requests are repeated while the broker is away, stops or has too much to do.
package struct AskCourse {
    private let url: @Sendable () async throws(ClientError) -> BrokerURL
    /// The function that learns that the broker is away, and that it is back.
    private let report: @Sendable (ConnectionState) -> Void
    /// The function that learns the id of an ask that is stored, and may outlive this course.
    private let asked: @Sendable (String) -> Void
    private var backOff: BackOff
    private var random = SystemRandom()

    /// The time past the wait that the last request may take, so that the broker ends the ask.
    private static let grace = Duration.seconds(5)
    /// The shortest time between two looks, also where the broker does not wait.
    private static let shortestLook = Duration.seconds(1)

    /// Prepares asking the broker that the function returns.
    package init(
        _ options: ClientOptions = ClientOptions(),
        report: @escaping @Sendable (ConnectionState) -> Void = { _ in },
        asked: @escaping @Sendable (String) -> Void = { _ in },
        at url: @escaping @Sendable () async throws(ClientError) -> BrokerURL
    ) {
        self.url = url
        self.report = report
        self.asked = asked
        backOff = BackOff(options)
    }

    /// Asks, and waits for the end of the ask; one that is stored outlives lost connections.
    ///
    /// - Parameter repeats: whether an ask that is not stored, and has a key, is made again too.
    /// - Returns: an open ask when the wait is over, or the task is cancelled, before its end.
    /// - Throws: `ClientError`.
    package mutating func answer(
        of object: String, _ selector: String, _ userInfo: UserInfo?, _ options: AskOptions,
        repeats: Bool = false
    ) async throws(ClientError) -> AskAnswer {
        guard options.isStored else {
            let request = try HTTPRequest.ask(object, selector, userInfo: userInfo, options)
            let end = ContinuousClock.now + request.timeout
            let mayRepeat = repeats && options.idempotencyKey != nil
            return try AskAnswer(json: try await content(of: request, until: mayRepeat ? end : nil))
        }
        let end = ContinuousClock.now + (options.wait ?? .zero)
        var terms = options
        terms.wait = nil
        terms.ttl = options.ttl ?? options.wait
        terms.idempotencyKey = options.idempotencyKey ?? randomKey()
        let request = try HTTPRequest.ask(object, selector, userInfo: userInfo, terms)
        let answer = try AskAnswer(
            json: try await content(
                of: request, until: max(end, .now + request.timeout), endures: true))
        guard answer.source == .open else { return answer }
        asked(answer.id)
        return ContinuousClock.now < end ? try await self.end(of: answer.id, until: end) : answer
    }

    /// Waits for the end of an ask that is stored.
    ///
    /// - Returns: an open ask when the time is over, or the task is cancelled, before its end.
    /// - Throws: `ClientError`; `refused` for one that failed, and where the broker does not know
    ///   it.
    package mutating func end(
        of id: String, within wait: Duration
    ) async throws(ClientError) -> AskAnswer {
        try await end(of: id, until: ContinuousClock.now + wait)
    }

    private mutating func end(
        of id: String, until end: ContinuousClock.Instant
    ) async throws(ClientError) -> AskAnswer {
        while true {
            let begin = ContinuousClock.now
            var look = HTTPRequest.fate(of: id)
            if begin < end { look.prefer(wait: min(end - begin, AskOptions.longestRequestWait)) }
            let answer: AskAnswer
            do throws(ClientError) {
                answer = try AskAnswer(json: try await content(of: look, until: end))
            } catch {
                if error == .cancelled { return AskAnswer(id: id, .open) }
                throw error
            }
            guard answer.source == .open, ContinuousClock.now < end else { return answer }
            // A cancelled task ends the sleep early, and its next look too.
            try? await Task.sleep(until: begin + Self.shortestLook)
        }
    }

    /// Withdraws an open ask that nobody waits for any more.
    ///
    /// - Returns: the answer of one that has ended meanwhile, else the default of the asker, if
    ///   there is one.
    /// - Throws: `ClientError`.
    @discardableResult
    package func giveUp(_ id: String, fallback: String?) async throws(ClientError) -> AskAnswer {
        var request = HTTPRequest.delete("notifications/\(HTTPRequest.segment(id))")
        request.timeout = Self.grace
        do throws(ClientError) {
            _ = try await request.successfulAnswer(from: url())
        } catch {
            guard case .refused(let refusal) = error, refusal.slug == "already-settled" else {
                throw error
            }
            var look = HTTPRequest.fate(of: id)
            look.timeout = Self.grace
            return try AskAnswer(json: try await look.successfulAnswer(from: url()))
        }
        guard let fallback else { return AskAnswer(id: id, .withdrawn) }
        return AskAnswer(byAsker: fallback, reason: "no-answer")
    }

    /// Gives the default of the asker for anything but the answer of a responder, within the wait.
    package static func failingClosed(
        _ options: AskOptions,
        _ ask: @escaping @Sendable (AskOptions) async throws(ClientError) -> AskAnswer
    ) async -> AskAnswer {
        // The broker is not trusted with the default.
        var open = options
        open.failsClosed = false
        open.fallback = nil
        let terms = open
        let reason: String
        do throws(ClientError) {
            let answer = try await TimeLimit.run(options.wait ?? AskOptions.defaultWait) {
                () async throws(ClientError) in try await ask(terms)
            }
            switch answer.source {
            case .responder: return answer
            case .open: reason = "no-answer"
            case .withdrawn: reason = "withdrawn"
            case .fallback(let word), .asker(let word): reason = word
            }
        } catch {
            reason = error.word
        }
        return AskAnswer(byAsker: options.closedAnswer, reason: reason)
    }

    // MARK: Requests

    /// The content of a successful answer; without an end the request is made once.
    ///
    /// - Parameter endures: whether a cancelled task waits for the answer: it may have the id of an
    ///   ask that the broker has stored, and that can be withdrawn by its id alone.
    private mutating func content(
        of request: HTTPRequest, until end: ContinuousClock.Instant?, endures: Bool = false
    ) async throws(ClientError) -> [UInt8] {
        while true {
            var request = request
            let remaining = end.map { max(.zero, $0 - .now) }
            if let remaining { request.timeout = min(request.timeout, remaining + Self.grace) }
            let failure: ClientError
            do throws(ClientError) {
                let content =
                    try await endures
                    ? enduringContent(of: request) : request.successfulAnswer(from: url())
                report(.open)
                backOff.reset()
                return content
            } catch {
                failure = error
            }
            guard let remaining, remaining > .zero, failure.isWorthRetrying, !failure.isUnanswered
            else { throw failure }
            report(.away(failure))
            if failure.isOverload { backOff.giveWay() }
            let pause = backOff.nextPause(announced: failure.retryAfter, using: &random)
            do {
                try await Task.sleep(for: min(pause, remaining))
            } catch {
                throw .cancelled
            }
        }
    }

    private func enduringContent(of request: HTTPRequest) async throws(ClientError) -> [UInt8] {
        let url = url
        // Its own task is not cancelled with this one.
        return try await Task { () -> Result<[UInt8], ClientError> in
            do throws(ClientError) {
                return .success(try await request.successfulAnswer(from: url()))
            } catch {
                return .failure(error)
            }
        }.value.get()
    }

    private mutating func randomKey() -> String {
        let digits = String(random.next(), radix: 36) + String(random.next(), radix: 36)
        return "ask-\(digits)"
    }
}

extension HTTPRequest {
    /// Reads the state of an ask, or its end.
    static func fate(of id: String) -> HTTPRequest {
        get("notifications/\(segment(id))")
    }
}

extension ClientError {
    /// The slugs of the problems of an ask that has ended without an answer of a responder.
    private static let unansweredSlugs: Set = [
        "no-responder", "responder-busy", "selector-not-implemented", "responder-refused",
        "responder-gone", "no-answer", "already-settled",
    ]

    /// Whether an ask has ended without the answer of a responder.
    package var isUnanswered: Bool {
        guard case .refused(let refusal) = self, let slug = refusal.slug else { return false }
        return Self.unansweredSlugs.contains(slug)
    }

    /// The slug of the broker's problem, or a sentence.
    package var word: String {
        guard case .refused(let refusal) = self else { return description }
        return refusal.slug ?? description
    }
}
