import BelfryJSON

// The code of a command: a log of commands has it, and a second process applies it.

extension Command {
    /// The version of the code of commands, and of all words in them.
    static let codeVersion: UInt64 = 1

    /// The command as bytes.
    public var code: [UInt8] {
        var writer = CodeWriter(version: Self.codeVersion)
        writer.write(self)
        return writer.bytes
    }

    /// Reads a command that was written by this version, or by an earlier one.
    ///
    /// Bytes behind the last known field are fields of a newer program, which the caller may skip.
    public init(code: [UInt8]) throws(CodeError) {
        var reader = try CodeReader(code, through: Self.codeVersion, seed: HashSeed(0, 0))
        self = try reader.next()
    }
}

extension Command: Coded {
    init(_ known: Command?, by coder: inout some Coder) throws(CodeError) {
        id = try coder(known?.id)
        time = try coder(known?.time)
        action = try coder(known?.action)
    }
}

/// Each case keeps its number forever, even after the command is removed.
extension Command.Action: CodedCases {
    func write(by coder: inout some Coder) throws(CodeError) {
        switch self {
        case .configure(let limits):
            try coder.write(case: 0, limits)
            try limits.writeFilterLimits(by: &coder)
        case .connect(let client, let observers, let since):
            try coder.write(case: 1, client, observers, since)
        case .disconnect(let client, let connection, let end, let appliedIndex, _):
            try coder.write(case: 2, client, connection, end, appliedIndex)
        case .resume(let resumption): try coder.write(case: 3, resumption)
        case .setSuspended(let client, let flag): try coder.write(case: 4, client, flag)
        case .becomeSlow(let client): try coder.write(case: 5, client)
        case .drain(let client): try coder.write(case: 6, client)
        case .post(let post, let terms): try coder.write(case: 7, post, terms)
        case .postBatch(let posts, let terms): try coder.write(case: 8, posts, terms)
        case .acknowledge(let client, let delivery, let response):
            try coder.write(case: 9, client, delivery, response)
        case .addObserver(let observer, let client, let since):
            try coder.write(case: observer.followsAnswers ? 39 : 10, observer, client, since)
        case .removeObserver(let serial, let remover): try coder.write(case: 11, serial, remover)
        case .removeObservers(let client, let filter):
            guard let terms = filter.terms else {
                return try coder.write(case: 12, client, filter)
            }
            try coder.write(case: 38, client, filter, terms)
        case .removeClient(let client, let remover): try coder.write(case: 13, client, remover)
        case .readMailbox(let observer, let through, let wait):
            try coder.write(case: 14, observer, through, wait)
        case .attachStream(let observer, let connection):
            try coder.write(case: 15, observer, connection)
        case .detachReader(let observer, let connection):
            try coder.write(case: 16, observer, connection)
        case .dequeue(let match): try coder.write(case: 17, match)
        case .dequeueEntry(let id, let scope): try coder.write(case: 18, id, scope)
        case .enterMode(let entry): try coder.write(case: 19, entry)
        case .leaveMode(let serial): try coder.write(case: 20, serial)
        case .endTurn(let workLimit): try coder.write(case: 21, workLimit)
        case .idle: try coder.write(case: 22)
        case .passTime(let workLimit): try coder.write(case: 23, workLimit)
        case .terminate: try coder.write(case: 24)
        case .trimHeld(let byteCount): try coder.write(case: 25, byteCount)
        case .trim(let kind, let count): try coder.write(case: 26, kind, count)
        case .trimOwned(let kind, let owner): try coder.write(case: 27, kind, owner)
        case .ask(let ask, let terms):
            guard ask.options.isUsed else { return try coder.write(case: 28, ask, terms) }
            try coder.write(case: 40, ask, terms, ask.options)
        case .withdraw(let id): try coder.write(case: 29, id)
        case .leaveAsk(let id, let command): try coder.write(case: 30, id, command)
        case .answer(let id, let observer, let response, let principal):
            if principal.isEmpty { return try coder.write(case: 31, id, observer, response) }
            try coder.write(case: 41, id, observer, response, principal)
        case .showAnnounced(let number): try coder.write(case: 32, number)
        case .setValue(let write, let document, let lifetime):
            try coder.write(case: 33, write, document, lifetime)
        case .mergeValue(let write, let patch): try coder.write(case: 34, write, patch)
        case .removeValue(let write): try coder.write(case: 35, write)
        case .putArchive, .removeArchive, .forget:
            throw .malformed  // No log has them.
        case .onConnection(let place, let action):
            try coder.write(case: Self.onConnectionKind, place, action)
        case .within(let cover, let action):
            try coder.write(case: Self.withinKind, cover, action)
        }
    }

    static func read(
        case number: UInt64, by coder: inout some Coder
    ) throws(CodeError) -> Command.Action {
        switch number {
        case 0:
            .configure(try CenterLimits(try coder.next(), filtersBehindBy: &coder))
        case 1:
            .connect(try coder.next(), observers: try coder.next(), since: try coder.next())
        case 2:
            .disconnect(
                client: try coder.next(), connection: try coder.next(),
                end: try coder.next(), appliedIndex: try coder.next())
        case 3: .resume(try coder.next())
        case 4: .setSuspended(client: try coder.next(), try coder.next())
        case 5: .becomeSlow(client: try coder.next())
        case 6: .drain(client: try coder.next())
        case 7: .post(try coder.next(), try coder.next())
        case 8: .postBatch(try coder.next(), try coder.next())
        case 9: .acknowledge(client: try coder.next(), try coder.next(), try coder.next())
        case 10:
            .addObserver(try coder.next(), client: try coder.next(), since: try coder.next())
        case 11: .removeObserver(serial: try coder.next(), by: try coder.next())
        case 12: .removeObservers(client: try coder.next(), try coder.next())
        case 13: .removeClient(client: try coder.next(), by: try coder.next())
        case 14:
            .readMailbox(
                observer: try coder.next(), through: try coder.next(), wait: try coder.next())
        case 15: .attachStream(observer: try coder.next(), try coder.next())
        case 16: .detachReader(observer: try coder.next(), try coder.next())
        case 17: .dequeue(try coder.next())
        case 18: .dequeueEntry(try coder.next(), scope: try coder.next())
        case 19: .enterMode(try coder.next())
        case 20: .leaveMode(serial: try coder.next())
        case 21: .endTurn(workLimit: try coder.next())
        case 22: .idle
        case 23: .passTime(workLimit: try coder.next())
        case 24: .terminate
        case 25: .trimHeld(byteCount: try coder.next())
        case 26: .trim(try coder.next(), count: try coder.next())
        case 27: .trimOwned(try coder.next(), try coder.next())
        case 28: .ask(try coder.next(), try coder.next())
        case 29: .withdraw(try coder.next())
        case 30: .leaveAsk(try coder.next(), try coder.next())
        case 31: .answer(try coder.next(), observer: try coder.next(), try coder.next())
        case 41:
            .answer(
                try coder.next(), observer: try coder.next(), try coder.next(),
                principal: try coder.next())
        case 32: .showAnnounced(through: try coder.next())
        case 33: .setValue(try coder.next(), try coder.next(), try coder.next())
        case 34: .mergeValue(try coder.next(), patch: try Document.patch(by: &coder))
        case 35: .removeValue(try coder.next())
        case 38: try removal(by: &coder)
        case 39: try registrationInBatch(by: &coder)
        case 40: try askWithOptions(by: &coder)
        case onConnectionKind: try onConnection(by: &coder)
        case withinKind: try within(by: &coder)
        default: throw .unknownKind(number)
        }
    }

    private static let onConnectionKind: UInt64 = 36

    /// Reads the command of a connection; it may not be of this kind again, so nesting has an end.
    private static func onConnection(by coder: inout some Coder) throws(CodeError) -> Self {
        let place: ClientConnection = try coder.next()
        let kind: UInt64 = try coder.next()
        guard kind != onConnectionKind else { throw .malformed }
        return .onConnection(place, try read(case: kind, by: &coder))
    }

    private static let withinKind: UInt64 = 37

    /// Reads a covered command, which is neither of this kind again nor one of a connection.
    private static func within(by coder: inout some Coder) throws(CodeError) -> Self {
        let cover: Cover = try coder.next()
        let kind: UInt64 = try coder.next()
        guard kind != withinKind, kind != onConnectionKind else { throw .malformed }
        return .within(cover, try read(case: kind, by: &coder))
    }
}

// MARK: - What commands are made of

extension CommandID: Coded {
    init(_ known: CommandID?, by coder: inout some Coder) throws(CodeError) {
        node = try coder(known?.node)
        incarnation = try coder(known?.incarnation)
        counter = try coder(known?.counter)
    }
}

extension CommandTime: Coded {
    init(_ known: CommandTime?, by coder: inout some Coder) throws(CodeError) {
        wallMilliseconds = try coder(known?.wallMilliseconds)
        monotonicNanoseconds = try coder(known?.monotonicNanoseconds)
        timerNanoseconds = try coder(known?.timerNanoseconds)
    }
}

extension ClientRegistration: Coded {
    init(_ known: ClientRegistration?, by coder: inout some Coder) throws(CodeError) {
        id = try coder(known?.id)
        transport = try coder(known?.transport)
        owner = try coder(known?.owner)
        connection = try coder(known?.connection)
        sessionHash = try coder(known?.sessionHash)
        principal = try coder(known?.principal)
    }
}

extension ConnectionEnd: Coded {
    init(_ known: ConnectionEnd?, by coder: inout some Coder) throws(CodeError) {
        guard let end = ConnectionEnd(rawValue: try coder.word(known?.rawValue)) else {
            throw .malformed
        }
        self = end
    }
}

extension ClientConnection: Coded {
    init(_ known: ClientConnection?, by coder: inout some Coder) throws(CodeError) {
        client = try coder(known?.client)
        connection = try coder(known?.connection)
    }
}

extension Resumption: Coded {
    init(_ known: Resumption?, by coder: inout some Coder) throws(CodeError) {
        newcomer = try coder(known?.newcomer)
        client = try coder(known?.client)
        after = try coder(known?.after)
        appliedIndex = try coder(known?.appliedIndex)
    }
}

extension Post: Coded {
    init(_ known: Post?, by coder: inout some Coder) throws(CodeError) {
        id = try coder(known?.id)
        content = try coder(known?.content)
        causedBy = try coder(known?.causedBy)
        options = try coder(known?.options)
    }
}

extension PostTerms: Coded {
    init(_ known: PostTerms?, by coder: inout some Coder) throws(CodeError) {
        wait = try coder(known?.wait)
        reportsObservers = try coder(known?.reportsObservers)
        canStore = try coder(known?.canStore)
        owner = try coder(known?.owner)
        queueByteRoom = try coder(known?.queueByteRoom)
        details = try coder(known?.details)
    }
}

extension PostTerms.Details: Coded {
    convenience init(_ known: PostTerms.Details?, by coder: inout some Coder) throws(CodeError) {
        self.init(
            scope: try coder(known?.scope), key: try coder(known?.key),
            setter: try coder(known?.setter))
    }
}

extension PostTerms.TimerSetter: Coded {
    init(_ known: PostTerms.TimerSetter?, by coder: inout some Coder) throws(CodeError) {
        client = try coder(known?.client)
        principal = try coder(known?.principal)
        byteRoom = try coder(known?.byteRoom)
    }
}

extension DeliveryName: Coded {
    init(_ known: DeliveryName?, by coder: inout some Coder) throws(CodeError) {
        observer = try coder(known?.observer)
        sequence = try coder(known?.sequence)
        row = try coder(known?.row)
    }
}

extension Response: CodedCases {
    func write(by coder: inout some Coder) throws(CodeError) {
        switch self {
        case .result(let json, let canKeep, let reason):
            guard let reason else { return try coder.write(case: 0, json, canKeep) }
            try coder.write(case: 4, json, canKeep, Optional(reason))
        case .oversized(let error): try coder.write(case: 1, error)
        case .refusal(let error): try coder.write(case: 2, error)
        case .passed(let error): try coder.write(case: 3, error)
        }
    }

    static func read(
        case number: UInt64, by coder: inout some Coder
    ) throws(CodeError) -> Response {
        switch number {
        case 0: .result(try coder.next(), canKeep: try coder.next())
        case 1: .oversized(error: try coder.next())
        case 2: .refusal(try coder.next())
        case 3: .passed(try coder.next())
        case 4: .result(try coder.next(), canKeep: try coder.next(), reason: try coder.next())
        default: throw .malformed
        }
    }
}

extension ObserverFilter: Coded {
    init(_ known: ObserverFilter?, by coder: inout some Coder) throws(CodeError) {
        name = try coder(known?.name)
        object = try coder(known?.object)
        target = try coder(known?.target)
        selector = try coder(known?.selector)
    }
}

extension QueueMatch: Coded {
    init(_ known: QueueMatch?, by coder: inout some Coder) throws(CodeError) {
        name = try coder(known?.name)
        object = try coder(known?.object)
        mask = try coder(known?.mask)
        scope = try coder(known?.scope)
    }
}

extension ValueWrite: Coded {
    init(_ known: ValueWrite?, by coder: inout some Coder) throws(CodeError) {
        id = try coder(known?.id)
        object = try coder(known?.object)
        path = try coder(known?.path)
        condition = try coder(known?.condition)
        client = try coder(known?.client)
        owner = try coder(known?.owner)
        canStore = try coder(known?.canStore)
        byteRoom = try coder(known?.byteRoom)
    }
}

extension ValueCondition: Coded {
    init(_ known: ValueCondition?, by coder: inout some Coder) throws(CodeError) {
        matches = try coder(known?.matches)
        noneMatches = try coder(known?.noneMatches)
    }
}

extension ValueCondition.Tags: CodedCases {
    func write(by coder: inout some Coder) throws(CodeError) {
        switch self {
        case .any: try coder.write(case: 0)
        case .some(let tags): try coder.write(case: 1, tags)
        }
    }

    static func read(
        case number: UInt64, by coder: inout some Coder
    ) throws(CodeError) -> ValueCondition.Tags {
        switch number {
        case 0: .any
        case 1: .some(try coder.next())
        default: throw .malformed
        }
    }
}

extension ValueTag: Coded {
    init(_ known: ValueTag?, by coder: inout some Coder) throws(CodeError) {
        high = try coder(known?.high)
        low = try coder(known?.low)
    }
}

extension ValueLifetime: Coded {
    init(_ known: ValueLifetime?, by coder: inout some Coder) throws(CodeError) {
        timeToLive = try coder(known?.timeToLive)
        lease = try coder(known?.lease)
    }
}

extension KeptKind: Coded {}
