// The code of notifications, of posts and of their results.

extension Notification.Content: Coded {
    init(_ known: Notification.Content?, by coder: inout some Coder) throws(CodeError) {
        self = try coder.content(known)
    }
}

extension Notification: Coded {
    init(_ known: Notification?, by coder: inout some Coder) throws(CodeError) {
        id = try coder(known?.id)
        sequence = try coder(known?.sequence)
        postedAt = try coder(known?.postedAt)
        causedBy = try coder(known?.causedBy)
        content = try coder(known?.content)
        expiresAt = try coder(known?.expiresAt)
        isRestored = try coder(known?.isRestored)
    }
}

extension PostOptions: Coded {
    convenience init(_ known: PostOptions?, by coder: inout some Coder) throws(CodeError) {
        self.init(
            style: try coder(known?.style), coalescing: try coder(known?.coalescing),
            keepsLatest: try coder(known?.keepsLatest), modes: try coder(known?.modes),
            maxDelay: try coder(known?.maxDelay), isImmediate: try coder(known?.isImmediate),
            timeToLive: try coder(known?.timeToLive), timer: try coder(known?.timer))
    }
}

extension TimerTerms: Coded {
    init(_ known: TimerTerms?, by coder: inout some Coder) throws(CodeError) {
        start = try coder(known?.start)
        period = try coder(known?.period)
        lease = try coder(known?.lease)
        replaces = try coder(known?.replaces)
        isFarewell = try coder(known?.isFarewell)
    }
}

extension TimerTerms.Start: CodedCases {
    func write(by coder: inout some Coder) throws(CodeError) {
        switch self {
        case .after(let nanoseconds): try coder.write(case: 0, nanoseconds)
        case .at(let milliseconds): try coder.write(case: 1, milliseconds)
        }
    }

    static func read(
        case number: UInt64, by coder: inout some Coder
    ) throws(CodeError) -> TimerTerms.Start {
        switch number {
        case 0: .after(try coder.next())
        case 1: .at(try coder.next())
        default: throw .malformed
        }
    }
}

extension TimerRecord.Principal: Coded {
    init(_ known: TimerRecord.Principal?, by coder: inout some Coder) throws(CodeError) {
        name = try coder(known?.name)
        hasKey = try coder(known?.hasKey)
    }
}

extension PostScope: CodedCases {
    func write(by coder: inout some Coder) throws(CodeError) {
        switch self {
        case .everything: try coder.write(case: 0)
        case .some(let patterns): try coder.write(case: 1, patterns)
        }
    }

    static func read(
        case number: UInt64, by coder: inout some Coder
    ) throws(CodeError) -> PostScope {
        switch number {
        case 0: .everything
        case 1: .some(try coder.next())
        default: throw .malformed
        }
    }
}

extension PostScope.Pattern: Coded {
    init(_ known: PostScope.Pattern?, by coder: inout some Coder) throws(CodeError) {
        names = try coder(known?.names)
        objects = try coder(known?.objects)
    }
}

extension PostScope.Text: CodedCases {
    func write(by coder: inout some Coder) throws(CodeError) {
        switch self {
        case .exact(let text): try coder.write(case: 0, text)
        case .prefix(let text): try coder.write(case: 1, text)
        }
    }

    static func read(
        case number: UInt64, by coder: inout some Coder
    ) throws(CodeError) -> PostScope.Text {
        switch number {
        case 0: .exact(try coder.next())
        case 1: .prefix(try coder.next())
        default: throw .malformed
        }
    }
}

extension Receipt: Coded {
    init(_ known: Receipt?, by coder: inout some Coder) throws(CodeError) {
        id = try coder(known?.id)
        sequence = try coder(known?.sequence)
        state = try coder(known?.state)
        matched = try coder(known?.matched)
        delivered = try coder(known?.delivered)
        held = try coder(known?.held)
        coalesced = try coder(known?.coalesced)
        dropped = try coder(known?.dropped)
        acknowledged = try coder(known?.acknowledged)
        refused = try coder(known?.refused)
        pending = try coder(known?.pending)
        dequeued = try coder(known?.dequeued)
        if coder.version >= 6 { isKept = try coder(known?.isKept) }
    }
}

extension Receipt.State: CodedCases {
    func write(by coder: inout some Coder) throws(CodeError) {
        switch self {
        case .posted: try coder.write(case: 0)
        case .queued: try coder.write(case: 1)
        case .timed(let dueAt): try coder.write(case: 2, dueAt)
        case .coalesced(let survivor): try coder.write(case: 3, survivor)
        case .dequeued: try coder.write(case: 4)
        case .expired: try coder.write(case: 5)
        }
    }

    static func read(
        case number: UInt64, by coder: inout some Coder
    ) throws(CodeError) -> Receipt.State {
        switch number {
        case 0: .posted
        case 1: .queued
        case 2: .timed(dueAt: try coder.next())
        case 3: .coalesced(into: try coder.next())
        case 4: .dequeued
        case 5: .expired
        default: throw .malformed
        }
    }
}

extension ReportRow: Coded {
    init(_ known: ReportRow?, by coder: inout some Coder) throws(CodeError) {
        observer = try coder(known?.observer)
        outcome = try coder(known?.outcome)
        route = try coder(known?.route)
    }
}

extension ReportRow.Outcome: CodedCases {
    func write(by coder: inout some Coder) throws(CodeError) {
        switch self {
        case .delivered: try coder.write(case: 0)
        case .acknowledged: try coder.write(case: 1)
        case .answered(let result): try coder.write(case: 2, result)
        case .resultOmitted: try coder.write(case: 3)
        case .refused(let error): try coder.write(case: 4, error)
        case .pending: try coder.write(case: 5)
        case .held: try coder.write(case: 6)
        case .coalesced: try coder.write(case: 7)
        case .dropped: try coder.write(case: 8)
        case .unhandled(let failure): try coder.write(case: 9, failure)
        case .disconnected: try coder.write(case: 10)
        }
    }

    static func read(
        case number: UInt64, by coder: inout some Coder
    ) throws(CodeError) -> ReportRow.Outcome {
        switch number {
        case 0: .delivered
        case 1: .acknowledged
        case 2: .answered(result: try coder.next())
        case 3: .resultOmitted
        case 4: .refused(error: try coder.next())
        case 5: .pending
        case 6: .held
        case 7: .coalesced
        case 8: .dropped
        case 9: .unhandled(try coder.next())
        case 10: .disconnected
        default: throw .malformed
        }
    }
}

extension ActionRoute: Coded {
    init(_ known: ActionRoute?, by coder: inout some Coder) throws(CodeError) {
        path = try coder(known?.path)
        responder = try coder(known?.responder)
    }
}
