internal import BelfryHTTP

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

    /// Holds an address together with other workers: each ask goes to one of them.
    ///
    /// ```
    /// let worker = try await center.work(on: "jobs", ["render"]) { job in
    ///     try await render(job.userInfo)
    /// }
    /// ```
    ///
    /// The worker keeps its place when its connection is lost, for its lease: asks wait while no
    /// worker has room, also over a restart of the broker. An ask whose worker was killed is shown
    /// to another one, so a handler may be called twice for one ask. `close()` gives the place up;
    /// `leave()` keeps it, so that asks wait for the next worker. Asks have a `ttl` or a long wait
    /// to be stored.
    ///
    /// - Parameters:
    ///   - object: the address.
    ///   - selectors: the selectors of the asks that it takes.
    ///   - concurrency: how many asks its handler works on at once, 1 to 1,000.
    ///   - lease: how long the place is kept without a connection, at most 30 days; the broker's
    ///     default is an hour.
    ///   - handler: as of a responder.
    /// - Throws: `ClientError`, as `respond`; `refused` with `already-held` where the holder of the
    ///   address does not share it.
    public func work(
        on object: String, _ selectors: [String], concurrency: Int = 1, lease: Duration? = nil,
        handler: @escaping @Sendable (Ask) async throws -> String
    ) async throws(ClientError) -> Responder {
        try await respond(
            to: object, .worker(selectors, concurrency: concurrency, lease: lease),
            handler: handler)
    }

    /// Asks the holder of an address, and waits for the answer.
    ///
    /// The parameters are those of `AskOptions`.
    ///
    /// - Throws: `ClientError`; `refused` has the problem of section 12 of the protocol, such as
    ///   `no-responder`.
    public func ask(
        _ object: String, _ selector: String, userInfo: UserInfo? = nil,
        default fallback: String? = nil, wait: Duration? = nil, ttl: Duration? = nil,
        once: Bool = false, causedBy: String? = nil, idempotencyKey: String? = nil,
        failClosed: Bool = false
    ) async throws(ClientError) -> AskAnswer {
        var options = AskOptions()
        options.fallback = fallback
        options.wait = wait
        options.ttl = ttl
        options.isOnce = once
        options.causedBy = causedBy
        options.idempotencyKey = idempotencyKey
        options.failsClosed = failClosed
        return try await ask(object, selector, userInfo: userInfo, options: options)
    }

    /// Asks the holder of an address with these options, and waits for the answer.
    ///
    /// The ask has connections of its own: to cancel the task withdraws the ask, unless it has a
    /// `ttl`, and `close()` does not end it. A short ask whose connection is lost fails with
    /// `connectionLost`; with an idempotency key, and `ClientOptions.reconnects`, it is made again
    /// until its time is over. The same holds when a cluster does not know its outcome (`refused`
    /// with the slug `outcome-unknown`). One that is stored (`AskOptions.wait`, `ttl`) has one
    /// effect, and its end is looked for over lost connections.
    ///
    /// - Throws: `ClientError`; `refused` has the problem of section 12 of the protocol, such as
    ///   `no-responder` and, when its time is over, `no-answer`; `timedOut` when a stored ask was
    ///   withdrawn at the end of the wait. With `AskOptions.failsClosed` there are two errors:
    ///   `cancelled`, and `invalidValue` for a `fallback` that is not JSON.
    public func ask(
        _ object: String, _ selector: String, userInfo: UserInfo? = nil, options: AskOptions
    ) async throws(ClientError) -> AskAnswer {
        guard options.failsClosed else {
            return try await asked(object, selector, userInfo, options)
        }
        if let fallback = options.fallback, !JSONObject.isJSON(Array(fallback.utf8)) {
            throw .invalidValue
        }
        let answer = await AskCourse.failingClosed(options) { (terms) async throws(ClientError) in
            try await self.asked(object, selector, userInfo, terms)
        }
        if Task.isCancelled { throw .cancelled }
        return answer
    }

    private func asked(
        _ object: String, _ selector: String, _ userInfo: UserInfo?, _ options: AskOptions
    ) async throws(ClientError) -> AskAnswer {
        var course = AskCourse(self.options, at: requestURL)
        let answer = try await course.answer(
            of: object, selector, userInfo, options, repeats: self.options.reconnects)
        guard answer.source == .open, options.ttl == nil else {
            if Task.isCancelled { throw .cancelled }
            return answer
        }
        let end = course
        if Task.isCancelled {
            // Not in this task, whose requests end at once.
            Task { try await end.giveUp(answer.id, fallback: nil) }
            throw .cancelled
        }
        let last = try await end.giveUp(answer.id, fallback: options.fallback)
        guard last.source != .withdrawn else { throw .timedOut }
        return last
    }

    /// Reads the state or the answer of an ask that is stored.
    ///
    /// - Parameters:
    ///   - id: the ask.
    ///   - wait: how long to wait for its end, over lost connections; by default not at all.
    /// - Returns: an open ask when the wait is over before its end.
    /// - Throws: `ClientError`; `refused` when the ask failed, and when the broker does not know
    ///   it.
    public func answer(
        toAsk id: String, wait: Duration? = nil
    ) async throws(ClientError) -> AskAnswer {
        var course = AskCourse(options, at: requestURL)
        let answer = try await course.end(of: id, within: wait ?? .zero)
        if Task.isCancelled { throw .cancelled }
        return answer
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
    /// Asks the holder of an address without a center; a wait is one of 60 seconds at most.
    ///
    /// - Throws: `ClientError.invalidIdempotencyKey`.
    public static func ask(
        _ object: String, _ selector: String, userInfo: UserInfo? = nil,
        _ options: AskOptions = AskOptions()
    ) throws(ClientError) -> HTTPRequest {
        let path = "responders/\(segment(object))/\(segment(selector))"
        var request = post(path, json: userInfo?.json ?? [])
        request.form = .object(["id"])
        let parameters = [
            ("default", options.fallback), ("once", options.isOnce ? "true" : nil),
            ("ttl", options.ttl.map { "\($0 / .seconds(1))" }), ("causedBy", options.causedBy),
            ("ifNobody", options.ifNobody?.rawValue),
        ]
        request.query += parameters.compactMap { name, value in value.map { (name, $0) } }
        request.prefer(wait: options.wait, isAsynchronous: options.ttl != nil)
        try request.identify(by: options.idempotencyKey)
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
