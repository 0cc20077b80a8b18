import BelfryJSON

@testable import BelfryCenter

/// A command of each kind, in the order of their numbers, with something in every field.
///
/// Their code is in `Golden/`. A new kind of command gets an example at the end.
enum CodeExamples {
    static var commands: [Command] {
        actions.enumerated().map { place, action in
            Command(
                id: CommandID(node: 3, incarnation: 300, counter: 70_000 + UInt64(place)),
                time: CommandTime(
                    wallMilliseconds: 1_700_000_000_000, monotonicNanoseconds: -5,
                    timerNanoseconds: 9_000_000_000),
                action: action)
        }
    }

    /// The places of those that the first programs knew, and of those that came with levels 3 and
    /// 4.
    static let ofVersion1 = 0..<36
    static let ofLevel3 = 36..<37
    static let ofLevel4 = 37..<38
    static let ofLevel5 = 38..<40
    static let ofLevel6 = 40..<42

    private static var actions: [Command.Action] {
        [
            .configure(limits),
            .connect(client, observers: [plain, responder, action, value], since: 17),
            .disconnect(client: 7, connection: connection, end: .closed, appliedIndex: 300),
            .resume(Resumption(newcomer: 9, client: 7, after: 1 << 63, appliedIndex: 301)),
            .setSuspended(client: 7, true),
            .becomeSlow(client: 8),
            .drain(client: 8),
            .post(post(options), terms),
            .postBatch([post(nil), post(PostOptions(style: .idle, timer: yearly))], PostTerms()),
            .acknowledge(
                client: 7, DeliveryName(observer: 4, sequence: 5, row: 6),
                .result(bytes("{\"ok\":true}"), canKeep: false)),
            .addObserver(plain, client: 7, since: nil),
            .removeObserver(serial: 4, by: .principal(bytes("anna"))),
            .removeObservers(
                client: 7,
                ObserverFilter(
                    name: bytes("n"), object: bytes("o"), target: bytes("t"),
                    selector: bytes("s"))),
            .removeClient(client: 7, by: .client(8)),
            .readMailbox(observer: 4, through: 12, wait: connection),
            .attachStream(observer: 4, connection),
            .detachReader(observer: 4, connection),
            .dequeue(QueueMatch(name: bytes("n"), object: nil, mask: .onSender, scope: scope)),
            .dequeueEntry(id, scope: .everything),
            .enterMode(
                ModeEntry(
                    serial: 2, tokenHash: hash, mode: bytes("modal"), client: 7, lease: 60)),
            .leaveMode(serial: 2),
            .endTurn(workLimit: 10_000),
            .idle,
            .passTime(workLimit: 20_000),
            .terminate,
            .trimHeld(byteCount: 1 << 20),
            .trim(.fates, count: 100),
            .trimOwned(.keys, Owner(number: 12)),
            .ask(ask, askTerms),
            .withdraw(id),
            .leaveAsk(id, CommandID(node: 1, incarnation: 2, counter: 3)),
            .answer(id, observer: 4, .refusal(bytes("\"no\""))),
            .showAnnounced(through: 8),
            .setValue(write, document("[1,null]"), ValueLifetime(timeToLive: 5, lease: 6)),
            .mergeValue(write, patch: patch("{\"a\":null}")),
            .removeValue(ValueWrite(id: id, object: bytes("settings"), path: path)),
            .onConnection(
                ClientConnection(client: 7, connection: connection),
                .setSuspended(client: 7, true)),
            .within(cover, .addObserver(responder, client: 7, since: nil)),
            .removeObservers(client: 7, finer),
            .addObserver(inBatch, client: 7, since: 17),
            .ask(askWithOptions, askTerms),
            .answer(
                id, observer: 4, .result(bytes("true"), canKeep: false, reason: bytes("so")),
                principal: bytes("anna")),
        ]
    }

    // MARK: - What they are made of

    private static var inBatch: ObserverRegistration {
        var registration = plain
        registration.followsAnswers = true
        return registration
    }

    private static var finer: ObserverFilter {
        var terms = FilterTerms()
        terms.names = [bytes("a"), bytes("b")]
        terms.objectPrefix = bytes("o-")
        terms.condition = try? JSONCondition(bytes(#"{"k":1}"#).span)
        var filter = ObserverFilter(selector: bytes("s"))
        filter.terms = terms
        return filter
    }

    private static let id = NotificationID(high: 0x0189_abcd_ef01_7000, low: 0x8000_0000_0000_0001)
    private static let hash = SecretHash(high: .max, low: 1)
    private static let connection = ConnectionName(node: 2, number: 99)
    private static let scope = PostScope.some([
        PostScope.Pattern(names: [.exact(bytes("a"))], objects: [.prefix(bytes("b"))])
    ])
    private static var cover: Cover {
        var cover = Cover()
        cover.selectors = scope
        cover.principal = bytes("anna")
        cover.keptDepths = [1, 3]
        return cover
    }
    private static let key = IdempotencyKey(
        principal: bytes("anna"), text: bytes("k-1"), requestHash: hash, form: 2,
        owner: Owner(number: 12))
    private static var path: DocumentPath {
        guard let path = try? DocumentPath.parse(bytes("ui.theme").span) else {
            preconditionFailure("this is not a key path")
        }
        return path
    }

    private static let client = ClientRegistration(
        id: 7, transport: .webSocket, connection: connection, sessionHash: hash,
        principal: bytes("anna"), owner: Owner(number: 12))

    private static func observer(_ role: ObserverRole) -> ObserverRegistration {
        var terms = ObserverTerms()
        terms.suspensionBehavior = .hold
        terms.acknowledges = true
        terms.endsWithConnection = true
        terms.holdLimit = 20
        terms.minInterval = 30
        terms.lease = nil
        return ObserverRegistration(
            serial: 4, tokenHash: hash, name: bytes("ButtonChange"), object: bytes("calculator"),
            selector: bytes("s"), terms: terms, role: role)
    }

    private static let plain = observer(.plain)
    private static let action = observer(.action(target: bytes("model")))

    private static var responder: ObserverRegistration {
        var terms = ResponderTerms(
            implements: [bytes("copy"), bytes("paste")], next: bytes("window"))
        terms.ifHeld = .share
        terms.concurrency = 3
        return observer(.responder(terms))
    }

    private static var value: ObserverRegistration {
        var terms = ValueTerms(path: path)
        terms.sendsInitial = false
        terms.sendsOld = true
        terms.sendsOwn = false
        return observer(.value(terms))
    }

    private static let content = Notification.Content(
        name: bytes("ButtonChange"), object: bytes("calculator"),
        userInfo: bytes("{\"title\":\"7\"}"))

    private static func post(_ options: PostOptions?) -> Post {
        Post(id: id, content: content, causedBy: id, options: options)
    }

    private static let yearly = TimerTerms(start: .at(1_800_000_000_000), period: 31_536_000_000)
    private static let options = PostOptions(
        style: .asap, coalescing: .onName, keepsLatest: true, modes: [bytes("modal")],
        maxDelay: 250,
        isImmediate: true, timeToLive: 60,
        timer: TimerTerms(
            start: .after(5), period: 6, lease: 7, replaces: true, isFarewell: true))

    private static var terms: PostTerms {
        var terms = PostTerms()
        terms.wait = 5
        terms.reportsObservers = true
        terms.canStore = false
        terms.owner = Owner(number: 12)
        terms.queueByteRoom = 4_096
        terms.details = PostTerms.Details(
            scope: scope, key: key,
            setter: PostTerms.TimerSetter(
                client: 7, principal: TimerRecord.Principal(name: bytes("anna"), hasKey: true),
                byteRoom: 64))
        return terms
    }

    private static let ask = Ask(
        id: id, content: content, causedBy: id, fallback: bytes("42"), isOnce: true, lifetime: 30,
        wait: 10)

    private static var askWithOptions: Ask {
        var options = AskOptions()
        options.present = bytes(#"{"title":"Deploy?"}"#)
        options.waitsForAnybody = true
        return Ask(id: id, content: content, lifetime: 30, wait: 10, options: options)
    }

    private static var askTerms: AskTerms {
        var terms = AskTerms()
        terms.client = 7
        terms.principal = bytes("anna")
        terms.canStore = false
        terms.owner = Owner(number: 12)
        terms.byteRoom = 128
        terms.key = key
        return terms
    }

    private static var write: ValueWrite {
        var write = ValueWrite(id: id, object: bytes("settings"), path: path)
        write.condition.matches = ValueCondition.Tags.some([ValueTag(high: 1, low: 2)])
        write.condition.noneMatches = ValueCondition.Tags.any
        write.client = 7
        write.owner = Owner(number: 12)
        write.canStore = false
        write.byteRoom = 256
        return write
    }

    private static func document(_ text: String) -> Document {
        guard let document = try? Document.parse(bytes(text).span) else {
            preconditionFailure("\(text) is not JSON")
        }
        return document
    }

    private static func patch(_ text: String) -> Document {
        guard let document = try? Document.parsePatch(bytes(text).span) else {
            preconditionFailure("\(text) is not JSON")
        }
        return document
    }

    /// Every limit is another number.
    private static var limits: CenterLimits {
        var limits = CenterLimits()
        limits.clientObserverLimit = 64
        limits.replayCountLimit = 65
        limits.replayByteLimit = 66
        limits.tombstoneLimit = 67
        limits.fateLimit = 68
        limits.fateLifetime = .seconds(69)
        limits.askFateLifetime = .seconds(69)
        limits.unobservedNameLimit = 70
        limits.causedByDepthLimit = 71
        limits.queueEntryLimit = 72
        limits.timerLimit = 73
        limits.farewellLimit = 74
        limits.modeStackLimit = 75
        limits.queueModeLimit = 76
        limits.commonModes = [bytes("default"), bytes("modal")]
        limits.clientHeldCountLimit = 77
        limits.clientHeldByteLimit = 78
        limits.unacknowledgedLimit = 79
        limits.missedDeadlineLimit = 80
        limits.flushByteLimit = 81
        limits.keyLimit = 82
        limits.keyByteLimit = 83
        limits.keyLifetime = .milliseconds(84_085)
        limits.askLimit = 86
        limits.clientAskLimit = 87
        limits.holderLimit = 88
        limits.hopLimit = 89
        limits.actionLookLimit = 90
        limits.answerMemoryLimit = 91
        limits.valueLimit = 92
        limits.documentByteLimit = 93
        limits.documentDepthLimit = 94
        limits.valuePartLimit = 95
        limits.clientPartLimit = 96
        limits.isDurable = true
        limits.orphanAfter = .seconds(97)
        return limits
    }
}
