import BelfryCenter

/// Reads the commands that a ``CommandWriter`` wrote.
struct CommandReader {
    private let bytes: [UInt8]
    private var position = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    var isAtEnd: Bool { position == bytes.count }

    /// The next command; nil at the end.
    mutating func next() -> Command? {
        guard position < bytes.count else { return nil }
        let id = commandID()
        let time = CommandTime(
            wallMilliseconds: number(), monotonicNanoseconds: number(), timerNanoseconds: number())
        return Command(id: id, time: time, action: action())
    }

    private mutating func commandID() -> CommandID {
        CommandID(node: UInt32(word()), incarnation: word(), counter: word())
    }

    mutating func byte() -> UInt8 {
        guard position < bytes.count else { preconditionFailure("the file ends in a command") }
        position += 1
        return bytes[position - 1]
    }

    mutating func word() -> UInt64 {
        var word: UInt64 = 0
        for shift in 0..<8 { word |= UInt64(byte()) << UInt64(shift * 8) }
        return word
    }

    mutating func number() -> Int64 { Int64(bitPattern: word()) }
    mutating func count() -> Int { Int(number()) }
    mutating func flag() -> Bool { byte() == 1 }

    mutating func text() -> [UInt8] {
        let count = count()
        guard count >= 0, count <= bytes.count - position else {
            preconditionFailure("the file ends in a text")
        }
        position += count
        return Array(bytes[position - count..<position])
    }

    mutating func list<Value>(_ element: (inout CommandReader) -> Value) -> [Value] {
        var values: [Value] = []
        for _ in 0..<count() { values.append(element(&self)) }
        return values
    }

    mutating func optional<Value>(_ value: (inout CommandReader) -> Value) -> Value? {
        flag() ? value(&self) : nil
    }

    mutating func optionalText() -> [UInt8]? { optional { $0.text() } }
    mutating func optionalWord() -> UInt64? { optional { $0.word() } }
    mutating func optionalNumber() -> Int64? { optional { $0.number() } }

    mutating func raw<Value: RawRepresentable>(_ type: Value.Type) -> Value
    where Value.RawValue == UInt8 {
        guard let value = Value(rawValue: byte()) else { preconditionFailure("no such case") }
        return value
    }

    private mutating func action() -> Command.Action {
        switch byte() {
        case 0: return .configure(limits())
        case 1:
            let client = client()
            return .connect(
                client, observers: list { $0.observer() }, since: optionalWord())
        case 2:
            return .disconnect(client: word(), connection: connection(), isOrderly: flag())
        case 3:
            return .resume(Resumption(newcomer: word(), client: word(), after: optionalWord()))
        case 4: return .setSuspended(client: word(), flag())
        case 5: return .becomeSlow(client: word())
        case 6: return .drain(client: word())
        case 7: return .post(post(), terms())
        case 8: return .postBatch(list { $0.post() }, terms())
        case 9:
            return .acknowledge(
                client: word(),
                DeliveryName(observer: word(), sequence: word(), row: optionalWord()), response())
        case 10: return .addObserver(observer(), client: word(), since: optionalWord())
        case 11: return .removeObserver(serial: word(), by: remover())
        case 12:
            return .removeObservers(
                client: word(),
                ObserverFilter(
                    name: optionalText(), object: optionalText(), target: optionalText(),
                    selector: optionalText()))
        case 13: return .removeClient(client: word(), by: remover())
        case 14: return .readMailbox(observer: word(), through: optionalWord())
        case 15: return .attachReader(observer: word(), connection(), isStream: flag())
        case 16: return .detachReader(observer: word(), connection())
        case 17:
            return .dequeue(
                QueueMatch(
                    name: optionalText(), object: optionalText(),
                    mask: Coalescing(rawValue: byte()), scope: scope()))
        case 18: return .dequeueEntry(id(), scope: scope())
        case 19:
            return .enterMode(
                ModeEntry(
                    serial: word(), tokenHash: hash(), mode: text(), client: optionalWord(),
                    lease: optionalNumber()))
        case 20: return .leaveMode(serial: word())
        case 21: return .endTurn(workLimit: count())
        case 22: return .idle
        case 23: return .passTime(workLimit: count())
        case 24: return .terminate
        case 25: return .trimHeld(byteCount: count())
        case 26:
            let kind = count()
            guard let kind = KeptKind(rawValue: kind) else { preconditionFailure("no such kind") }
            return .trim(kind, count: count())
        case 27:
            let kind = count()
            guard let kind = KeptKind(rawValue: kind) else { preconditionFailure("no such kind") }
            return .trimOwned(kind, Owner(number: UInt32(word())))
        case 28: return .ask(ask(), askTerms())
        case 29: return .withdraw(id())
        case 30: return .answer(id(), observer: word(), response())
        case 32: return .leaveAsk(id(), commandID())
        case 31: return .showAnnounced(through: word())
        case 40:
            let write = valueWrite()
            let value = document(isPatch: false)
            return .setValue(write, value, lifetime())
        case 41:
            let write = valueWrite()
            return .mergeValue(write, patch: document(isPatch: true))
        case 42: return .removeValue(valueWrite())
        default: preconditionFailure("no such command")
        }
    }
}

// MARK: - Parts

extension CommandReader {
    mutating func id() -> NotificationID { NotificationID(high: word(), low: word()) }
    private mutating func hash() -> SecretHash { SecretHash(high: word(), low: word()) }

    private mutating func connection() -> ConnectionName {
        ConnectionName(node: UInt32(word()), number: word())
    }

    private mutating func duration() -> Duration {
        Duration(secondsComponent: number(), attosecondsComponent: number())
    }

    private mutating func remover() -> Remover {
        switch byte() {
        case 0: .client(word())
        case 1: .principal(text())
        default: .broker
        }
    }

    mutating func limits() -> CenterLimits {
        var limits = CenterLimits()
        limits.clientObserverLimit = count()
        limits.replayCountLimit = count()
        limits.replayByteLimit = count()
        limits.tombstoneLimit = count()
        limits.fateLimit = count()
        limits.unobservedNameLimit = count()
        limits.causedByDepthLimit = count()
        limits.queueEntryLimit = count()
        limits.modeStackLimit = count()
        limits.queueModeLimit = count()
        limits.clientHeldCountLimit = count()
        limits.clientHeldByteLimit = count()
        limits.unacknowledgedLimit = count()
        limits.missedDeadlineLimit = count()
        limits.flushByteLimit = count()
        limits.keyLimit = count()
        limits.keyByteLimit = count()
        limits.askLimit = count()
        limits.clientAskLimit = count()
        limits.holderLimit = count()
        limits.hopLimit = count()
        limits.actionLookLimit = count()
        limits.answerMemoryLimit = count()
        limits.timerLimit = count()
        limits.farewellLimit = count()
        limits.valueLimit = count()
        limits.documentByteLimit = count()
        limits.documentDepthLimit = count()
        limits.valuePartLimit = count()
        limits.clientPartLimit = count()
        limits.fateLifetime = duration()
        limits.keyLifetime = duration()
        limits.orphanAfter = duration()
        limits.commonModes = list { $0.text() }
        limits.isDurable = flag()
        return limits
    }

    private mutating func client() -> ClientRegistration {
        let id = word()
        let transport = raw(Transport.self)
        let connection = connection()
        let sessionHash = hash()
        let principal = text()
        return ClientRegistration(
            id: id, transport: transport, connection: connection, sessionHash: sessionHash,
            principal: principal, owner: Owner(ofPrincipal: principal))
    }

    private mutating func observer() -> ObserverRegistration {
        let serial = word()
        let tokenHash = hash()
        let name = optionalText()
        let object = optionalText()
        let selector = text()
        var terms = ObserverTerms()
        terms.suspensionBehavior = raw(SuspensionBehavior.self)
        terms.acknowledges = flag()
        terms.endsWithConnection = flag()
        terms.holdLimit = count()
        terms.minInterval = number()
        terms.lease = optionalNumber()
        let responder = optional { reader in
            var responder = ResponderTerms(
                implements: reader.list { $0.text() }, next: reader.optionalText())
            responder.ifHeld = reader.raw(ResponderTerms.IfHeld.self)
            responder.concurrency = reader.count()
            return responder
        }
        let target = optionalText()
        let value = optional { $0.valueTerms() }
        let role =
            responder.map { ObserverRole.responder($0) } ?? target.map { .action(target: $0) }
            ?? value.map { .value($0) }
        return ObserverRegistration(
            serial: serial, tokenHash: tokenHash, name: name, object: object, selector: selector,
            terms: terms, role: role ?? .plain)
    }

    private mutating func response() -> Response {
        switch byte() {
        case 0: .result(text(), canKeep: flag())
        case 1: .refusal(text())
        case 2: .passed(text())
        default: .oversized(error: text())
        }
    }

    private mutating func ask() -> Ask {
        let id = id()
        let content = Notification.Content(
            name: text(), object: optionalText(), userInfo: optionalText())
        return Ask(
            id: id, content: content, causedBy: optional { $0.id() }, fallback: optionalText(),
            isOnce: flag(), lifetime: number(), wait: optionalNumber())
    }

    private mutating func askTerms() -> AskTerms {
        var terms = AskTerms()
        terms.client = optionalWord()
        terms.principal = text()
        terms.canStore = flag()
        terms.byteRoom = count()
        terms.key = optional { $0.key() }
        return terms
    }

    private mutating func key() -> IdempotencyKey {
        let principal = text()
        return IdempotencyKey(
            principal: principal, text: text(), requestHash: hash(), form: byte(),
            owner: Owner(ofPrincipal: principal))
    }

    private mutating func post() -> Post {
        let id = id()
        let content = Notification.Content(
            name: text(), object: optionalText(), userInfo: optionalText())
        let causedBy = optional { $0.id() }
        let options = optional { reader in
            PostOptions(
                style: reader.optional { $0.raw(PostingStyle.self) },
                coalescing: Coalescing(rawValue: reader.byte()), keepsLatest: reader.flag(),
                modes: reader.list { $0.text() }, maxDelay: reader.optionalNumber(),
                isImmediate: reader.flag(), timeToLive: reader.optionalNumber(),
                timer: reader.optional { $0.timer() })
        }
        return Post(id: id, content: content, causedBy: causedBy, options: options)
    }

    private mutating func timer() -> TimerTerms {
        let start: TimerTerms.Start? =
            switch byte() {
            case 1: .after(number())
            case 2: .at(number())
            default: nil
            }
        return TimerTerms(
            start: start, period: optionalNumber(), lease: optionalNumber(), replaces: flag(),
            isFarewell: flag())
    }

    private mutating func setter() -> PostTerms.TimerSetter {
        PostTerms.TimerSetter(
            client: optionalWord(),
            principal: TimerRecord.Principal(name: text(), hasKey: flag()), byteRoom: count())
    }

    private mutating func terms() -> PostTerms {
        var terms = PostTerms()
        terms.wait = number()
        terms.reportsObservers = flag()
        terms.canStore = flag()
        terms.queueByteRoom = count()
        terms.details = optional { reader in
            PostTerms.Details(
                scope: reader.scope(), key: reader.optional { $0.key() },
                setter: reader.optional { $0.setter() })
        }
        return terms
    }

    private mutating func scope() -> PostScope {
        guard byte() == 1 else { return .everything }
        return .some(
            list { reader in
                PostScope.Pattern(
                    names: reader.list { $0.scopeText() }, objects: reader.list { $0.scopeText() })
            })
    }

    private mutating func scopeText() -> PostScope.Text {
        byte() == 0 ? .exact(text()) : .prefix(text())
    }
}
