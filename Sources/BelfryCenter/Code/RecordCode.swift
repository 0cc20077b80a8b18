import BelfryJSON

// The code of the records of which a store makes rows (decision 127).

extension ClientRecord: Coded {
    init(_ known: ClientRecord?, by coder: inout some Coder) throws(CodeError) {
        id = try coder(known?.id)
        transport = try coder(known?.transport)
        sessionHash = try coder(known?.sessionHash)
        principal = try coder(known?.principal)
        isAsked = try coder(known?.isAsked)
        wasAsked = try coder(known?.wasAsked)
        connectedAt = try coder(known?.connectedAt)
        disconnectedFor = try coder(known?.disconnectedFor)
        immediateThrough = try coder(known?.immediateThrough)
        lastWritten = try coder(known?.lastWritten)
    }
}

extension ObserverRecord: Coded {
    init(_ known: ObserverRecord?, by coder: inout some Coder) throws(CodeError) {
        serial = try coder(known?.serial)
        client = try coder(known?.client)
        tokenHash = try coder(known?.tokenHash)
        name = try coder(known?.name)
        object = try coder(known?.object)
        selector = try coder(known?.selector)
        terms = try coder(known?.terms)
        role = try coder(known?.role)
        since = try coder(known?.since)
        createdAt = try coder(known?.createdAt)
        acknowledgedThrough = try coder(known?.acknowledgedThrough)
        forgottenThrough = try coder(known?.forgottenThrough)
        readsAbove = try coder(known?.readsAbove)
    }
}

/// The code leaves out the end on the clock, which means nothing in another life.
extension NotificationRecord: Coded {
    init(_ known: NotificationRecord?, by coder: inout some Coder) throws(CodeError) {
        let id: NotificationID = try coder(known?.notification.id)
        let sequence: UInt64 = try coder(known?.notification.sequence)
        let postedAt: Int64 = try coder(known?.notification.postedAt)
        let causedBy: NotificationID? = try coder(known?.notification.causedBy)
        timeToLive = try coder(known?.timeToLive)
        notification = Notification(
            id: id, sequence: sequence, postedAt: postedAt, causedBy: causedBy,
            content: try coder(known?.notification.content), isRestored: true)
    }
}

extension ActionRecord: Coded {
    init(_ known: ActionRecord?, by coder: inout some Coder) throws(CodeError) {
        sequence = try coder(known?.sequence)
        row = try coder(known?.row)
        responder = try coder(known?.responder)
        selector = try coder(known?.selector)
        acknowledges = try coder(known?.acknowledges)
        path = try coder(known?.path)
        shown = try coder(known?.shown)
        if coder.isReading, path.isEmpty { throw .malformed }
    }
}

extension QueueRecord: Coded {
    init(_ known: QueueRecord?, by coder: inout some Coder) throws(CodeError) {
        id = try coder(known?.id)
        place = try coder(known?.place)
        causedBy = try coder(known?.causedBy)
        depth = try coder(known?.depth)
        style = try coder(known?.style)
        coalescing = try coder(known?.coalescing)
        modes = try coder(known?.modes)
        mergedCount = try coder(known?.mergedCount)
        enqueuedAt = try coder(known?.enqueuedAt)
        delayLeft = try coder(known?.delayLeft)
        timeToLive = try coder(known?.timeToLive)
        isImmediate = try coder(known?.isImmediate)
        content = try coder(known?.content)
    }
}

extension TimerRecord: Coded {
    init(_ known: TimerRecord?, by coder: inout some Coder) throws(CodeError) {
        post = try coder(known?.post)
        depth = try coder(known?.depth)
        postedAt = try coder(known?.postedAt)
        dueAt = try coder(known?.dueAt)
        isRestored = try coder(known?.isRestored)
        scope = try coder(known?.scope)
        client = try coder(known?.client)
        principal = try coder(known?.principal)
        repetition = try coder(known?.repetition)
        if coder.isReading, !hasTermsOfStore { throw .malformed }
    }

    /// Whether the post is queued, and has the terms of the farewell or repetition that it is.
    ///
    /// A time of day and a lease that a poster asked for are in `dueAt` and in the repetition.
    private var hasTermsOfStore: Bool {
        guard let options = post.options, options.style != nil, let terms = options.timer,
            !terms.isOfDay, terms.lease == nil, !terms.replaces
        else { return false }
        return (terms.period == nil) == (repetition == nil)
            && terms.isFarewell == (principal != nil) && (principal == nil || terms.start != nil)
    }
}

extension TimerRecord.Repetition: Coded {
    init(_ known: TimerRecord.Repetition?, by coder: inout some Coder) throws(CodeError) {
        startAt = try coder(known?.startAt)
        next = try coder(known?.next)
        fired = try coder(known?.fired)
        missed = try coder(known?.missed)
        lastMade = try coder(known?.lastMade)
        leaseLeft = try coder(known?.leaseLeft)
    }
}

extension AskRecord: Coded {
    init(_ known: AskRecord?, by coder: inout some Coder) throws(CodeError) {
        id = try coder(known?.id)
        content = try coder(known?.content)
        causedBy = try coder(known?.causedBy)
        depth = try coder(known?.depth)
        fallback = try coder(known?.fallback)
        isOnce = try coder(known?.isOnce)
        askedAt = try coder(known?.askedAt)
        answerBy = try coder(known?.answerBy)
        principal = try coder(known?.principal)
        shown = try coder(known?.shown)
        observer = try coder(known?.observer)
        end = try coder(known?.end)
        options = try coder(known?.options)
    }
}

extension AskRecord.End: Coded {
    init(_ known: AskRecord.End?, by coder: inout some Coder) throws(CodeError) {
        outcome = try coder(known?.outcome)
        forgottenAt = try coder(known?.forgottenAt)
    }
}

extension ValueRecord: Coded {
    init(_ known: ValueRecord?, by coder: inout some Coder) throws(CodeError) {
        object = try coder(known?.object)
        document = try coder(known?.document)
        changedSequence = try coder(known?.changedSequence)
        changedAt = try coder(known?.changedAt)
        parts = try coder(known?.parts)
        if coder.isReading, !document.isObject { throw .malformed }
    }
}

extension ValueRecord.Part: Coded {
    init(_ known: ValueRecord.Part?, by coder: inout some Coder) throws(CodeError) {
        path = try coder(known?.path)
        expiresAt = try coder(known?.expiresAt)
        timeToLive = try coder(known?.timeToLive)
        lease = try coder(known?.lease)
    }
}

/// The code leaves out the owner of the key, whose number counts for one process.
extension KeyRecord: Coded {
    init(_ known: KeyRecord?, by coder: inout some Coder) throws(CodeError) {
        key = IdempotencyKey(
            principal: try coder(known?.key.principal), text: try coder(known?.key.text),
            requestHash: try coder(known?.key.requestHash), form: try coder(known?.key.form))
        receipts = try coder(known?.receipts)
        reports = try coder(known?.reports)
        ask = try coder(known?.ask)
    }
}
