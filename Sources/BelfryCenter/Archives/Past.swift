import BelfryBytes

// The past of a center as readers see it: what archives keep, and what the replay ring has.

extension Archives {
    /// A notification of the past.
    struct Candidate {
        let notification: Notification
        let place: ObserverIndex.ContentPlace
        /// Whether an archive has it, and not the ring alone.
        let isInArchive: Bool
    }

    /// The next notification above a number that may be shown; nil at the end, or without work.
    ///
    /// - Parameter time: the present time; nil to get also what is over and not removed yet.
    func next(
        above start: UInt64, _ ring: borrowing ReplayRing, _ index: borrowing ObserverIndex,
        at time: CommandTime?, _ pastWork: inout PastWork
    ) -> Candidate? {
        var row = rows.position(above: start)
        var ringPosition = ring.position(above: start)
        while pastWork.take() {  // Share: past
            let rowPlace =
                row < rows.positions.upperBound ? rows.place(at: row) : nil
            let inRing = ringPosition < ring.positions.upperBound ? ring[ringPosition] : nil
            let rowSequence = rowPlace?.sequence ?? .max
            let ringSequence = inRing?.sequence ?? .max
            if rowPlace == nil, inRing == nil { return nil }
            if rowSequence <= ringSequence { row += 1 }
            if ringSequence <= rowSequence { ringPosition += 1 }
            if let candidate = candidate(
                rowSequence <= ringSequence ? rowPlace : nil,
                ringSequence <= rowSequence ? inRing : nil, index, at: time)
            {
                return candidate
            }
        }
        return nil
    }

    /// The next notification below a number that may be shown; nil at the end, or without work.
    func next(
        below end: UInt64, _ ring: borrowing ReplayRing, _ index: borrowing ObserverIndex,
        at time: CommandTime?, _ pastWork: inout PastWork
    ) -> Candidate? {
        var row = rows.position(above: end - 1)
        var ringPosition = ring.position(above: end - 1)
        while pastWork.take() {  // Share: past
            let rowPlace =
                row > rows.positions.lowerBound ? rows.place(at: row - 1) : nil
            let inRing = ringPosition > ring.positions.lowerBound ? ring[ringPosition - 1] : nil
            let rowSequence = rowPlace?.sequence ?? 0
            let ringSequence = inRing?.sequence ?? 0
            if rowPlace == nil, inRing == nil { return nil }
            if rowSequence >= ringSequence { row -= 1 }
            if ringSequence >= rowSequence { ringPosition -= 1 }
            if let candidate = candidate(
                rowSequence >= ringSequence ? rowPlace : nil,
                ringSequence >= rowSequence ? inRing : nil, index, at: time)
            {
                return candidate
            }
        }
        return nil
    }

    private func candidate(
        _ row: KeptRows.Place?, _ inRing: Notification?, _ index: borrowing ObserverIndex,
        at time: CommandTime?
    ) -> Candidate? {
        if let row, row.slot != Chain.none {
            if let time, !isShown(row.slot, at: time) { return nil }
            let notification = rows[row.slot].notification
            return Candidate(
                notification: notification, place: index.place(of: notification.content),
                isInArchive: true)
        }
        guard let inRing, !inRing.isErased else { return nil }
        if let time {
            guard inRing.expiresAt > time.monotonicNanoseconds,
                !inRing.isKept || isShownByRing(inRing, at: time)
            else { return nil }
        }
        return Candidate(
            notification: inRing, place: index.place(of: inRing.content),
            isInArchive: false)
    }

    /// Whether an observer gets a notification of the past; nil past the limit of work.
    ///
    /// The ring alone has what archives let go, for whoever was promised it, and what is not kept,
    /// for the others: for those with a promise that is held at once.
    func matches(
        _ candidate: Candidate, _ member: PastReader.Member, _ pastWork: inout PastWork
    ) -> Bool? {
        let notification = candidate.notification
        let sequence = notification.sequence
        guard pastWork.take() else { return nil }
        if sequence <= member.after || member.held.contains(sequence) { return false }
        if sequence <= member.join {
            if notification.postedAt < member.from { return false }
            if let chosen = member.chosen, !chosen.contains(sequence) { return false }
        }
        if !candidate.isInArchive {
            let isOwn = member.isPromised || sequence > member.join
            let isWanted =
                isOwn
                ? notification.isKept || member.takesAll : isOfRing(notification)
            if !isWanted { return false }
        }
        return member.filter.matches(
            candidate.place, notification.content, &pastWork.conditions)
    }

    /// Whether a notification is read from the ring by those that were promised nothing.
    ///
    /// They read the archive alone where the channel is kept.
    func isOfRing(_ notification: Notification) -> Bool {
        let content = notification.content
        return !notification.isKept
            && archive(of: content.name, isReserved: content.isReserved) == nil
    }
}
