import BelfryClient

/// One case: a center, and what was begun in it.
actor PlayedCase {
    private let name: String
    private let center: RemoteCenter
    private let resumes: Bool
    private var isOver = false
    private var calls: [String: Task<Void, Never>] = [:]
    private var made: [String: Made] = [:]
    private var leases: [String: ModeLease] = [:]
    private var answers: [String: Answers] = [:]

    init(_ name: String, _ begin: JSONObject) {
        self.name = name
        let options = GivenOptions(begin)
        resumes = options.center.resumes
        do throws(ClientError) {
            var url = try BrokerURL(
                "\(begin.string("url") ?? "")/v1/centers/\(begin.string("center") ?? "")")
            if let token = options.text("token") { url = try url.authenticated(by: token) }
            let tokens = options.raw("token").flatMap(JSONObject.init).map(GivenTokens.init)
            let source: TokenSource? = tokens.map { $0.next }
            center = try .connecting(to: url, options: options.center, token: source)
        } catch {
            preconditionFailure("no center: \(error)")
        }
        Task { await self.tellStates() }
    }

    /// Closes the center.
    func end() async {
        await center.close()
        CaseRunner.say([
            ("case", CaseRunner.text(name)), ("ended", CaseRunner.json("true")),
        ])
    }

    // MARK: Telling

    private nonisolated func tell(_ kind: String, _ members: [(String, [UInt8])]) {
        CaseRunner.say(
            [("case", CaseRunner.text(name)), ("told", CaseRunner.text(kind))] + members)
    }

    private func tellStates() async {
        for await state in center.connectionStates {
            let (word, error): (String, ClientError?) =
                switch state {
                case .open: ("open", nil)
                case .away(let error): ("waiting", error)
                case .over(let error): ("closed", error)
                }
            if word == "closed" { isOver = true }
            var members = [("state", CaseRunner.text(word))]
            if case .closed(let code, _) = error {
                members.append(("code", CaseRunner.json("\(code)")))
            }
            tell("state", members)
        }
    }

    /// Why a call failed; one that began when the center was over is told that.
    private func tell(_ error: ClientError, of label: String, wasOver: Bool) {
        var members = [("of", CaseRunner.text(label))]
        let refusal: BrokerRefusal? =
            switch error {
            case .refused(let refusal), .openingRefused(let refusal): refusal
            default: nil
            }
        let why =
            switch error {
            case .refused: "refused"
            case .openingRefused: wasOver ? "closed" : "refused"
            case .timedOut: "timeout"
            case .cancelled: "cancelled"
            case .closedByOwner: "closed"
            case .closed: error.isWorthRetrying ? "lost" : "closed"
            case .connectionLost, .connectionFailed, .notUnderstood, .foreignAnswer: "lost"
            default: "\(error)"
            }
        members.append(("why", CaseRunner.text(why)))
        if case .refused(let refusal) = error {
            members.append(("code", CaseRunner.json("\(refusal.code)")))
        }
        if let refusal, !refusal.problem.isEmpty { members.append(("problem", refusal.problem)) }
        tell("error", members)
    }

    // MARK: Doing

    /// Begins a step, which may continue beside later steps.
    func perform(_ step: JSONObject) async {
        let verb = step.string("do") ?? ""
        if verb == "answer" {
            guard let answer = step.raw("with").flatMap(JSONObject.init) else { return }
            await answers[step.string("observer") ?? ""]?.give(answer, to: step.string("id"))
            return
        }
        if verb == "cancel" {
            calls[step.string("of") ?? ""]?.cancel()
            return
        }
        let label = step.string("as") ?? ""
        let wasOver = isOver
        CaseRunner.say([("case", CaseRunner.text(name)), ("begun", CaseRunner.text(label))])
        calls[label] = Task {
            do throws(ClientError) {
                let value = try await result(of: verb, step, label)
                tell("result", [("of", CaseRunner.text(label)), ("value", value)])
            } catch {
                tell(error, of: label, wasOver: wasOver)
            }
        }
    }

    private func result(
        of verb: String, _ step: JSONObject, _ label: String
    ) async throws(ClientError) -> [UInt8] {
        let options = GivenOptions(step)
        let (object, keyPath) = (step.string("object") ?? "", step.string("keyPath") ?? "")
        switch verb {
        case "addObserver": return try await addObserver(step, label, options)
        case "respond": return try await respond(step, label, options)
        case "remove": try await made[step.string("observer") ?? ""]?.remove()
        case "post": return try await post(step, options)
        case "ask": return try await ask(step, options)
        case "withdraw": try await center.withdraw(ask: step.string("id") ?? "")
        case "value":
            guard let value = try await center.value(object, keyPath: keyPath) else { break }
            return CaseRunner.object([
                ("value", CaseRunner.json(value.json)), ("etag", CaseRunner.text(value.etag)),
                ("seq", CaseRunner.json("\(value.sequence)")),
            ])
        case "setValue":
            return try await center.setValue(
                object, keyPath: keyPath,
                json: String(decoding: step.raw("value") ?? [], as: UTF8.self),
                ttl: options.duration("ttl"), lease: options.duration("lease"),
                ifMatch: options.text("ifMatch"), ifNoneMatch: options.text("ifNoneMatch")
            ).json
        case "mergeValue":
            return try await center.mergeValue(
                object, keyPath: keyPath,
                patch: String(decoding: step.raw("patch") ?? [], as: UTF8.self),
                ifMatch: options.text("ifMatch"), ifNoneMatch: options.text("ifNoneMatch")
            ).json
        case "removeValue":
            return try await center.removeValue(
                object, keyPath: keyPath, ifMatch: options.text("ifMatch")
            ).json
        case "setSuspended":
            try await center.setSuspended(step.raw("suspended") == CaseRunner.json("true"))
        case "enterMode":
            let lease = try await center.enterMode(step.string("mode") ?? "")
            leases[label] = lease
            return CaseRunner.object([("id", CaseRunner.text(lease.id))])
        case "leaveMode":
            guard let lease = leases[step.string("lease") ?? ""] else { break }
            try await center.leaveMode(lease)
        case "dequeue":
            let count = try await center.dequeue(
                name: options.text("name"), object: options.text("object"))
            return CaseRunner.json("\(count)")
        case "explain":
            return Array(
                try await center.explain(
                    name: options.text("name") ?? "", object: options.text("object"),
                    userInfo: options.raw("userInfo").map { try? UserInfo(json: $0) } ?? nil
                ).utf8)
        case "close": await center.close()
        default: preconditionFailure("this runner cannot \(verb)")
        }
        return CaseRunner.json("null")
    }

    private func post(
        _ step: JSONObject, _ options: GivenOptions
    ) async throws(ClientError) -> [UInt8] {
        let userInfo: UserInfo? =
            if let json = options.raw("userInfo") { try UserInfo(json: json) } else { nil }
        return try await center.post(
            name: step.string("name") ?? "", object: options.text("object"), userInfo: userInfo,
            options: options.post
        ).json
    }

    private func ask(
        _ step: JSONObject, _ options: GivenOptions
    ) async throws(ClientError) -> [UInt8] {
        let userInfo: UserInfo? =
            if let json = step.raw("userInfo") { try UserInfo(json: json) } else { nil }
        let answer = try await center.ask(
            step.string("object") ?? "", step.string("selector") ?? "", userInfo: userInfo,
            default: options.raw("default").map { String(decoding: $0, as: UTF8.self) },
            wait: options.duration("wait"), ttl: options.duration("ttl"),
            once: options.isSet("once"), causedBy: options.text("causedBy"),
            idempotencyKey: options.text("idempotencyKey"))
        var members = [("id", CaseRunner.text(answer.id))]
        let path = answer.path.map { String(decoding: CaseRunner.text($0), as: UTF8.self) }
        members.append(("path", CaseRunner.json("[\(path.joined(separator: ","))]")))
        if !answer.json.isEmpty { members.append(("answer", answer.json)) }
        switch answer.source {
        case .responder(let observer):
            members += [
                ("by", CaseRunner.text("responder")), ("observer", CaseRunner.text(observer)),
            ]
        case .fallback(let reason):
            members += [("by", CaseRunner.text("default")), ("reason", CaseRunner.text(reason))]
        case .asker(let reason):
            members += [("by", CaseRunner.text("asker")), ("reason", CaseRunner.text(reason))]
        case .open, .withdrawn: break
        }
        return CaseRunner.object(members)
    }
}

/// An object that a case can remove again.
private enum Made {
    case observation(Observation)
    case value(ValueObservation)
    case responder(Responder)

    func remove() async throws(ClientError) {
        switch self {
        case .observation(let observation): try await observation.removeObserver()
        case .value(let observation): try await observation.removeObserver()
        case .responder(let responder): try await responder.remove()
        }
    }
}

// MARK: Observing

extension PlayedCase {
    private func addObserver(
        _ step: JSONObject, _ label: String, _ options: GivenOptions
    ) async throws(ClientError) -> [UInt8] {
        let (name, object) = (step.string("name"), step.string("object"))
        if let keyPath = step.string("keyPath") {
            return try await observeValue(object ?? "", keyPath, label, options)
        }
        let terms = options.observer(resumes: resumes)
        let filter = try options.filter(name: name, object: object)
        let observation =
            if let target = step.string("target") {
                try await center.addObserver(
                    for: filter, target: target, selector: step.string("selector") ?? "",
                    options: terms)
            } else {
                try await center.addObserver(
                    for: filter, since: options.beginning, options: terms)
            }
        made[label] = .observation(observation)
        let answers = Answers()
        self.answers[label] = answers
        let observer = ("observer", CaseRunner.text(label))
        Task {
            for await gap in observation.gaps {
                let lost = gap.lostCount.map { "\($0)" } ?? "null"
                let members = CaseRunner.object([
                    ("reason", CaseRunner.text(gap.reason)), ("lost", CaseRunner.json(lost)),
                ])
                tell("gap", [observer, ("gap", members)])
            }
        }
        Task {
            do throws(ClientError) {
                for try await notification in observation {
                    tell("notification", [observer, ("notification", notification.json)])
                    guard terms.acknowledges else { continue }
                    Task { await acknowledge(notification, observation, answers) }
                }
            } catch {
                tell(error, endOf: observer)
            }
        }
        return Self.receipt(observation.id, observation.token)
    }

    private func acknowledge(
        _ notification: ReceivedNotification, _ observation: Observation, _ answers: Answers
    ) async {
        guard let answer = await answers.answer(to: notification.id) else { return }
        // A center that is over hears no answer.
        if let reason = answer.string("refuse") {
            try? await observation.refuse(notification, reason: reason)
        } else {
            try? await observation.acknowledge(notification)
        }
    }

    private func observeValue(
        _ object: String, _ keyPath: String, _ label: String, _ options: GivenOptions
    ) async throws(ClientError) -> [UInt8] {
        var terms = ValueOptions()
        terms.lifetime = resumes ? .token : .connection
        let observation = try await center.addObserver(
            object: object, keyPath: keyPath, options: terms)
        made[label] = .value(observation)
        let observer = ("observer", CaseRunner.text(label))
        Task {
            do throws(ClientError) {
                for try await change in observation {
                    let told = CaseRunner.object([
                        ("kind", CaseRunner.text(change.kind.rawValue)),
                        ("initial", CaseRunner.json("\(change.isInitial)")),
                    ])
                    let value = change.value.map { [("value", CaseRunner.json($0))] } ?? []
                    tell("change", [observer, ("change", told)] + value)
                }
            } catch {
                tell(error, endOf: observer)
            }
        }
        return Self.receipt(observation.id, observation.token)
    }

    private func respond(
        _ step: JSONObject, _ label: String, _ options: GivenOptions
    ) async throws(ClientError) -> [UInt8] {
        let answers = Answers()
        self.answers[label] = answers
        let observer = ("observer", CaseRunner.text(label))
        let responder = try await center.respond(
            to: step.string("object") ?? "",
            options.responder(step.strings("selectors"), resumes: resumes)
        ) { ask in
            self.tell(
                "ask",
                [
                    observer, ("selector", CaseRunner.text(ask.selector)),
                    ("ask", ask.notification.json),
                ])
            guard let answer = await answers.answer(to: ask.id) else {
                self.tell("aborted", [observer, ("id", CaseRunner.text(ask.id))])
                throw CancellationError()
            }
            if let reason = answer.string("refuse") { throw Refusal(reason) }
            if answer.raw("pass") != nil { return try ask.pass() }
            return String(decoding: answer.raw("result") ?? [], as: UTF8.self)
        }
        made[label] = .responder(responder)
        return Self.receipt(responder.id, responder.token)
    }

    /// Tells that an observer is there no more, unless that was wanted.
    private nonisolated func tell(_ error: ClientError, endOf observer: (String, [UInt8])) {
        guard case .observerRemoved(let reason) = error else { return }
        tell("removed", [observer, ("reason", CaseRunner.text(reason))])
    }

    private static func receipt(_ id: String, _ token: String) -> [UInt8] {
        CaseRunner.object([("id", CaseRunner.text(id)), ("token", CaseRunner.text(token))])
    }
}
