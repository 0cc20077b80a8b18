// At the end each notification that an observer was to get has one fate. Gaps report losses as a
// count between two numbers: they must have room for all losses, and be filled by them.

extension ObserverAccount {
    /// Checks that nothing is missing in silence and that nothing is told as lost that was not.
    func settle(life: Int, isLive: Bool) throws(HistoryFault) {
        if isLive {
            try checkNothingIsMissing()
            try checkReplays(life: life)
        }
        try checkTold(nil)
        for reason in [HistoryGap.Reason.dropped, .coalesced, .expired] { try checkTold(reason) }
    }

    /// Room for losses between two numbers.
    private struct Room {
        let first: UInt64
        let last: UInt64
        var left: Int
    }

    /// Fills rooms with numbers, both ascending; each goes where the room ends first.
    ///
    /// - Returns: the first number without room, and the first room that is not full.
    private static func fill(_ rooms: [Room], with sequences: [UInt64]) -> (UInt64?, Room?) {
        let sorted = rooms.sorted { $0.first < $1.first }
        var next = sorted.startIndex
        var open: [Room] = []
        var homeless: UInt64?
        var unfilled: Room?
        for sequence in sequences {
            while next < sorted.endIndex, sorted[next].first <= sequence {
                open.append(sorted[next])
                next += 1
            }
            open.removeAll { room in
                if room.last < sequence, room.left > 0 { unfilled = unfilled ?? room }
                return room.last < sequence || room.left == 0
            }
            guard let best = open.indices.min(by: { open[$0].last < open[$1].last }) else {
                homeless = homeless ?? sequence
                continue
            }
            open[best].left -= 1
        }
        return (homeless, unfilled ?? (open + sorted[next...]).first { $0.left > 0 })
    }

    /// Law 3: what was not written was told, or is held.
    private func checkNothingIsMissing() throws(HistoryFault) {
        // Deliveries from the ring at the registration are not repeated by `resume`.
        let start = replayedAbove.isEmpty ? 0 : observer.since
        let missing = dues.filter {
            !$0.isOptional && $0.writeCount == 0 && !isClaimed($0)
                && $0.note.sequence > max(acknowledgedThrough, start)
        }
        var rooms = told.map { told in
            Room(first: told.gap.first, last: told.gap.last, left: told.gap.lost ?? .max / 2)
        }
        if heldCount > 0, !isMailbox { rooms.append(Room(first: 0, last: .max, left: heldCount)) }
        if let lost = Self.fill(rooms, with: missing.map(\.note.sequence)).0 {
            throw HistoryFault(
                "law 3: \(observer.shown) never got \(lost), no gap tells it, and it is not held")
        }
    }

    /// Whether something with this number, or a higher one, has come to it.
    func hasCome(from sequence: UInt64) -> Bool {
        lastSequence >= sequence
            || dues.contains { $0.writeCount > 0 && $0.note.sequence >= sequence }
    }

    /// Whether its client says that it has what it never got, of a life that a crash has ended: no
    /// store has what was dropped then, and the broker believes its client.
    private func isClaimed(_ due: Due) -> Bool {
        guard observer.behavior == .drop else { return false }
        return replays.contains { replay in
            replay.after >= due.note.sequence
                && replay.claimedIn.map { due.note.life < $0 } ?? false
        }
    }

    /// A replay gives all that is above its number again, or tells that it is gone.
    func checkReplays(life: Int) throws(HistoryFault) {
        guard heldCount == 0, !replays.isEmpty else { return }
        // The latest replay that covers a number is the one that counts.
        var open: [Replay] = []
        for replay in replays {
            while let last = open.last, last.after >= replay.after { open.removeLast() }
            open.append(replay)
        }
        var gaps = told
        gaps.sort { $0.moment < $1.moment }
        for due in dues where due.writeCount > 0 && !due.isOptional {
            let sequence = due.note.sequence
            if sequence <= observer.since { continue }
            guard let replay = open.last(where: { $0.after < sequence }),
                due.lastWritten < replay.moment
            else { continue }
            // Expired notifications are not delivered any more.
            if let end = due.note.expiresAt, due.note.life < life || end <= replay.time { continue }
            // Unacknowledged notifications are held, and so are those that a crash has put back:
            // they are not reported as unknown, and their loss only once.
            if due.isAcknowledged { continue }
            let isHeld = observer.acknowledges || due.wasPutBack
            let toldSince = isHeld ? due.lastWritten : replay.moment
            let isTold = gaps.contains {
                $0.moment > toldSince && $0.gap.first <= sequence && sequence <= $0.gap.last
            }
            guard isTold else {
                throw HistoryFault(
                    """
                    law 3: the client of \(observer.shown) resumed after \(replay.after), and \
                    \(sequence) neither came again nor was told
                    """)
            }
        }
    }

    /// Checks that each reported loss was a loss, for a possible reason.
    private func checkTold(_ reason: HistoryGap.Reason?) throws(HistoryFault) {
        var rooms: [Room] = []
        for told in told
        where !told.isOptional && (reason == nil || told.gap.reason == reason) {
            guard let lost = told.gap.lost else { continue }
            rooms.append(Room(first: told.gap.first, last: told.gap.last, left: lost))
        }
        if rooms.isEmpty { return }
        var later: Set<HistoryKind> = []
        var lost: [UInt64] = []
        for due in dues.reversed() {
            let isLast = later.insert(due.note.content.kind).inserted
            // All observers but the first get theirs of the number itself again.
            let replayCount = replayedAbove.count { $0 <= due.note.sequence }
            // An unacknowledged delivery is held again, and may be lost then.
            guard
                due.writeCount == 0 || due.cameMarked || replayCount > 0 || observer.acknowledges
            else { continue }
            switch reason {
            case .dropped:
                guard observer.behavior == .drop, due.note.isImmediate != true else { continue }
            case .coalesced:
                guard observer.behavior == .coalesce || observer.isPaced, !isLast else { continue }
            case .expired:
                guard due.note.expiresAt != nil else { continue }
            case .overflow, .unknown, nil: break
            }
            // A repeated delivery may have been lost again.
            for _ in 0...replayCount { lost.append(due.note.sequence) }
        }
        if let room = Self.fill(rooms, with: lost.reversed()).1 {
            throw HistoryFault(
                """
                law 3: \(observer.shown) is told \(reason.map { "\($0)" } ?? "losses") from \
                \(room.first) to \(room.last), and \(room.left) of them were not lost so
                """)
        }
    }
}
