internal import BelfryHTTP
internal import BelfrySystem

// Responders, and asks (Protocol.md section 12).
extension RemoteCenter {
    /// Holds an address: the handler gets asks for the selectors, and its result is the answer.
    ///
    /// ```
    /// let deploys = ResponderOptions(["shouldStart"])
    /// let desk = try await center.respond(to: "deploy", deploys) { ask in
    ///     try await mayStart(ask.userInfo) ? "true" : ask.pass()
    /// }
    /// ```
    ///
    /// The handler works on several asks side by side. It answers with JSON text, refuses by a
    /// `Refusal`, and passes an ask on by `Ask.pass()`. The task of a handler is cancelled when its
    /// ask is over before it answers. Actions for this address, and posts with this object whose
    /// names are among the selectors, come to the handler too, one after the other. Their answers
    /// are ignored, unless the observer that made the action, or the responder, acknowledges.
    ///
    /// An ask that comes again while its handler is at work is handled once. With
    /// `ClientOptions.reconnects` a lost connection brings the responder back: the same one with
    /// the lifetime `token`, else a new one.
    ///
    /// - Throws: `ClientError`; `selectorInUse` when an observation of this center has one of the
    ///   selectors.
    public func respond(
        to object: String, _ options: ResponderOptions,
        handler: @escaping @Sendable (Ask) async throws -> String
    ) async throws(ClientError) -> Responder {
        // No selector begins so: the broker refuses that.
        let key = "belfry.responder.\(nextNumber())"
        let posts = NotificationBuffer(self.options)
        let door = self.door
        let desk = ResponderDesk(options, posts: posts, handler: handler) { owed, response in
            let answer = DeliveryAnswer(selector: key, key: owed, response: response)
            // The reply resumes the task even when the connection is lost for good.
            await withCheckedContinuation { continuation in
                door.submit(
                    .answer(answer, ClientCommand.Reply { _ in continuation.resume() }))
            }
        }
        let wish = ObserverWish(
            name: nil, object: object, selector: key, since: nil, options: options.terms,
            buffer: posts, desk: desk)
        desk.begin()
        let registration: Registration
        do throws(ClientError) {
            registration = try await register(wish)
        } catch {
            wish.finish(error, discarding: true)
            throw error
        }
        return Responder(
            id: registration.id, token: registration.token, object: object, desk: desk
        ) { () async throws(ClientError) in
            try await self.finish { .removeObserver(selector: key, $0) }
        }
    }

    /// Asks the holder of an address, and waits for the answer.
    ///
    /// The ask has a connection of its own: to cancel the task withdraws the ask, and `close()`
    /// does not end it. When that connection is lost it fails with `connectionLost`; with an
    /// idempotency key, and `ClientOptions.reconnects`, it is made again until its time is over.
    /// The same holds when a cluster does not know its outcome (`refused` with the slug
    /// `outcome-unknown`).
    ///
    /// - Parameters:
    ///   - object: the address.
    ///   - selector: the selector that is called.
    ///   - fallback: the answer, as JSON text, when there is no other.
    ///   - wait: how long to wait, in whole seconds up to 60; the broker's default is 5, and with
    ///     `ttl` 0.
    ///   - ttl: makes it an ask that outlives this call, for so long; `answer(toAsk:wait:)` reads
    ///     its answer.
    ///   - once: whether it is shown to one responder at most, and once.
    ///   - causedBy: the id of the notification or ask whose handling asks this.
    ///   - idempotencyKey: a text of 1 to 255 visible ASCII characters: a repetition gets the first
    ///     answer.
    /// - Throws: `ClientError`; `refused` has the problem of section 12 of the protocol, such as
    ///   `no-responder`.
    public func ask(
        _ object: String, _ selector: String, userInfo: UserInfo? = nil,
        default fallback: String? = nil, wait: Duration? = nil, ttl: Duration? = nil,
        once: Bool = false, causedBy: String? = nil, idempotencyKey: String? = nil
    ) async throws(ClientError) -> AskAnswer {
        let request = try HTTPRequest.ask(
            object, selector, userInfo: userInfo, default: fallback, wait: wait, ttl: ttl,
            once: once, causedBy: causedBy, idempotencyKey: idempotencyKey)
        let end = ContinuousClock.now + request.timeout
        var backOff = BackOff(options)
        var random = SystemRandom()
        while true {
            let announced: Duration?
            do throws(ClientError) {
                return try AskAnswer(json: try await request.successfulAnswer(from: requestURL()))
            } catch {
                guard options.reconnects, idempotencyKey != nil, error.isLoss,
                    ContinuousClock.now < end
                else { throw error }
                announced = error.retryAfter
            }
            do {
                try await Task.sleep(
                    for: backOff.nextPause(announced: announced, using: &random))
            } catch {
                throw .cancelled
            }
        }
    }

    /// Reads the state or the answer of an ask that was made with a time to live.
    ///
    /// - Parameters:
    ///   - id: the ask.
    ///   - wait: how long to wait for its end, in whole seconds up to 60; by default not at all.
    /// - Throws: `ClientError`; `refused` when the ask failed, and when the broker does not know
    ///   it.
    public func answer(
        toAsk id: String, wait: Duration? = nil
    ) async throws(ClientError) -> AskAnswer {
        var request = HTTPRequest.get("notifications/\(HTTPRequest.segment(id))")
        request.prefer(wait: wait)
        return try AskAnswer(json: try await request.successfulAnswer(from: requestURL()))
    }

    /// Withdraws an ask that was made with a time to live.
    ///
    /// - Throws: `ClientError`; `refused` when it is over, or unknown.
    public func withdraw(ask id: String) async throws(ClientError) {
        let request = HTTPRequest.delete("notifications/\(HTTPRequest.segment(id))")
        _ = try await request.successfulAnswer(from: requestURL())
    }
}

extension HTTPRequest {
    /// Asks the holder of an address without a center; parameters as for `RemoteCenter.ask`.
    ///
    /// - Throws: `ClientError.invalidIdempotencyKey`.
    public static func ask(
        _ object: String, _ selector: String, userInfo: UserInfo? = nil,
        default fallback: String? = nil, wait: Duration? = nil, ttl: Duration? = nil,
        once: Bool = false, causedBy: String? = nil, idempotencyKey: String? = nil
    ) throws(ClientError) -> HTTPRequest {
        let path = "responders/\(segment(object))/\(segment(selector))"
        var request = post(path, json: userInfo?.json ?? [])
        request.form = .object(["id"])
        if let fallback { request.query.append(("default", fallback)) }
        if once { request.query.append(("once", "true")) }
        if let ttl { request.query.append(("ttl", "\(ttl / .seconds(1))")) }
        if let causedBy { request.query.append(("causedBy", causedBy)) }
        request.prefer(wait: wait, isAsynchronous: ttl != nil)
        try request.identify(by: idempotencyKey)
        return request
    }

    /// A text as one segment of a path.
    static func segment(_ text: String) -> String {
        String(decoding: PercentEncoding.encoded(text), as: UTF8.self)
    }

    /// The content of a successful answer of a broker.
    func successfulAnswer(from url: BrokerURL) async throws(ClientError) -> [UInt8] {
        let answer = try await answer(from: url)
        guard answer.isSuccess else { throw answer.refusal }
        return answer.content
    }
}

extension ClientError {
    /// Whether the outcome of a request is unknown.
    ///
    /// The connection was lost, the broker was about to stop, or its cluster did not answer in
    /// time.
    fileprivate var isLoss: Bool {
        if case .refused(let refusal) = self {
            return refusal.slug == "draining" || refusal.slug == "outcome-unknown"
        }
        switch self {
        case .connectionFailed, .connectionLost, .foreignAnswer: return true
        default: return false
        }
    }
}
