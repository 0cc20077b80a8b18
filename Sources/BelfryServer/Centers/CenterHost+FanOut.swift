import BelfryCenter

extension CenterHost {
    /// Sends the effects of the last command to their receivers; a second call does nothing.
    mutating func fanOut(_ context: inout LoopContext) {
        guard applied.isUnspread else { return }
        applied.isUnspread = false
        let position = applied.position
        tellNotices(at: position, &context)
        if !effects.deliveries.isEmpty {
            context.counters.deliveries += UInt64(effects.deliveries.count)
            context.counters.replays += effects.replayedCount
            context.work.count(deliveries: effects.deliveries.count)
            context.spread(&effects, of: position, in: &centers)
        }
        if effects.evaluationCount > 0 {
            context.counters.whereEvaluations += effects.evaluationCount
            context.work.count(deliveries: Int(effects.evaluationCount))
        }
        if !effects.completions.isEmpty || effects.hasAsks {
            let hasStored = !effects.changes.isEmpty && shared.store != nil
            completions.keep(effects, hasStored: hasStored)
        }
        if effects.hasValues, !effects.changedValues.isEmpty {
            waits.touch(effects.changedValues, of: centers[position].name)
        }
        if effects.hasAsks { fanOutAsks(at: position, &context) }
    }

    private mutating func fanOutAsks(at position: Int, _ context: inout LoopContext) {
        if !effects.askEnds.isEmpty {
            waits.release(effects.askEnds)
            shared.figures.noteAskEnds(effects.askEnds, at: context.commandTime)
        }
        if effects.announcement != 0 {
            promises.await(
                AnnouncedAsks(center: centers[position].name, number: effects.announcement),
                until: promises.ticketOfEverything)
        }
    }

    /// Sends clients the notices about their observers.
    private mutating func tellNotices(at position: Int, _ context: inout LoopContext) {
        guard !effects.notices.isEmpty else { return }
        var notices: [Notice] = []
        swap(&notices, &effects.notices)
        for notice in notices { tell(notice, at: position, &context) }  // Bound: effects
    }

    private mutating func tell(
        _ notice: Notice, at position: Int, _ context: inout LoopContext
    ) {
        var bytes: [UInt8] = []
        let target: ConnectionName
        var content = OutboxItem.Content.notice
        switch notice {
        case .removed(let connection, let transport, let observer, let tombstone):
            target = connection
            transport.words.append(removed: observer, tombstone, to: &bytes)
        case .gap(let connection, let transport, let gap):
            target = connection
            if context.log.level <= .debug { context.tell(gap) }
            transport.words.append(gap: gap, to: &bytes)
        case .clientRemoved(let connection, let transport):
            target = connection
            content = .lastFrames
            transport.words.append(.clientRemoved, to: &bytes)
        case .flushGoesOn(let client, let connection):
            target = connection
            content = .flushGoesOn(client: client)
        case .flushFollows(let client, let connection):
            return promises.flushBehindAnswers(
                client, ConnectionNumber(connection), &context)
        case .takenOver(let connection, let transport):
            target = connection
            content = .lastFrames
            transport.words.append(.takenOver, to: &bytes)
        case .settled(let connection, let transport, let observer, let id, let reason):
            target = connection
            transport.words.append(settled: id, at: observer, reason, to: &bytes)
        case .readerReplaced(let connection, let isStream):
            guard isStream else { return waits.mailboxes.release(connection.number, .replaced) }
            target = connection
            content = .lastFrames
            appendStreamEnd(connection.number, at: position, to: &bytes)
        case .mailboxFilled(let connection, _):
            return waits.mailboxes.release(connection.number, .over)
        }
        context.send(bytes, content, to: ConnectionNumber(target))
    }
}
