// The replay for a client that comes back (Protocol.md section 6).

extension NotificationCenter {
    /// Replays notifications above a number that are not held for a client.
    ///
    /// The client has seen the number's frame for its first observer; the connection may
    /// have ended before those of the others. Losses that the replay repairs are removed; written
    /// notifications that are no longer in the ring become unknown losses.
    ///
    /// - Complexity: The ring times the client's own observers, a comparison each: the cost does
    ///   not grow with the observers of others, and memory is used only for the notifications that
    ///   fit.
    mutating func replay(
        after sequence: UInt64, to client: UInt32, at time: CommandTime, _ effects: inout Effects
    ) {
        guard sequence <= self.history.sequence else { return }
        // Deliveries to an address are not its client's: an action comes again only if it was held
        // or owed.
        let slots = registry.observerSlots(of: client)
            .filter { registry.observers.target(at: $0) == nil && !isOfValue($0) }
        guard !slots.isEmpty else { return }
        let known = heldSequences(of: client)
        var past = past(above: max(sequence, 1) - 1, at: time)
        var starts: [UInt64] = []
        var counts = [Int](repeating: 0, count: past.count)
        let hasAll = registry.lastWritten[client]?.isSeen(by: sequence) ?? false
        var (wasSeen, wasWritten) = (true, false)
        let seenPlace = markedPlace(of: sequence, among: slots)
        let takers = slots.filter {
            archiveBox.value.isUsed && past.matches(sequence, registry.filter(of: $0))
        }
        for slot in slots {  // Bound: resume
            let start = registry.observers[slot].replaysAbove + 1
            let isHeld = registry.observers[slot].holdsUnanswered(sequence)
            forgetUnknown(through: sequence, at: slot, &effects)
            let again = self.start(of: slot, after: sequence, isHeld: isHeld, &past, &wasWritten)
            starts.append(archiveBox.value.readers[client]?.firstHeld(again, at: slot) ?? again)
            past.find(
                registry.filter(of: slot), of: slot, from: starts.last ?? again, known[slot] ?? [])
            for place in past.found { counts[place] += 1 }  // Bound: resume
            // Losses with the number that the client names are replayed with it.
            let lost =
                archiveBox.value.knowsLosses
                ? PastLosses.lostThrough(
                    at: slot, wall: lastWallTime, archiveBox.value, registry, history)
                : history.replay.forgottenThrough
            let missing = max(max(again - 1, lost), past.unread?.last ?? 0)
            makeGood(past, missingThrough: missing, at: slot, &effects)
            if let unread = past.unread { noteGap(unread, at: slot, &effects) }
            if archiveBox.value.isUsed {
                archiveBox.value.readAgain(
                    slot, after: again - 1, isOwn: slots.count == 1 || takers == [slot],
                    lost: lost, held: known[slot] ?? [], join: history.sequence, registry)
            }
            guard registry.observers[slot].writtenThrough >= sequence else { continue }
            let isForeign = seenPlace.map { $0 != markedPlace(of: slot) ?? $0 } ?? false
            let isSeen = wasSeen || hasAll || isForeign
            if !isForeign { wasSeen = false }
            let first = max(isSeen ? sequence + 1 : sequence, start)
            // What is sent and not acknowledged is held; a kill may have lost this number alone.
            let most = registry.observers[slot].terms.acknowledges ? isHeld ? 0 : sequence : lost
            let end = min(registry.observers[slot].writtenThrough, lost, most)
            guard first <= end else { continue }
            let gap = GapRecord(reason: .unknown, count: nil, first: first, last: end)
            noteGap(gap, at: slot, &effects)
        }
        let found = newest(of: &past, counts, from: starts, known, at: slots, of: client)
        hold(found, at: slots, of: client, &effects)
    }

    /// The newest missing notifications of a client's observers that fit.
    ///
    /// - Parameter counts: The number of observers of each notification.
    private func newest(
        of past: inout Past, _ counts: [Int], from starts: [UInt64], _ known: [UInt32: [UInt64]],
        at slots: [UInt32], of client: UInt32
    ) -> Replay {
        var found = emptyReplay(for: client)
        var edge = found.edge(of: counts) { past[$0].content.byteCount }
        var matches: [(place: Int, number: Int)] = []
        for (number, slot) in slots.enumerated() {  // Bound: resume
            past.find(registry.filter(of: slot), of: slot, from: starts[number], known[slot] ?? [])
            let lostCount = edge.lostCount(of: past.found)
            // Bound: resume
            for place in past.found[lostCount...] { matches.append((place, number)) }
            guard lostCount > 0 else { continue }
            found.lose(
                GapRecord(
                    reason: .overflow, count: lostCount, first: past.sequence(at: past.found[0]),
                    last: past.sequence(at: past.found[lostCount - 1])), of: slot)
        }
        matches.sort { $0 < $1 }
        // Bound: resume
        for match in matches { found.add(past[match.place], to: slots[match.number]) }
        return found
    }

    /// The numbers of the held notifications of a client's observers, each in ascending order.
    func heldSequences(of client: UInt32) -> [UInt32: [UInt64]] {
        var known: [UInt32: [UInt64]] = [:]
        // Bound: client
        for entry in backlog.held.slots(of: registry.clients[client].held.list, in: .client)
        where backlog.held[entry].flags.isDisjoint(with: .action) {
            known[backlog.held[entry].observer, default: []].append(
                backlog.held.sequence(of: entry))
        }
        return known.mapValues { $0.sorted() }
    }

    /// The replay ring above a number.
    private func past(above sequence: UInt64, at time: CommandTime) -> Past {
        var past = Past()
        if let named = archiveBox.value.named(sequence + 1, above: history.replay) {
            past.append(named, at: registry.index.place(of: named.content), isExpired: false)
        }
        history.replay.forEach(above: sequence) { notification in
            past.append(
                notification, at: registry.index.place(of: notification.content),
                isExpired: notification.expiresAt <= time.monotonicNanoseconds)
        }
        return past
    }

    /// The first number to replay to an observer of a client that has seen a number.
    ///
    /// - Parameter wasWritten: Whether an earlier observer of the client was written that number.
    private func start(
        of slot: UInt32, after sequence: UInt64, isHeld: Bool, _ past: inout Past,
        _ wasWritten: inout Bool
    ) -> UInt64 {
        let observer = registry.observers[slot]
        let start = observer.replaysAbove + 1
        guard observer.since < sequence || start <= sequence, observer.writtenThrough >= sequence,
            past.matches(sequence, registry.filter(of: slot))
        else { return max(start, sequence + 1) }
        let isFirst = !wasWritten
        wasWritten = true
        return max(start, isFirst || isHeld ? sequence + 1 : sequence)
    }

    /// An empty replay with the room of a client.
    func emptyReplay(for client: UInt32) -> Replay {
        Replay(
            countRoom: limits.clientHeldCountLimit - registry.clients[client].held.list.count,
            byteRoom: limits.clientHeldByteLimit - registry.clients[client].held.byteCount)
    }

    /// Holds the replayed notifications, each at its place in the order, and notes the losses.
    ///
    /// Those are the notifications that did not fit.
    mutating func hold(
        _ found: Replay, at slots: [UInt32], of client: UInt32, _ effects: inout Effects
    ) {
        for slot in slots {  // Bound: resume
            guard let loss = found.loss(of: slot) else { continue }
            registry.observers[slot].tally.dropped += UInt64(loss.count ?? 0)
            noteGap(loss, at: slot, &effects)
        }
        guard !found.matches.isEmpty else { return }
        var entries = backlog.held.slots(of: registry.clients[client].held.list, in: .client)
        // The matches ascend, so one walk along the kept notifications finds the place of each.
        let first = found.matches[found.matches.startPosition].notification
        var kept = backlog.held.firstSlot(from: first.sequence)
        for position in found.matches.startPosition..<found.matches.endPosition {  // Bound: resume
            let (notification, slot) = found.matches[position]
            if !backlog.held.goOn(&kept, to: notification.sequence) {
                kept = keep(notification, before: kept)
            }
            let entry = backlog.held.make(
                HeldTable.Entry(
                    observer: slot, notification: kept, account: .none,
                    flags: [.redelivered, .replayed]))
            backlog.held.append(entry, to: &registry.observers[slot].entries, in: .observer)
            count(entry: entry, 1)
            registry.observers[slot].replayedCount += 1
            registry.clients[client].held.byteCount += notification.content.byteCount
            entries.append(entry)
        }
        relink(entries, of: client)
    }

    /// Stores the replayed notifications that could not be sent at once, like all held ones.
    mutating func noteReplayed(
        of client: UInt32, at time: CommandTime, _ effects: inout Effects
    ) {
        guard limits.isDurable, registry.clients[client].isLasting else { return }
        let lists = [registry.clients[client].debt.entries, registry.clients[client].held]
        // Bound: client
        for entry in lists.flatMap({ backlog.held.slots(of: $0.list, in: .client) })
        where backlog.held[entry].flags.contains(.replayed)
            && !backlog.held[entry].flags.contains(.stored)
        {
            noteHeld(entry, at: time, &effects)
        }
    }

    /// The mark of a number of an earlier life, if it is the last of an observed name.
    ///
    /// No other name had that number then.
    private func markedPlace(of sequence: UInt64, among slots: [UInt32]) -> Int? {
        guard sequence <= history.restoredThrough, let marks = history.marks else { return nil }
        for slot in slots {  // Bound: resume
            if let place = markedPlace(of: slot), marks.cells[place] == sequence { return place }
        }
        return nil
    }

    /// The mark of the one name that an observer gets; nil where there are more.
    private func markedPlace(of slot: UInt32) -> Int? {
        registry.observedName(at: slot).map { DispatchMarks.place(of: $0.span) }
    }

    /// Forgets losses that were unknown after a restart and that the client rules out.
    ///
    /// Up to the number that it saw in the life before, it was told its losses, unless it has asked
    /// for suspension since.
    private mutating func forgetUnknown(
        through sequence: UInt64, at slot: UInt32, _ effects: inout Effects
    ) {
        guard sequence <= history.restoredThrough,
            !registry.clients[registry.observers[slot].client].wasAsked
        else { return }
        for place in registry.observers[slot].gaps.indices.reversed() {  // Bound: gaps
            var gap = registry.observers[slot].gaps[place]
            guard gap.reason == .unknown, gap.count == nil, gap.last <= history.restoredThrough,
                gap.first <= sequence
            else { continue }
            gap.first = sequence + 1
            change(gapAt: place, of: slot, to: gap, isOver: gap.first > gap.last, &effects)
        }
    }

    /// Changes a gap that was not told yet, or removes it.
    mutating func change(
        gapAt place: Int, of slot: UInt32, to gap: GapRecord, isOver: Bool,
        _ effects: inout Effects
    ) {
        var gap = gap
        if isOver {
            registry.observers[slot].gaps.remove(at: place)
            gap.count = 0
            if registry.observers[slot].gaps.isEmpty {
                registry.clients[registry.observers[slot].client].gapCount -= 1
            }
        } else {
            registry.observers[slot].gaps[place] = gap
        }
        guard isLasting(slot) else { return }
        effects.changes.append(.gap(observer: registry.observers[slot].serial, gap))
    }

    /// Removes the losses that a replay repairs.
    ///
    /// It is unknown which of the numbers of a gap were lost: a replayed one may have been
    /// delivered before. So a gap is removed only if everything between its ends is replayed.
    /// Otherwise it ends with the last number that stays missing; its count becomes unknown once
    /// one of its numbers is replayed, unless all of them were lost.
    private mutating func makeGood(
        _ past: Past, missingThrough missing: UInt64, at slot: UInt32, _ effects: inout Effects
    ) {
        for place in registry.observers[slot].gaps.indices.reversed() {  // Bound: gaps
            var gap = registry.observers[slot].gaps[place]
            let expired = past.lastExpired(from: gap.first, through: gap.last)
            let count = past.count(from: gap.first, through: gap.last)
            if gap.first > missing, expired == nil {
                change(gapAt: place, of: slot, to: gap, isOver: true, &effects)
            } else if count > 0 {
                let lost = gap.count ?? 0
                gap.count = gap.last - gap.first + 1 == UInt64(lost) ? lost - count : nil
                gap.last = min(gap.last, max(missing, expired ?? 0))
                change(gapAt: place, of: slot, to: gap, isOver: false, &effects)
            }
        }
    }
}

/// The replay ring for a client that comes back, and the part that one observer lacks.
private struct Past {
    private var notifications: [Notification] = []
    private var places: [ObserverIndex.ContentPlace] = []
    private var isExpired: [Bool] = []
    /// The places of the notifications that match the observer and are not held, the oldest first.
    private(set) var found: [Int] = []
    /// The places of those that it would also get if they were not expired.
    private var expired: [Int] = []
    /// The loss of those whose conditions were past the limit of work.
    private(set) var unread: GapRecord?
    /// The filter and the start of the last search, and what it found.
    private var wanted: (filter: ObserverIndex.Filter, start: UInt64)?
    private var last = Search()
    /// The searches with conditions, by the slots of observers: none is made twice.
    private var searches: [UInt32: Search] = [:]
    private var work = FilterWork()

    /// The places that match a filter, held or not.
    private struct Search {
        var matching: [Int] = []
        var expired: [Int] = []
        var unread: GapRecord?
    }

    var count: Int { notifications.count }
    subscript(place: Int) -> Notification { notifications[place] }

    /// The number at a place.
    func sequence(at place: Int) -> UInt64 { notifications[place].sequence }

    /// The first place whose number is not below this one.
    private func place(from sequence: UInt64) -> Int {
        notifications.indices.firstPlace { notifications[$0].sequence >= sequence }
    }

    mutating func append(
        _ notification: Notification, at place: ObserverIndex.ContentPlace, isExpired: Bool
    ) {
        notifications.append(notification)
        places.append(place)
        self.isExpired.append(isExpired)
    }

    /// Whether there is a notification of this number, and it matches.
    mutating func matches(_ sequence: UInt64, _ filter: ObserverIndex.Filter) -> Bool {
        let place = place(from: sequence)
        guard place < places.count, notifications[place].sequence == sequence else { return false }
        return filter.matches(places[place], notifications[place].content, &work) ?? false
    }

    /// Finds the notifications for an observer, from a number on, without the held ones.
    ///
    /// Observers of a client with one filter share the search.
    mutating func find(
        _ filter: ObserverIndex.Filter, of slot: UInt32, from start: UInt64, _ known: [UInt64]
    ) {
        if let search = searches[slot] {
            (wanted, last) = ((filter, start), search)
        } else if wanted.map({ $0 != (filter, start) }) ?? true {
            search(filter, from: start)
        }
        if filter.terms?.hasCondition == true { searches[slot] = last }
        found = without(known, in: last.matching)
        expired = without(known, in: last.expired)
        unread = last.unread
    }

    private mutating func search(_ filter: ObserverIndex.Filter, from start: UInt64) {
        wanted = (filter, start)
        last = Search()
        for place in place(from: start)..<places.count {  // Bound: resume
            // A reader finds what is kept.
            if notifications[place].isKept { continue }
            switch filter.matches(places[place], notifications[place].content, &work) {
            case true? where isExpired[place]: last.expired.append(place)
            case true?: last.matching.append(place)
            case nil:
                let gap = GapRecord.unread(sequence(at: place))
                if last.unread?.add(gap) == nil { last.unread = gap }
            default: break
            }
        }
    }

    /// Places without those of some numbers, both in ascending order.
    ///
    /// - Complexity: A search for each number, and a copy of the rest.
    private func without(_ known: [UInt64], in places: [Int]) -> [Int] {
        if known.isEmpty || places.isEmpty { return places }
        var rest: [Int] = []
        rest.reserveCapacity(places.count)
        var next = 0
        for number in known {  // Bound: resume
            let place = place(from: number)
            guard place < notifications.count, notifications[place].sequence == number else {
                continue
            }
            let end = places[next...].firstPlace(notBelow: place)
            rest += places[next..<end]
            next = end < places.count && places[end] == place ? end + 1 : end
        }
        rest += places[next...]
        return rest
    }

    /// The number of the observer's notifications between two numbers, both included.
    func count(from first: UInt64, through last: UInt64) -> Int {
        let start = found.indices.firstPlace { sequence(at: found[$0]) >= first }
        return max(0, end(of: found, through: last) - start)
    }

    /// The last expired number between two others.
    func lastExpired(from first: UInt64, through last: UInt64) -> UInt64? {
        let end = end(of: expired, through: last)
        guard end > 0, sequence(at: expired[end - 1]) >= first else { return nil }
        return sequence(at: expired[end - 1])
    }

    /// The end of those places in an ascending list whose numbers are not above this one.
    private func end(of places: [Int], through last: UInt64) -> Int {
        places.indices.firstPlace { sequence(at: places[$0]) > last }
    }
}
