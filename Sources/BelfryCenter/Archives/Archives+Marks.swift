import BelfryBytes

// Rows that may be shown, and what is lost for whoever begins in the past (rules A6 and A9).

extension Archives {
    /// Whether a row may be shown: neither its `ttl` nor its age is over.
    func isShown(_ row: UInt32, at time: CommandTime) -> Bool {
        let notification = rows[row].notification
        guard notification.expiresAt > time.monotonicNanoseconds else { return false }
        let kind = rows[row].kind
        let archive = slots[Int(kinds[kind].key.archive)]
        if archive.isEnded { return false }
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
            let age = slots[Int(slot)].terms.age
        else { return true }
        return notification.postedAt.adding(age) > time.wallMilliseconds
    }

    /// The last number that a filter has lost.
    enum Loss {
        /// Some of its channels are not kept: what the ring has forgotten is lost, too.
        case partlyKept(UInt64)
        /// All of its channels are kept.
        case kept(UInt64)
    }

    /// The part of the replay ring that readers can still get, from a time on.
    struct RingView {
        /// The number up to which the ring makes nothing good.
        let forgotten: UInt64
        /// For an age, the last number that the ring has and does not show.
        let aged: (Int64) -> UInt64
        let from: Int64

        /// The last number of losses that the ring does not make good.
        func last(of marks: LossMarks, _ age: Int64?) -> UInt64 {
            marks.last(ringForgot: max(forgotten, age.map(aged) ?? 0), from: from)
        }

        /// The last number of what was there before an archive began.
        func last(of began: LossMark) -> UInt64 {
            began.postedAt >= from ? min(began.sequence, forgotten) : 0
        }
    }

    /// The most kinds that are gone through for one filter.
    private static let kindLookLimit = 10_000

    /// The losses of a channel, or of a channel and an object.
    ///
    /// - Parameter last: the last notification of the channel.
    func loss(
        of name: [UInt8], object: [UInt8]?, last: LossMark, _ view: RingView
    ) -> Loss {
        var marks = LossMarks()
        var before = LossMark()
        var isKnown = false
        let current = archive(of: name.span, isReserved: name.starts(with: Self.reserved))
        let isAnew = current.map { slots[Int($0)].isAnew } ?? false
        for slot in covering(name) {  // Bound: archives
            let archive = slots[Int(slot)]
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
            max(view.last(of: marks, slots[Int(current)].terms.age), view.last(of: before)))
    }

    /// The losses of all channels, or of those that begin with a prefix.
    ///
    /// Past a number of kinds those of whole archives count, which may be more.
    func loss(ofPrefix prefix: [UInt8]?, _ view: RingView) -> Loss {
        var through: UInt64 = 0
        var isKept = false
        for archive in slots where !archive.isEnded {  // Bound: archives
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
                let age = slots[Int(kind.key.archive)].terms.age
                through = max(through, view.last(of: kind.marks, age), view.last(of: kind.began))
            }
        }
        return isKept ? .kept(through) : .partlyKept(through)
    }

    static let reserved = Array("belfry.".utf8)

    /// The last number that an observer can no longer be given.
    ///
    /// - Parameters:
    ///   - time: the time at which it begins, where it has no number.
    ///   - wall: the present time, in milliseconds since 1970.
    func lostThrough(
        at slot: UInt32, from time: Int64 = .min, wall: Int64,
        _ registry: borrowing ObserverRegistry, _ history: borrowing History
    ) -> UInt64 {
        let ringIsLate = history.replay.forgottenAt >= time
        guard knowsLosses else {
            return ringIsLate
                ? history.forgottenThrough(of: registry.observedName(at: slot)) : 0
        }
        let names = registry.observedNames(at: slot)
        if registry.isUnderCondition(slot) {
            // It may not know of what an archive let go; the ring forgets everything alike.
            let isKept = names != nil && (names ?? []).allSatisfy { keep($0) }
            return isKept || !ringIsLate ? 0 : history.forgottenThrough(of: nil)
        }
        let ring = history.replay
        let view = RingView(
            forgotten: ring.forgottenThrough,
            aged: { ring.last(postedBefore: wall.subtracting($0).adding(1)) ?? 0 }, from: time)
        return lostThrough(
            names, registry.observers.filter(at: slot)?.namePrefix,
            object: registry.index.object(of: registry.observers[slot].place), view,
            registry, history)
    }

    /// The last number that a page of the past can no longer show.
    ///
    /// Archives alone have what is kept.
    func lostThrough(
        _ query: PastQuery, _ registry: borrowing ObserverRegistry, _ history: borrowing History
    ) -> UInt64 {
        lostThrough(
            query.name.map { [$0] }, query.terms?.namePrefix, object: query.object,
            RingView(forgotten: .max, aged: { _ in .max }, from: query.from), registry, history)
    }

    private func lostThrough(
        _ names: [[UInt8]]?, _ prefix: [UInt8]?, object: [UInt8]?, _ view: RingView,
        _ registry: borrowing ObserverRegistry, _ history: borrowing History
    ) -> UInt64 {
        func last(_ loss: Loss, _ name: [UInt8]?, _ history: borrowing History) -> UInt64 {
            switch loss {
            case .kept(let last): last
            case .partlyKept(let last):
                max(
                    last,
                    history.replay.forgottenAt >= view.from
                        ? history.forgottenThrough(of: name) : 0,
                    orphaned.postedAt >= view.from ? orphaned.sequence : 0)
            }
        }
        guard let names else { return last(loss(ofPrefix: prefix, view), nil, history) }
        var lost: UInt64 = 0
        for name in names {  // Bound: terms
            let post = registry.index.channels.lastPost(of: name, history)
            lost = max(
                lost, last(loss(of: name, object: object, last: post, view), name, history))
        }
        return lost
    }

    /// The last notification of the channels of an archive to come that no other archive has.
    func lastUnkept(
        _ name: ArchiveName, _ channels: borrowing ChannelTable, _ history: borrowing History
    ) -> LossMark {
        guard archive(of: name.text.span, isReserved: false) == nil else { return LossMark() }
        guard name.isPrefix else { return channels.lastPost(of: name.text, history) }
        var last = channels.lastPost(beginningWith: name.text) { channel in
            archive(of: channel.span, isReserved: false) == nil
        }
        last.raise(
            to: LossMark(sequence: history.restoredThrough, postedAt: history.restoredAt))
        return last
    }
}

extension ChannelTable {
    /// The last notification of a channel, as far as it is known, or may have been.
    func lastPost(of name: [UInt8], _ history: borrowing History) -> LossMark {
        if let mark = lastPost(of: name.span) { return mark }
        let earlier = history.lastDispatchedEarlier(of: name)
        guard earlier > forgotten.sequence else { return forgotten }
        return LossMark(sequence: earlier, postedAt: history.restoredAt)
    }
}

extension LossMark {
    init(_ notification: Notification) {
        self.init(sequence: notification.sequence, postedAt: notification.postedAt)
    }
}
