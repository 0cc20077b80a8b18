// Observers that begin in the past, or come back to it (rules A7 to A13).

extension PastBeginning? {
    /// The number behind which an observer begins.
    func start(
        since: UInt64?, _ archives: borrowing Archives, _ ring: borrowing ReplayRing
    ) -> UInt64 {
        guard case .from(let time) = self else { return since ?? 0 }
        return max(archives.rows.last(postedBefore: time) ?? 0, ring.last(postedBefore: time) ?? 0)
    }
}

extension Archives {
    /// The notification that a client names: the archive may know more of it than the ring.
    func named(_ sequence: UInt64, above ring: borrowing ReplayRing) -> Notification? {
        guard isUsed, ring.forgottenThrough >= sequence, let row = rows.slot(of: sequence) else {
            return nil
        }
        var named = rows[row].notification
        named.isKept = true
        return named
    }

    /// Adds an observer to the reader of its client.
    mutating func read(_ member: PastReader.Member, of client: UInt32) {
        var reader = readers[client] ?? PastReader()
        reader.add(member)
        readers[client] = reader
    }

    /// Lets an observer of a client that came back read on behind a number.
    ///
    /// The center knows the losses among the notifications that were written, and none of those
    /// that the reader had not reached.
    ///
    /// - Parameter isOwn: Whether the number was written to no other observer of the client.
    mutating func readAgain(
        _ slot: UInt32, after: UInt64, isOwn: Bool, lost: UInt64, held: [UInt64], join: UInt64,
        _ registry: borrowing ObserverRegistry
    ) {
        let client = registry.observers[slot].client
        var member = PastReader.Member(slot, after: after, nil, join: join, registry)
        member.toldLoss = lost
        if let reader = readers[client], let place = reader.member(at: slot) {
            // The number may be of another observer, written before the reading began.
            let known = reader.place(of: slot) ?? after
            member = reader.members[place]
            // A search that has not ended begins at the present, and nothing of it was written.
            if member.search == nil {
                member.after = member.isRestored && isOwn ? after : min(after, known)
            }
            member.begun = member.after
            member.isRestored = false
        }
        member.held = Set(held)
        read(member, of: client)
    }
}

extension PastReader.Member {
    /// An observer that begins behind a number, or as it asked for.
    init(
        _ slot: UInt32, after: UInt64, _ beginning: PastBeginning?, join: UInt64,
        _ registry: borrowing ObserverRegistry
    ) {
        self.init(
            slot: slot, serial: registry.observers[slot].serial,
            filter: registry.filter(of: slot), after: after, begun: after, join: join)
        switch beginning {
        case nil: break
        case .from(let time): from = time
        case .oldest: isPromised = false
        case .last(let count):
            isPromised = false
            search = PastSearch(count: count, isEach: false, join: join)
        case .lastEach(let count):
            isPromised = false
            search = PastSearch(count: count, isEach: true, join: join)
        }
        if !isPromised { toldLoss = join }
    }

    /// The notifications that a mailbox begins with: the newest as far as its limits go.
    ///
    /// - Returns: The gap in place of the rest, if there is a rest.
    func fill(
        _ found: inout Replay, _ archives: borrowing Archives, _ history: borrowing History,
        _ index: borrowing ObserverIndex, at time: CommandTime
    ) -> GapRecord? {
        var member = self
        var search = member.search ?? PastSearch(count: .max, isEach: false, join: member.join)
        (search.countRoom, search.byteRoom) = (found.countRoom, found.byteRoom)
        // What is not kept is in the ring alone, and counts as well.
        member.takesAll = true
        var pastWork = PastWork(looks: PastWork.ofCommand)
        let isDone = search.goOn(
            for: member, in: archives, history.replay, index, at: time, &pastWork)
        var gap: GapRecord?
        if search.lost != nil || !isDone {
            gap = GapRecord(
                reason: .overflow, count: nil, first: member.after + 1,
                last: search.lost ?? max(member.after + 1, search.start - 1))
        }
        (member.chosen, member.search) = (search.chosen, nil)
        member.after = max(member.after, search.start - 1)
        var reader = PastReader()
        reader.add(member)
        pastWork = PastWork(looks: PastWork.ofCommand)
        // Share: past
        while case .found(let notification, _) = reader.next(
            before: nil, in: archives, history, index, at: time, &pastWork)
        {
            found.add(notification, to: member.slot)
        }
        return gap
    }
}
