import BelfryBytes

// Archives: what is kept of channels, and observers that begin in the past (rules A1 to A18).

extension NotificationCenter {
    /// Keeps a notification that is dispatched, if an archive has its channel.
    mutating func keep(
        _ notification: Notification, at time: CommandTime, _ effects: inout Effects
    ) -> Bool {
        let content = notification.content
        guard let slot = archives.archive(of: content.name, isReserved: content.isReserved) else {
            return false
        }
        let last = lastPost(of: content.nameText, before: notification.sequence)
        let isKept = archives.keep(notification, in: slot, after: last, at: time)
        if !archives.changes.isEmpty || !archives.ended.isEmpty { noteArchives(&effects) }
        return isKept
    }

    /// The last notification of a channel, as far as it is known, or may have been.
    func lastPost(of name: [UInt8], before sequence: UInt64 = .max) -> LossMark {
        if let mark = registry.index.channels.lastPost(of: name.span), mark.sequence > 0 {
            return mark
        }
        let forgotten = registry.index.channels.forgotten
        let earlier = history.lastDispatchedEarlier(of: name)
        guard earlier > forgotten.sequence else { return forgotten }
        return LossMark(sequence: earlier, postedAt: history.restoredAt)
    }

    /// The last notification of the channels of an archive to come that no other archive has.
    private func lastUnkept(_ name: ArchiveName) -> LossMark {
        guard archives.archive(of: name.text.span, isReserved: false) == nil else {
            return LossMark()
        }
        guard name.isPrefix else { return lastPost(of: name.text) }
        var last = registry.index.channels.lastPost(beginningWith: name.text) { channel in
            archives.archive(of: channel.span, isReserved: false) == nil
        }
        last.raise(
            to: LossMark(sequence: history.restoredThrough, postedAt: history.restoredAt))
        return last
    }

    /// Lets the store follow the archives.
    private mutating func noteArchives(_ effects: inout Effects) {
        for sequence in archives.ended { history.replay.erase(sequence) }  // Bound: effects
        archives.ended.removeAll(keepingCapacity: archives.ended.capacity <= 1_024)
        for change in archives.changes { tell(change, &effects) }  // Bound: effects
        archives.changes.removeAll(keepingCapacity: archives.changes.capacity <= 1_024)
    }

    /// Makes an archive, or changes it.
    mutating func putArchive(
        _ name: ArchiveName, _ terms: ArchiveTerms, at time: CommandTime, _ effects: inout Effects
    ) throws(Refusal) {
        let known = archives.slot(of: name).flatMap { archives.row(of: $0) }
        if let known, known.terms.isConfigured, !terms.isConfigured { throw .setByConfiguration }
        let bytes = archives.reservedByteCount - (known?.terms.byteLimit ?? 0) + terms.byteLimit
        guard bytes <= limits.archiveByteLimit, known != nil || archives.count < limits.archiveLimit
        else { throw .archiveFull(limit: limits.archiveByteLimit, count: limits.archiveLimit) }
        archives.isDurable = limits.isDurable
        let slot = archives.put(
            name, terms, since: history.sequence, after: lastUnkept(name), at: time)
        noteArchives(&effects)
        guard var row = archives.row(of: slot) else { return }
        row.isNew = known == nil
        effects.outcome = .archive(row)
    }

    /// Removes an archive with all that it keeps.
    mutating func removeArchive(
        _ name: ArchiveName, isConfigured: Bool, at time: CommandTime, _ effects: inout Effects
    ) throws(Refusal) {
        guard let known = archives.slot(of: name).flatMap({ archives.row(of: $0) }) else {
            throw .unknownArchive
        }
        if known.terms.isConfigured, !isConfigured { throw .setByConfiguration }
        _ = archives.remove(name, at: time)
        noteArchives(&effects)
        effects.outcome = .done
    }

    /// Lets go what is over.
    mutating func passArchiveTime(
        limit: Int, at time: CommandTime, _ effects: inout Effects
    ) {
        archives.passTime(limit: limit, at: time)
        noteArchives(&effects)
    }

    /// Forgets notifications that a query means, wherever they are (rule A16).
    ///
    /// One command looks at a share of them; the outcome says where the next one goes on.
    mutating func forget(
        _ query: PastQuery, above start: UInt64, at time: CommandTime, _ effects: inout Effects
    ) {
        var work = PastWork()
        var count = 0
        var position = max(start, query.after)
        var next: UInt64?
        // Share: past
        while let candidate = archives.next(
            above: position, history.replay, registry.index, at: nil, &work)
        {
            let notification = candidate.notification
            guard notification.sequence < query.before else { break }
            if work.isDone {
                next = position
                break
            }
            position = notification.sequence
            guard query.matches(notification, &work.conditions) == true else { continue }
            count += 1
            erase(notification, &effects)
        }
        if next == nil, work.isDone { next = position }
        if next == nil { forgetHeld(query, &effects) }
        noteArchives(&effects)
        effects.outcome = .forgot(count: count, next: next)
    }

    /// Removes a notification from archive and ring.
    private mutating func erase(_ notification: Notification, _ effects: inout Effects) {
        if let row = archives.rows.slot(of: notification.sequence) {
            archives.letGo(row, .ended)
        } else {
            let last = lastPost(of: notification.content.nameText)
            archives.noteRemoval(of: notification, after: last)
        }
        history.replay.erase(notification.sequence)
    }

    /// Drops held copies; their observers get a gap.
    private mutating func forgetHeld(
        _ query: PastQuery, _ effects: inout Effects
    ) {
        var work = FilterWork()
        var kept = backlog.held.oldest
        while kept != HeldTable.none {  // Bound: kept
            let next = backlog.held.next(after: kept)
            defer { kept = next }
            guard let notification = backlog.held.keptNotification(at: kept),
                !notification.isOfValue, query.matches(notification, &work) == true
            else { continue }
            for entry in backlog.entries(of: kept)  // Bound: ends
            where !backlog.held[entry].flags.contains(.unacknowledged) {
                lose(entry, .unknown, &effects)
            }
        }
    }

    /// Goes on with a page of the past, for as long as a share lasts (rule A18).
    ///
    /// - Parameter isVisible: Whether the caller may see a notification.
    public func read(
        _ page: inout PastPage, of query: PastQuery, at time: CommandTime,
        isVisible: (Notification) -> Bool
    ) {
        archives.read(
            &page, of: query, history.replay, registry.index, at: time, isVisible: isVisible)
    }

    /// The bytes that all of its archives may keep.
    public var archiveByteLimit: Int { archives.reservedByteCount }

    /// The archives of the center; none that was removed is among them.
    public var archiveRows: [ArchiveRow] { archives.listing() }

    /// An archive.
    public func archive(named name: ArchiveName) -> ArchiveRow? {
        archives.slot(of: name).flatMap { archives.row(of: $0) }
    }

    /// Whether an archive keeps a channel.
    public func isArchived(_ name: [UInt8]) -> Bool {
        archives.archive(of: name.span, isReserved: name.starts(with: "belfry.".utf8)) != nil
    }

    // MARK: What is lost

    /// The last number that an observer can no longer be given.
    ///
    /// - Parameter time: the time at which it begins, where it has no number.
    func lostThrough(at slot: UInt32, from time: Int64 = .min) -> UInt64 {
        let names = registry.observedNames(at: slot)
        guard archives.knowsLosses else {
            return history.forgottenThrough(of: registry.observedName(at: slot))
        }
        guard registry.isUnderCondition(slot) else {
            return lostThrough(
                names, registry.observers.filter(at: slot)?.namePrefix,
                object: registry.index.object(of: registry.observers[slot].place), from: time)
        }
        // It may not know of what an archive let go; the ring forgets everything alike.
        let isKept = (names ?? []).allSatisfy { isArchived($0) }
        return names != nil && isKept || history.replay.forgottenAt < time
            ? 0 : history.forgottenThrough(of: nil)
    }

    /// The last number that a reader of the past can no longer be given.
    public func lostThrough(_ query: PastQuery) -> UInt64 {
        lostThrough(
            query.name.map { [$0] }, query.terms?.namePrefix, object: query.object,
            from: query.from)
    }

    private func lostThrough(
        _ names: [[UInt8]]?, _ prefix: [UInt8]?, object: [UInt8]?, from time: Int64
    ) -> UInt64 {
        let view = Archives.RingView(ring: history.replay, wall: lastWallTime, from: time)
        let isRingLate = history.replay.forgottenAt >= time
        func lost(_ loss: Archives.Loss, _ name: [UInt8]?) -> UInt64 {
            switch loss {
            case .kept(let last): last
            case .partlyKept(let last):
                max(
                    last, isRingLate ? history.forgottenThrough(of: name) : 0,
                    archives.orphaned.postedAt >= time ? archives.orphaned.sequence : 0)
            }
        }
        guard let names else { return lost(archives.loss(ofPrefix: prefix, view), nil) }
        return names.reduce(0) {
            max($0, lost(archives.loss(of: $1, object: object, last: lastPost(of: $1), view), $1))
        }
    }

    // MARK: Observers that begin in the past

    /// Lets observers of a client begin in the past.
    mutating func begin(
        _ slots: [UInt32], _ beginning: Beginning?, since: UInt64?, at time: CommandTime,
        _ effects: inout Effects
    ) {
        guard let first = slots.first else { return }
        let client = registry.observers[first].client
        var after = since ?? 0
        if case .from(let start) = beginning {
            after = max(
                archives.rows.last(postedBefore: start) ?? 0,
                history.replay.last(postedBefore: start) ?? 0)
        }
        let isMailbox = registry.clients[client].suspension.contains(.mailbox)
        if beginning == nil || member(first, after: 0, beginning).isPromised,
            !isMailbox || !archives.isUsed
        {
            var start = Int64.min
            if case .from(let time) = beginning { start = time }
            replayNotifications(above: after, from: start, to: slots, at: time, &effects)
            if !archives.isUsed { return }
        }
        for slot in slots where !isOfValue(slot) {  // Bound: registrations
            guard registry.observers.target(at: slot) == nil else { continue }
            let member = member(slot, after: after, beginning)
            if isMailbox {
                fill(member, beginning, at: time, &effects)
            } else {
                read(member, of: client)
            }
        }
        if isMailbox { return }
        startReading(client, at: time, &effects)
        noteReplayed(of: client, at: time, &effects)
    }

    /// An observer that begins behind a number, or as it asked for.
    func member(
        _ slot: UInt32, after: UInt64, _ beginning: Beginning?
    ) -> PastReader.Member {
        var member = PastReader.Member(
            slot: slot, serial: registry.observers[slot].serial,
            filter: registry.filter(of: slot), after: after, join: history.sequence)
        switch beginning {
        case nil: break
        case .from(let start): member.from = start
        case .oldest: member.isPromised = false
        case .last(let count):
            member.isPromised = false
            member.search = PastSearch(count: count, isEach: false, join: member.join)
        case .lastEach(let count):
            member.isPromised = false
            member.search = PastSearch(count: count, isEach: true, join: member.join)
        }
        if !member.isPromised { member.toldLoss = member.join }
        return member
    }

    /// Lets an observer of a client that came back read on behind a number.
    ///
    /// What was lost of that which it was written is known; what its reader had not reached is not.
    mutating func readAgain(
        _ slot: UInt32, after: UInt64, lost: UInt64, _ held: [UInt64]
    ) {
        let client = registry.observers[slot].client
        var member = member(slot, after: after, nil)
        member.toldLoss = lost
        if let reader = archives.readers[client], let place = reader.member(at: slot) {
            // The number may be of another observer, written before the reading began.
            let known = reader.place(of: slot) ?? after
            member = reader.members[place]
            let isOwn = member.isRestored && registry.clients[client].observers.count == 1
            member.after = isOwn ? after : min(after, known)
            member.isRestored = false
        }
        member.held = Set(held)
        read(member, of: client)
    }

    /// Adds an observer to the reader of its client.
    mutating func read(_ member: PastReader.Member, of client: UInt32) {
        var reader = archives.readers[client] ?? PastReader()
        reader.add(member)
        archives.readers[client] = reader
        registry.observers[member.slot].replaysAbove = member.after
    }

    /// Lets a client read as far as it may at once.
    mutating func startReading(
        _ client: UInt32, at time: CommandTime, _ effects: inout Effects
    ) {
        guard archives.readers[client] != nil else { return }
        settle(client, at: time, &effects)
        guard let reader = archives.readers[client] else { return }
        change(client, at: time) { $0.insert(.reading) }
        for member in reader.members { noteObserver(member.slot, &effects) }  // Bound: client
    }

    /// Writes what the observers of a client get of the past, up to a limit.
    ///
    /// - Parameter limit: a held notification and its observer, or nothing for the present.
    /// - Returns: Whether all before the limit is written.
    mutating func readPast(
        of client: UInt32, before limit: (sequence: UInt64, serial: UInt64)?,
        _ step: inout FlushStep, at time: CommandTime, _ effects: inout Effects
    ) -> Bool {
        guard var reader = archives.readers[client] else { return true }
        archives.readers[client] = nil
        defer {
            if reader.isDone(through: history.sequence) {
                endReading(reader, of: client, at: time, &effects)
            } else {
                archives.readers[client] = reader
            }
        }
        guard reader.search(
            in: archives, history.replay, registry.index, at: time, &step.past)
        else {
            registry.clients[client].suspension.insert(.flushing)
            return false
        }
        noteLosses(of: &reader, &effects)
        while true {  // Share: past
            switch reader.next(
                before: limit, in: archives, history, registry.index, at: time, &step.past)
            {
            case .end: return true
            case .tired:
                registry.clients[client].suspension.insert(.flushing)
                return false
            case .found(let notification, let place):
                let member = reader.members[place]
                let acknowledges = registry.observers[member.slot].terms.acknowledges
                guard
                    mayWrite(
                        notification, to: member.slot, isPaced: true, acknowledges, step, at: time)
                else {
                    reader.putBack(notification.sequence, place)
                    return false
                }
                write(notification, to: member, &step, at: time, &effects)
            }
        }
    }

    /// Writes a notification of the past to an observer.
    private mutating func write(
        _ notification: Notification, to member: PastReader.Member, _ step: inout FlushStep,
        at time: CommandTime, _ effects: inout Effects
    ) {
        let slot = member.slot
        let acknowledges = registry.observers[slot].terms.acknowledges
        startInterval(of: notification, at: slot, time)
        step.byteCount += notification.content.byteCount + Self.frameByteCount
        effects.replayedCount += 1
        if acknowledges {
            let entry = makeEntry(
                notification, at: slot, account: .none, flags: [.redelivered, .replayed], time,
                &effects)
            addUnacknowledged(entry, of: registry.observers[slot].client)
        }
        write(
            position(of: notification, &effects), to: slot,
            form: acknowledges ? .acknowledged : .shared, isRedelivered: true, time, &effects)
        guard notification.sequence > member.join else { return }
        let row = ReportRow(
            observer: member.serial, outcome: acknowledges ? .pending : .delivered)
        recount(notification.id, row) { receipt in
            guard receipt.held > 0 else { return }
            receipt.held -= 1
            receipt.delivered += 1
            if acknowledges { receipt.pending += 1 }
        }
    }

    /// Notes what was let go before the observers of a reader came to it (rule A9).
    private mutating func noteLosses(of reader: inout PastReader, _ effects: inout Effects) {
        // What only the ring has is lost when that forgets it, or when its age is over.
        let forgotten = history.replay.forgottenThrough
        guard archives.lossCount != reader.knownLossCount || forgotten != reader.knownForgotten
            || archives.hasAges && lastWallTime != reader.knownAt
        else { return }
        reader.knownLossCount = archives.lossCount
        (reader.knownForgotten, reader.knownAt) = (forgotten, lastWallTime)
        for place in reader.members.indices {  // Bound: client
            let member = reader.members[place]
            let lost = lostThrough(at: member.slot, from: member.from)
            let start = max(member.after, member.toldLoss, min(reader.position, lost))
            guard lost > start else { continue }
            reader.update(place) { $0.toldLoss = lost }
            noteGap(
                GapRecord(reason: .unknown, count: nil, first: start + 1, last: lost),
                at: member.slot, &effects)
        }
    }

    private mutating func endReading(
        _ reader: PastReader, of client: UInt32, at time: CommandTime, _ effects: inout Effects
    ) {
        guard registry.clients[client].suspension.contains(.reading) else { return }
        change(client, at: time) { $0.remove(.reading) }
        for member in reader.members { noteObserver(member.slot, &effects) }  // Bound: client
    }

    /// Holds what an observer of a mailbox begins with: the newest as far as its limits go.
    private mutating func fill(
        _ member: PastReader.Member, _ beginning: Beginning?, at time: CommandTime,
        _ effects: inout Effects
    ) {
        var member = member
        let client = registry.observers[member.slot].client
        let room = emptyReplay(for: client)
        var search = PastSearch(
            count: member.search.map { min($0.count, room.countRoom) } ?? room.countRoom,
            isEach: member.search?.isEach ?? false, byteRoom: room.byteRoom, join: member.join)
        // What is not kept is in the ring alone, and counts as well.
        member.takesAll = true
        var work = PastWork(looks: PastWork.ofCommand)
        let isDone = search.goOn(
            for: member, in: archives, history.replay, registry.index, at: time, &work)
        member.chosen = search.chosen
        member.search = nil
        if member.isPromised {
            let lost = lostThrough(at: member.slot, from: member.from)
            if lost > member.after {
                noteGap(
                    GapRecord(
                        reason: .unknown, count: nil, first: member.after + 1, last: lost),
                    at: member.slot, &effects)
            }
        }
        let isShort = search.lost != nil || !isDone
            || (beginning == nil || beginning?.isWhole == true)
                && search.foundCount >= room.countRoom && search.start > member.after + 1
        if isShort {
            noteGap(
                GapRecord(
                    reason: .overflow, count: nil, first: member.after + 1,
                    last: search.lost ?? max(member.after + 1, search.start - 1)),
                at: member.slot, &effects)
        }
        member.after = max(member.after, search.start - 1)
        var reader = PastReader()
        reader.add(member)
        var found = room
        work = PastWork(looks: PastWork.ofCommand)
        // Share: past
        while case .found(let notification, _) = reader.next(
            before: nil, in: archives, history, registry.index, at: time, &work)
        {
            found.add(notification, to: member.slot)
        }
        hold(found, at: [member.slot], of: client, &effects)
        settle(client, at: time, &effects)
        noteReplayed(of: client, at: time, &effects)
    }
}
