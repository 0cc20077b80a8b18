/// An ask that has no end yet: one machine.
///
/// | event | walking | held | shown |
/// | --- | --- | --- | --- |
/// | an observer may be asked | shown | shown | – |
/// | an observer holds, to be asked later | held | – | – |
/// | the walk ends | settled, or waiting | – | – |
/// | result, refusal | – | – | settled |
/// | -32601 | – | – | walking, from its address on; `once`: settled |
/// | its responder is removed or replaced | – | walking, from the start | the same; `once`: settled
/// |
/// | its responder disconnects | – | – | held, or walking from the start; `once`: settled |
/// | its time is over, withdrawn | – | settled | settled |
///
/// It is walking within a command, or until a turn has time for its walk. When it is settled, it
/// moves from this table into that of the fates. A dash is a pair that cannot be: a late answer
/// finds no ask that its sender was shown.
struct OpenAsk: Sendable {
    let id: NotificationID
    /// The selector as its name, the address as its object, and userInfo.
    let content: Notification.Content
    let causedBy: NotificationID?
    /// How long the chain of `causedBy` is with it at its end.
    let depth: Int
    let fallback: [UInt8]?
    let isOnce: Bool
    /// In milliseconds since 1970.
    let askedAt: Int64
    let answerBy: Int64
    /// The end of its time, in monotonic nanoseconds.
    let endsAt: Int64
    /// The client that asks over its connection, if one does; its next waiter may replace it.
    var client: UInt64?
    let principal: [UInt8]
    /// The owner that it counts for.
    var owner = Owner.none
    /// Whether it outlives its asker, and lasts.
    let isStored: Bool
    let key: IdempotencyKey?
    /// The other wishes of the asker.
    var options = AskOptions()
    /// Its place in the order of asking.
    var ordinal: UInt64 = 0
    /// The commands that are answered at its end, that of its asker first; none after a 202.
    var waiters = FewList<Waiter>()
    var state = State.walking
    /// The addresses of the walk.
    var path: [[UInt8]] = []
    /// Whether the walk passed a busy or a suspended holder of the selector (rule R9).
    var saw: Walk.Saw = []
    /// The observers that were shown it: each is asked once (rule R11).
    var shown = FewList<UInt64>()
    /// When it was shown last, in milliseconds since 1970.
    var shownAt: Int64 = 0
    /// Whether the last observer that was shown it may have seen it before.
    var isRedelivered = false
    /// The state of its announcement to the store.
    var announcement = Announcement.stored

    /// The placeholder of an ask that is over.
    static let none = OpenAsk(
        id: NotificationID(high: 0, low: 0), content: Notification.Content(name: []),
        causedBy: nil, depth: 0, fallback: nil, isOnce: false, askedAt: 0, answerBy: 0, endsAt: 0,
        client: nil, principal: [], isStored: false, key: nil)

    /// The announcement of a showing to the store, which must come first (rule R20).
    enum Announcement: Sendable, Equatable {
        /// The store does not have it.
        case none
        /// The store was told, under a number, and has not confirmed it.
        case told(UInt64)
        /// The store has it, or needs none: a new ask is stored with its first showing.
        case stored
    }

    /// A command that is answered at the end.
    struct Waiter: Sendable {
        let id: CommandID
        /// The client that waits over its connection, if one does.
        let client: UInt64?
        /// The form of the answer, where the command repeats another one.
        var replayedForm: UInt8?
    }

    /// The responder that is asked now.
    enum State: Sendable, Equatable {
        /// No responder is asked.
        case walking
        /// The ask waits for an observer that is suspended or busy, and holds.
        case held(observer: UInt64)
        /// No responder was available, and the ask waits for the first one on its path.
        case waiting
        /// An observer was shown the ask with this sequence number.
        case shown(observer: UInt64, sequence: UInt64)

        /// The observer that is asked now.
        var observer: UInt64? {
            switch self {
            case .walking, .waiting: nil
            case .held(let observer), .shown(let observer, _): observer
            }
        }
    }

    /// The address that is asked now.
    var target: [UInt8] { path.last ?? [] }

    /// The number with which it was shown; 0 while it is not.
    var sequence: UInt64 {
        if case .shown(_, let sequence) = state { sequence } else { 0 }
    }

    /// The bytes that it counts for.
    var byteCount: Int { content.byteCount + (fallback?.count ?? 0) + options.byteCount }

    /// The notification with which an observer was shown it.
    var notification: Notification? {
        guard case .shown(_, let sequence) = state else { return nil }
        return Notification(
            id: id, sequence: sequence, postedAt: shownAt, causedBy: causedBy, content: content)
    }

    /// The additional members of its frame.
    var addressed: Addressed {
        Addressed(target: target, kind: .ask(answerBy: answerBy, present: options.present))
    }

    /// Notes that it is shown to an observer; returns whether that is a new one after the first.
    mutating func show(to observer: UInt64, sequence: UInt64, at time: Int64) -> Bool {
        isRedelivered = shown.contains(observer)
        if !isRedelivered { shown.append(observer) }
        announcement = isStored ? .none : .stored
        state = .shown(observer: observer, sequence: sequence)
        shownAt = time
        return !isRedelivered && shown.count > 1
    }

    /// Whether it waits for an observer, or for any.
    var isHeld: Bool {
        switch state {
        case .held, .waiting: true
        case .walking, .shown: false
        }
    }

    /// The addresses at which responders may take it while it waits.
    var placesOfWaiting: ArraySlice<[UInt8]> { state == .waiting ? path[...] : path.suffix(1) }

    /// Whether the store was told of the next showing, and has not confirmed it.
    var isTold: Bool {
        if case .told = announcement { true } else { false }
    }

    /// The number of observers that were shown it after the first.
    var passedCount: Int { max(shown.count, 1) - 1 }

    /// Whether a holder of its address may be shown it.
    ///
    /// No observer is asked twice but the one that it waits for, and while the store has not
    /// confirmed an announcement only that one may be shown it.
    func mayBeShown(to observer: UInt64) -> Bool {
        if state == .held(observer: observer) { return true }
        if isTold { return false }
        return !shown.contains(observer)
    }

    /// Whether the store has the announcement of the showing to this observer.
    ///
    /// It may have that of another one, for which the ask waits.
    func isAnnounced(to observer: UInt64) -> Bool {
        announcement == .stored && !(isStored && isHeld && state != .held(observer: observer))
    }

    /// The observers that were shown it, or may be at any moment.
    var shownOrAnnounced: [UInt64] {
        guard case .held(let observer) = state, announcement != .none, !shown.contains(observer)
        else { return shown.all }
        return shown.all + [observer]
    }
}

extension OpenAsk {
    /// Makes an ask that is asked now.
    init(
        _ ask: Ask, _ terms: AskTerms, depth: Int, _ command: CommandID, at time: CommandTime
    ) {
        self.init(
            id: ask.id, content: ask.content, causedBy: ask.causedBy, depth: depth,
            fallback: ask.fallback, isOnce: ask.isOnce, askedAt: time.wallMilliseconds,
            answerBy: time.wallMilliseconds + ask.lifetime / 1_000_000,
            endsAt: time.monotonicNanoseconds.adding(ask.lifetime), client: terms.client,
            principal: terms.principal, owner: terms.owner, isStored: ask.wait != nil,
            key: terms.key, options: ask.options,
            waiters: FewList(one: Waiter(id: command, client: terms.client)))
    }

    /// Makes an ask from the record of a store.
    init(_ record: AskRecord, at time: CommandTime) {
        let left = max(0, record.answerBy - time.wallMilliseconds)
        self.init(
            id: record.id, content: record.content, causedBy: record.causedBy,
            depth: record.depth, fallback: record.fallback, isOnce: record.isOnce,
            askedAt: record.askedAt, answerBy: record.answerBy,
            endsAt: time.monotonicNanoseconds.adding(left * 1_000_000), client: nil,
            principal: record.principal, isStored: true, key: nil, options: record.options,
            shown: FewList<UInt64>(record.shown), announcement: .none)
    }
}

extension AskRecord {
    /// Makes the record of an ask, or of its end, after which its userInfo is no longer needed.
    init(_ ask: OpenAsk, end: End?) {
        self.init(
            id: ask.id,
            content: end == nil
                ? ask.content : ask.content.withoutUserInfo,
            causedBy: ask.causedBy, depth: ask.depth,
            fallback: end == nil ? ask.fallback : nil, isOnce: ask.isOnce, askedAt: ask.askedAt,
            answerBy: ask.answerBy, principal: ask.principal, shown: ask.shownOrAnnounced,
            observer: ask.state.observer ?? 0, end: end,
            options: end == nil ? ask.options : AskOptions())
    }
}

extension OpenAsk: Coded {
    init(_ known: OpenAsk?, by coder: inout some Coder) throws(CodeError) {
        id = try coder(known?.id)
        content = try coder(known?.content)
        causedBy = try coder(known?.causedBy)
        depth = try coder(known?.depth)
        fallback = try coder(known?.fallback)
        isOnce = try coder(known?.isOnce)
        askedAt = try coder(known?.askedAt)
        answerBy = try coder(known?.answerBy)
        endsAt = try coder(known?.endsAt)
        client = try coder(known?.client)
        principal = try coder(known?.principal)
        owner = try coder(known?.owner)
        isStored = try coder(known?.isStored)
        key = try coder(known?.key)
        if coder.version >= 5 { options = try coder(known?.options) }
        ordinal = try coder(known?.ordinal)
        waiters = try coder(known?.waiters)
        state = try coder(known?.state)
        path = try coder(known?.path)
        if try coder(known?.saw.contains(.busy)) { saw.insert(.busy) }
        if try coder(known?.saw.contains(.suspended)) { saw.insert(.suspended) }
        shown = try coder(known?.shown)
        shownAt = try coder(known?.shownAt)
        isRedelivered = try coder(known?.isRedelivered)
        announcement = try coder(known?.announcement)
    }
}

extension OpenAsk.Waiter: Coded {
    init(_ known: OpenAsk.Waiter?, by coder: inout some Coder) throws(CodeError) {
        id = try coder(known?.id)
        client = try coder(known?.client)
        replayedForm = try coder(known?.replayedForm)
    }
}

extension OpenAsk.Announcement: CodedCases {
    func write(by coder: inout some Coder) throws(CodeError) {
        switch self {
        case .none: try coder.write(case: 0)
        case .told(let number): try coder.write(case: 1, number)
        case .stored: try coder.write(case: 2)
        }
    }

    static func read(
        case number: UInt64, by coder: inout some Coder
    ) throws(CodeError) -> OpenAsk.Announcement {
        switch number {
        case 0: .none
        case 1: .told(try coder.next())
        case 2: .stored
        default: throw .malformed
        }
    }
}

extension OpenAsk.State: CodedCases {
    func write(by coder: inout some Coder) throws(CodeError) {
        switch self {
        case .walking: try coder.write(case: 0)
        case .held(let observer): try coder.write(case: 1, observer)
        case .shown(let observer, let sequence): try coder.write(case: 2, observer, sequence)
        case .waiting: try coder.write(case: 3)
        }
    }

    static func read(
        case number: UInt64, by coder: inout some Coder
    ) throws(CodeError) -> OpenAsk.State {
        switch number {
        case 0: .walking
        case 1: .held(observer: try coder.next())
        case 2: .shown(observer: try coder.next(), sequence: try coder.next())
        case 3: .waiting
        default: throw .malformed
        }
    }
}
