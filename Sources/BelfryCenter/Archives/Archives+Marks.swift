import BelfryBytes

// Rows that may be shown, and what is lost for whoever begins in the past (rules A6 and A9).

extension Archives {
    /// Whether a row may be shown: neither its `ttl` nor its age is over.
    func isShown(_ row: UInt32, at time: CommandTime) -> Bool {
        let notification = rows[row].notification
        guard notification.expiresAt > time.monotonicNanoseconds else { return false }
        let kind = rows[row].kind
        guard let archive = slots[Int(kinds[kind].key.archive)], !archive.isEnded else {
            return false
        }
        guard let age = archive.terms.age,
            notification.postedAt.adding(age) <= time.wallMilliseconds
        else { return true }
        return isAmongNewest(row, archive.terms.keepLast)
    }

    /// Whether a row is among so many newest of its kind.
    private func isAmongNewest(_ row: UInt32, _ count: Int) -> Bool {
        var (row, left) = (row, count)
        while left > 0 {  // Bound: few
            row = rows[row].ofKind.next
            if row == KeptRows.none { return true }
            left -= 1
        }
        return false
    }

    /// Whether a kept notification that the replay ring still has may be shown.
    ///
    /// Past a count or past the bytes it may; by its age or by removal it may not.
    func isShownByRing(_ notification: Notification, at time: CommandTime) -> Bool {
        guard notification.expiresAt > time.monotonicNanoseconds else { return false }
        let content = notification.content
        guard let slot = archive(of: content.name, isReserved: content.isReserved),
            let age = slots[Int(slot)]?.terms.age
        else { return true }
        return notification.postedAt.adding(age) > time.wallMilliseconds
    }

    /// What a filter has lost: the last number.
    enum Loss {
        /// Some of its channels are not kept: what the ring has forgotten is lost, too.
        case partlyKept(UInt64)
        /// All of its channels are kept.
        case kept(UInt64)
    }

    /// What readers can still get of the replay ring, and the time from which they want it.
    struct RingView {
        let ring: ReplayRing
        let wall: Int64
        let from: Int64

        /// The last number of losses that the ring does not make good.
        ///
        /// Of what an archive has kept it shows nothing that is past its age.
        func last(of marks: LossMarks, _ age: Int64?) -> UInt64 {
            let aged = age.flatMap {
                ring.last(postedBefore: wall.subtracting($0).adding(1))
            }
            return marks.last(
                ringForgot: max(ring.forgottenThrough, aged ?? 0), from: from)
        }

        /// The last number of what was there before an archive began.
        func last(of began: LossMark) -> UInt64 {
            began.postedAt >= from ? min(began.sequence, ring.forgottenThrough) : 0
        }
    }

    /// The most kinds that are gone through for one filter.
    private static let kindLookLimit = 10_000

    /// The losses of a channel, or of a channel and an object.
    ///
    /// - Parameter last: the last notification of the channel.
    func loss(
        of name: [UInt8], object: [UInt8]?, last: LossMark, _ view: borrowing RingView
    ) -> Loss {
        var marks = LossMarks()
        var before = LossMark()
        var isKnown = false
        let current = archive(of: name.span, isReserved: name.span.begins(with: Self.reserved.span))
        let isAnew = current.map { slots[Int($0)]?.isAnew == true } ?? false
        for slot in covering(name) {  // Bound: archives
            guard let archive = slots[Int(slot)], !archive.isEnded else { continue }
            marks.raise(to: archive.forgotten)
            let channel = ArchivedKindKey(
                archive: slot, name: name, object: nil, isOfObject: false)
            guard let found = kinds.number(channel) else { continue }
            if slot == current || !isAnew { isKnown = true }
            before.raise(to: kinds[found].began)
            guard archive.terms.each == .object, let object else {
                marks.raise(to: kinds[found].marks)
                continue
            }
            let own = ArchivedKindKey(archive: slot, name: name, object: object, isOfObject: true)
            if let kind = kinds.number(own) { marks.raise(to: kinds[kind].marks) }
        }
        guard let current else { return .partlyKept(view.last(of: marks, nil)) }
        if !isKnown { before.raise(to: last) }
        return .kept(
            max(view.last(of: marks, slots[Int(current)]?.terms.age), view.last(of: before)))
    }

    /// The losses of all channels, or of those that begin with a prefix.
    ///
    /// Past a number of kinds those of whole archives count, which may be more.
    func loss(ofPrefix prefix: [UInt8]?, _ view: borrowing RingView) -> Loss {
        var through: UInt64 = 0
        var isKept = false
        for slot in slots.indices {  // Bound: archives
            guard let archive = slots[slot], !archive.isEnded else { continue }
            let text = archive.name.text
            if archive.name.isPrefix, let prefix, prefix.starts(with: text) { isKept = true }
            let isInside = prefix.map { text.starts(with: $0) } ?? true
            let isAround = archive.name.isPrefix && prefix.map { $0.starts(with: text) } ?? true
            guard isInside || isAround else { continue }
            through = max(through, view.last(of: archive.forgotten, archive.terms.age))
            guard isInside || kinds.count > Self.kindLookLimit else { continue }
            through = max(
                through, view.last(of: archive.marks, archive.terms.age),
                view.last(of: archive.began))
        }
        if let prefix, kinds.count <= Self.kindLookLimit {
            kinds.forEach { _, kind in
                guard kind.key.name.starts(with: prefix) else { return }
                let age = slots[Int(kind.key.archive)]?.terms.age
                through = max(through, view.last(of: kind.marks, age), view.last(of: kind.began))
            }
        }
        return isKept ? .kept(through) : .partlyKept(through)
    }

    private static let reserved = Array("belfry.".utf8)
}

extension LossMark {
    init(_ notification: Notification) {
        self.init(sequence: notification.sequence, postedAt: notification.postedAt)
    }
}
