import BelfryJSON

// The code of the words of the domain, of which commands and states consist.

// MARK: - Names

extension NotificationID: Coded {
    init(_ known: NotificationID?, by coder: inout some Coder) throws(CodeError) {
        high = try coder(known?.high)
        low = try coder(known?.low)
    }
}

extension SecretHash: Coded {
    init(_ known: SecretHash?, by coder: inout some Coder) throws(CodeError) {
        high = try coder(known?.high)
        low = try coder(known?.low)
    }
}

extension ConnectionName: Coded {
    init(_ known: ConnectionName?, by coder: inout some Coder) throws(CodeError) {
        node = try coder(known?.node)
        number = try coder(known?.number)
    }
}

extension Owner: Coded {
    init(_ known: Owner?, by coder: inout some Coder) throws(CodeError) {
        number = try coder(known?.number)
    }
}

extension IdempotencyKey: Coded {
    init(_ known: IdempotencyKey?, by coder: inout some Coder) throws(CodeError) {
        principal = try coder(known?.principal)
        text = try coder(known?.text)
        requestHash = try coder(known?.requestHash)
        form = try coder(known?.form)
        owner = try coder(known?.owner)
    }
}

extension Remover: CodedCases {
    func write(by coder: inout some Coder) throws(CodeError) {
        switch self {
        case .client(let id): try coder.write(case: 0, id)
        case .principal(let name): try coder.write(case: 1, name)
        case .broker: try coder.write(case: 2)
        }
    }

    static func read(
        case number: UInt64, by coder: inout some Coder
    ) throws(CodeError) -> Remover {
        switch number {
        case 0: .client(try coder.next())
        case 1: .principal(try coder.next())
        case 2: .broker
        default: throw .malformed
        }
    }
}

extension Transport: Coded {}
extension PostingStyle: Coded {}
extension Coalescing: Coded {}
extension SuspensionBehavior: Coded {}
extension RemovalReason: Coded {}
extension Gap.Reason: Coded {}
extension ResponderTerms.IfHeld: Coded {}

// MARK: - Observers, asks and modes

extension ObserverTerms: Coded {
    init(_ known: ObserverTerms?, by coder: inout some Coder) throws(CodeError) {
        suspensionBehavior = try coder(known?.suspensionBehavior)
        acknowledges = try coder(known?.acknowledges)
        endsWithConnection = try coder(known?.endsWithConnection)
        holdLimit = try coder(known?.holdLimit)
        minInterval = try coder(known?.minInterval)
        lease = try coder(known?.lease)
    }
}

extension ObserverRole: CodedCases {
    func write(by coder: inout some Coder) throws(CodeError) {
        switch self {
        case .plain: try coder.write(case: 0)
        case .responder(let terms): try coder.write(case: 1, terms)
        case .action(let target): try coder.write(case: 2, target)
        case .value(let terms): try coder.write(case: 3, terms)
        case .filtered(let terms, let target): try coder.write(case: 4, terms, target)
        }
    }

    static func read(
        case number: UInt64, by coder: inout some Coder
    ) throws(CodeError) -> ObserverRole {
        switch number {
        case 0: .plain
        case 1: .responder(try coder.next())
        case 2: .action(target: try coder.next())
        case 3: .value(try coder.next())
        case 4: .filtered(try coder.next(), target: try coder.next())
        default: throw .malformed
        }
    }
}

extension ResponderTerms: Coded {
    init(_ known: ResponderTerms?, by coder: inout some Coder) throws(CodeError) {
        implements = try coder(known?.implements)
        next = try coder(known?.next)
        ifHeld = try coder(known?.ifHeld)
        concurrency = try coder(known?.concurrency)
    }
}

extension GapRecord: Coded {
    init(_ known: GapRecord?, by coder: inout some Coder) throws(CodeError) {
        reason = try coder(known?.reason)
        count = try coder(known?.count)
        first = try coder(known?.first)
        last = try coder(known?.last)
    }
}

extension ToldGap: Coded {
    init(_ known: ToldGap?, by coder: inout some Coder) throws(CodeError) {
        gap = try coder(known?.gap)
        toldAt = try coder(known?.toldAt)
    }
}

extension Tombstone: Coded {
    init(_ known: Tombstone?, by coder: inout some Coder) throws(CodeError) {
        self.init(
            tokenHash: try coder(known?.tokenHash), removedAt: try coder(known?.removedAt),
            removedBy: try coder(known?.removedBy), reason: try coder(known?.reason),
            name: try coder(known?.name), object: try coder(known?.object),
            terms: coder.version >= 4 ? try coder(known?.terms) : nil)
    }
}

extension ModeEntry: Coded {
    init(_ known: ModeEntry?, by coder: inout some Coder) throws(CodeError) {
        serial = try coder(known?.serial)
        tokenHash = try coder(known?.tokenHash)
        mode = try coder(known?.mode)
        client = try coder(known?.client)
        lease = try coder(known?.lease)
    }
}

// MARK: - Values

extension ValueTerms: Coded {
    init(_ known: ValueTerms?, by coder: inout some Coder) throws(CodeError) {
        path = try coder(known?.path)
        sendsInitial = try coder(known?.sendsInitial)
        sendsOld = try coder(known?.sendsOld)
        sendsOwn = try coder(known?.sendsOwn)
    }
}

extension ValueRecord.Lease: Coded {
    init(_ known: ValueRecord.Lease?, by coder: inout some Coder) throws(CodeError) {
        client = try coder(known?.client)
        nanoseconds = try coder(known?.nanoseconds)
    }
}

extension DocumentPath: Coded {
    init(_ known: DocumentPath?, by coder: inout some Coder) throws(CodeError) {
        let text: [UInt8] = try coder(known?.text)
        guard let path = try? known ?? DocumentPath.parse(text.span) else { throw .malformed }
        self = path
    }
}

extension Document: Coded {
    init(_ known: Document?, by coder: inout some Coder) throws(CodeError) {
        let text: [UInt8] = try coder(known?.bytes)
        guard let document = try? known ?? Document.parse(text.span, limits: .ofCode) else {
            throw .malformed
        }
        self = document
    }

    /// Reads a merge patch, whose members may be null.
    static func patch(by coder: inout some Coder) throws(CodeError) -> Document {
        let text: [UInt8] = try coder.next()
        guard let patch = try? Document.parsePatch(text.span, limits: .ofCode) else {
            throw .malformed
        }
        return patch
    }
}

extension DocumentLimits {
    /// No limits: what a center accepted once is read again, whatever its limits are by then.
    fileprivate static let ofCode = DocumentLimits(byteLimit: .max, depthLimit: 128)
}

// MARK: - Limits

extension CenterLimits: Coded {
    init(_ known: CenterLimits?, by coder: inout some Coder) throws(CodeError) {
        clientObserverLimit = try coder(known?.clientObserverLimit)
        replayCountLimit = try coder(known?.replayCountLimit)
        replayByteLimit = try coder(known?.replayByteLimit)
        tombstoneLimit = try coder(known?.tombstoneLimit)
        fateLimit = try coder(known?.fateLimit)
        fateLifetime = try coder(known?.fateLifetime)
        // A log keeps all fates for as long.
        askFateLifetime = known?.askFateLifetime ?? fateLifetime
        unobservedNameLimit = try coder(known?.unobservedNameLimit)
        causedByDepthLimit = try coder(known?.causedByDepthLimit)
        queueEntryLimit = try coder(known?.queueEntryLimit)
        timerLimit = try coder(known?.timerLimit)
        farewellLimit = try coder(known?.farewellLimit)
        modeStackLimit = try coder(known?.modeStackLimit)
        queueModeLimit = try coder(known?.queueModeLimit)
        commonModes = try coder(known?.commonModes)
        clientHeldCountLimit = try coder(known?.clientHeldCountLimit)
        clientHeldByteLimit = try coder(known?.clientHeldByteLimit)
        unacknowledgedLimit = try coder(known?.unacknowledgedLimit)
        missedDeadlineLimit = try coder(known?.missedDeadlineLimit)
        flushByteLimit = try coder(known?.flushByteLimit)
        keyLimit = try coder(known?.keyLimit)
        keyByteLimit = try coder(known?.keyByteLimit)
        keyLifetime = try coder(known?.keyLifetime)
        askLimit = try coder(known?.askLimit)
        clientAskLimit = try coder(known?.clientAskLimit)
        holderLimit = try coder(known?.holderLimit)
        hopLimit = try coder(known?.hopLimit)
        actionLookLimit = try coder(known?.actionLookLimit)
        answerMemoryLimit = try coder(known?.answerMemoryLimit)
        valueLimit = try coder(known?.valueLimit)
        documentByteLimit = try coder(known?.documentByteLimit)
        documentDepthLimit = try coder(known?.documentDepthLimit)
        valuePartLimit = try coder(known?.valuePartLimit)
        clientPartLimit = try coder(known?.clientPartLimit)
        isDurable = try coder(known?.isDurable)
        orphanAfter = try coder(known?.orphanAfter)
    }
}

extension ObserverRegistration: Coded {
    init(_ known: ObserverRegistration?, by coder: inout some Coder) throws(CodeError) {
        serial = try coder(known?.serial)
        tokenHash = try coder(known?.tokenHash)
        name = try coder(known?.name)
        object = try coder(known?.object)
        selector = try coder(known?.selector)
        terms = try coder(known?.terms)
        role = try coder(known?.role)
    }
}
