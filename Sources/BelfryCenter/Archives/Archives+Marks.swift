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
        // What was removed with its archive is gone, too (rule A16).
        guard let slot = self.archive(of: content.name, isReserved: content.isReserved) else {
            return false
        }
        let archive = slots[Int(slot)]
        let isOfObject = archive.terms.each == .object
        let key = ArchivedKindKey(content, in: slot, isOfObject: isOfObject)
        if let kind = kinds.number(key), kinds[kind].marks.ended.sequence >= notification.sequence {
            return false
        }
        guard let age = archive.terms.age else { return true }
        return notification.postedAt.adding(age) > time.wallMilliseconds
    }

    /// The losses of a filter.
    enum Loss {
        /// Some of its channels are not kept: what the ring has forgotten is lost, too.
        case partlyKept(LossMarks)
        /// All of its channels are kept.
        case kept(LossMarks)
    }

    /// The most kinds that are gone through for one filter.
    private static let kindLookLimit = 10_000

    /// The losses of a channel, or of a channel and an object.
    ///
    /// - Parameter last: the last notification of the channel.
    func loss(of name: [UInt8], object: [UInt8]?, last: LossMark) -> Loss {
        var marks = LossMarks()
        var isKnown = false
        for slot in covering(name) {  // Bound: archives
            let archive = slots[Int(slot)]
            marks.raise(to: archive.forgotten)
            let channel = ArchivedKindKey(
                archive: slot, name: name, object: nil, isOfObject: false)
            guard let found = kinds.number(channel) else { continue }
            isKnown = true
            guard archive.terms.each == .object, let object else {
                marks.raise(to: kinds[found].marks)
                continue
            }
            let own = ArchivedKindKey(archive: slot, name: name, object: object, isOfObject: true)
            marks.passed.raise(to: kinds[found].began)
            if let kind = kinds.number(own) { marks.raise(to: kinds[kind].marks) }
        }
        guard keep(name) else { return .partlyKept(marks) }
        if !isKnown { marks.passed.raise(to: last) }
        return .kept(marks)
    }

    /// The losses of all channels, or of those that begin with a prefix.
    ///
    /// Past a number of kinds those of whole archives count, which may be more.
    func loss(ofPrefix prefix: [UInt8]?) -> Loss {
        var marks = LossMarks()
        var isKept = false
        for archive in slots where !archive.isEnded {  // Bound: archives
            let text = archive.name.text
            if archive.name.isPrefix, let prefix, prefix.starts(with: text) { isKept = true }
            let isInside = prefix.map { text.starts(with: $0) } ?? true
            let isAround = archive.name.isPrefix && prefix.map { $0.starts(with: text) } ?? true
            guard isInside || isAround else { continue }
            marks.raise(to: archive.forgotten)
            if isInside || kinds.count > Self.kindLookLimit { marks.raise(to: archive.marks) }
        }
        if let prefix, kinds.count <= Self.kindLookLimit {
            kinds.forEach { _, kind in
                if kind.key.name.starts(with: prefix) { marks.raise(to: kind.marks) }
            }
        }
        return isKept ? .kept(marks) : .partlyKept(marks)
    }

    static let reserved = Array("belfry.".utf8)

    /// The last number that an observer can no longer be given.
    ///
    /// - Parameter time: the time at which it begins, where it has no number.
    func lostThrough(
        at slot: UInt32, from time: Int64 = .min, _ registry: borrowing ObserverRegistry,
        _ history: borrowing History
    ) -> UInt64 {
        let ringIsLate = history.replay.forgottenAt >= time
        guard isUsed else {
            return ringIsLate
                ? history.forgottenThrough(of: registry.observedName(at: slot)) : 0
        }
        let names = registry.observedNames(at: slot)
        if registry.isUnderCondition(slot) {
            // It may not know of what an archive let go; the ring forgets everything alike.
            let isKept = names != nil && (names ?? []).allSatisfy { keep($0) }
            return isKept || !ringIsLate ? 0 : history.forgottenThrough(of: nil)
        }
        return lostThrough(
            names, registry.observers.filter(at: slot)?.namePrefix,
            object: registry.index.object(of: registry.observers[slot].place),
            ringForgot: history.replay.forgottenThrough, from: time, registry, history)
    }

    /// The last number that a page of the past can no longer show; archives alone have what is kept.
    func lostThrough(
        _ query: PastQuery, _ registry: borrowing ObserverRegistry, _ history: borrowing History
    ) -> UInt64 {
        lostThrough(
            query.name.map { [$0] }, query.terms?.namePrefix, object: query.object,
            ringForgot: .max, from: query.from, registry, history)
    }

    private func lostThrough(
        _ names: [[UInt8]]?, _ prefix: [UInt8]?, object: [UInt8]?, ringForgot: UInt64,
        from time: Int64, _ registry: borrowing ObserverRegistry, _ history: borrowing History
    ) -> UInt64 {
        func last(_ loss: Loss, _ name: [UInt8]?, _ history: borrowing History) -> UInt64 {
            switch loss {
            case .kept(let marks): marks.last(ringForgot: ringForgot, from: time)
            case .partlyKept(let marks):
                max(
                    marks.last(ringForgot: ringForgot, from: time),
                    history.replay.forgottenAt >= time ? history.forgottenThrough(of: name) : 0)
            }
        }
        guard let names else { return last(loss(ofPrefix: prefix), nil, history) }
        var lost: UInt64 = 0
        for name in names {  // Bound: terms
            let post = registry.index.channels.lastPost(of: name, history)
            lost = max(lost, last(loss(of: name, object: object, last: post), name, history))
        }
        return lost
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
