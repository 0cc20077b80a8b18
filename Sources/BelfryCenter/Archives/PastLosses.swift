/// The losses of whoever begins in the past (rule A9), as archives and the replay ring know them.
enum PastLosses {
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
    private static func loss(
        of name: [UInt8], object: [UInt8]?, last: LossMark, _ view: RingView,
        _ archives: borrowing Archives
    ) -> Loss {
        var marks = LossMarks()
        var before = LossMark()
        var isKnown = false
        let current = archives.archive(
            of: name.span, isReserved: name.starts(with: Archives.reserved))
        let isAnew = current.map { archives.slots[Int($0)].isAnew } ?? false
        // No archive of a shorter name has had the channel since one of a longer name was made.
        var origin = UInt64.max
        for slot in archives.covering(name) {  // Bound: archives
            let archive = archives.slots[Int(slot)]
            if archive.origin <= origin {
                let lost = slot == current ? archive.forgotten : archive.lostWhole
                marks.raise(to: lost.before(origin))
                origin = archive.origin
            }
            let channel = ArchivedKindKey(channel: name, in: slot)
            guard let found = archives.kinds.number(channel) else { continue }
            if slot == current || !isAnew { isKnown = true }
            before.raise(to: archives.kinds[found].began)
            guard archive.terms.each == .object, let object else {
                marks.raise(to: archives.kinds[found].marks)
                continue
            }
            let own = ArchivedKindKey(archive: slot, name: name, object: object, isOfObject: true)
            if let kind = archives.kinds.number(own) { marks.raise(to: archives.kinds[kind].marks) }
        }
        guard let current else { return .partlyKept(view.last(of: marks, nil)) }
        if !isKnown { before.raise(to: last) }
        let age = archives.slots[Int(current)].terms.age
        return .kept(max(view.last(of: marks, age), view.last(of: before)))
    }

    /// The losses of all channels, or of those that begin with a prefix.
    ///
    /// Past a number of kinds those of whole archives count, which may be more.
    private static func loss(
        ofPrefix prefix: [UInt8]?, _ view: RingView, _ archives: borrowing Archives,
        _ channels: borrowing ChannelTable, _ history: borrowing History
    ) -> Loss {
        var through: UInt64 = 0
        let isKept = archives.slots.keepAll(beginningWith: prefix ?? [])
        let (areFew, hasAges) = (archives.kinds.count <= Self.kindLookLimit, archives.hasAges)
        /// Counts the losses of a kind, by the age of the archive that keeps its channel now.
        func look(_ number: UInt32) {
            let kind = archives.kinds[number]
            let name = kind.key.name
            guard name.starts(with: prefix ?? []) else { return }
            let keeper =
                hasAges
                ? archives.archive(
                    of: name.span, isReserved: name.starts(with: Archives.reserved)) : nil
            let age = keeper.flatMap { archives.slots[Int($0)].terms.age }
            through = max(through, view.last(of: kind.marks, age), view.last(of: kind.began))
        }
        for slot in archives.slots.indices where !archives.slots[slot].isEnded {  // Bound: archives
            let archive = archives.slots[slot]
            let text = archive.name.text
            let isInside = prefix.map { text.starts(with: $0) } ?? true
            let isAround = archive.name.isPrefix && prefix.map { $0.starts(with: text) } ?? true
            guard isInside || isAround else { continue }
            // The ring hides what is past the age of the archive that keeps the channel now.
            let age = archive.leastAge
            through = max(through, view.last(of: archive.forgotten, age))
            let isAll = isInside || !areFew
            // What an earlier life knew of channels is in the archive alone.
            if isAll || archive.since <= history.restoredThrough {
                through = max(through, view.last(of: archive.began))
            }
            guard isAll else { continue }
            if age == archive.terms.age || !areFew {
                through = max(through, view.last(of: archive.marks, age))
            } else {
                archives.kinds.forEach(of: UInt32(slot), look)
            }
        }
        if let prefix, areFew {
            // Channels that no archive has seen were posted to before one began.
            let unseen = channels.lastPost(beginningWith: prefix) { name in
                !archives.kinds.know(name, in: archives.covering(name))
            }
            through = max(through, view.last(of: unseen))
            archives.kinds.forEach(look)
        }
        return isKept ? .kept(through) : .partlyKept(through)
    }

    /// The last number that an observer can no longer be given.
    ///
    /// - Parameters:
    ///   - time: the time at which it begins, where it has no number.
    ///   - wall: the present time, in milliseconds since 1970.
    static func lostThrough(
        at slot: UInt32, from time: Int64 = .min, wall: Int64, _ archives: borrowing Archives,
        _ registry: borrowing ObserverRegistry, _ history: borrowing History
    ) -> UInt64 {
        let ringIsLate = history.replay.forgottenAt >= time
        guard archives.knowsLosses else {
            return ringIsLate
                ? history.forgottenThrough(of: registry.observedName(at: slot)) : 0
        }
        let names = registry.observedNames(at: slot)
        if registry.isUnderCondition(slot) {
            // It may not know of what an archive let go; the ring forgets everything alike.
            let prefix = registry.observers.filter(at: slot)?.namePrefix ?? []
            let isKept =
                names.map { $0.allSatisfy { archives.keep($0) } }
                ?? archives.slots.keepAll(beginningWith: prefix)
            return isKept || !ringIsLate ? 0 : history.forgottenThrough(of: nil)
        }
        let ring = history.replay
        let view = RingView(
            forgotten: ring.forgottenThrough,
            aged: { ring.last(postedBefore: wall.subtracting($0).adding(1)) ?? 0 }, from: time)
        return lostThrough(
            names, registry.observers.filter(at: slot)?.namePrefix,
            object: registry.index.object(of: registry.observers[slot].place), view, archives,
            registry, history)
    }

    /// The last number that a page of the past can no longer show.
    ///
    /// Archives alone have what is kept.
    static func lostThrough(
        _ query: PastQuery, _ archives: borrowing Archives,
        _ registry: borrowing ObserverRegistry, _ history: borrowing History
    ) -> UInt64 {
        lostThrough(
            query.name.map { [$0] }, query.terms?.namePrefix, object: query.object,
            RingView(forgotten: .max, aged: { _ in .max }, from: query.from), archives, registry,
            history)
    }

    private static func lostThrough(
        _ names: [[UInt8]]?, _ prefix: [UInt8]?, object: [UInt8]?, _ view: RingView,
        _ archives: borrowing Archives, _ registry: borrowing ObserverRegistry,
        _ history: borrowing History
    ) -> UInt64 {
        let orphaned = archives.orphaned
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
        guard let names else {
            let loss = loss(ofPrefix: prefix, view, archives, registry.index.channels, history)
            return last(loss, nil, history)
        }
        var lost: UInt64 = 0
        for name in names {  // Bound: terms
            let post = registry.index.channels.lastPost(of: name, history)
            let loss = loss(of: name, object: object, last: post, view, archives)
            let through = last(loss, name, history)
            // Nothing behind the last post of a channel is lost; the broker's are not counted.
            let isCounted = !name.starts(with: Archives.reserved)
            lost = max(lost, isCounted ? min(through, post.sequence) : through)
        }
        return lost
    }

    /// The last notification of the channels of an archive to come that no other archive has.
    static func lastUnkept(
        _ name: ArchiveName, _ archives: borrowing Archives,
        _ channels: borrowing ChannelTable, _ history: borrowing History
    ) -> LossMark {
        guard name.isPrefix else {
            return archives.keep(name.text)
                ? LossMark() : channels.lastPost(of: name.text, history)
        }
        if archives.slots.keepAll(beginningWith: name.text) { return LossMark() }
        var last = channels.lastPost(beginningWith: name.text) { channel in
            archives.archive(of: channel.span, isReserved: false) == nil
        }
        last.raise(
            to: LossMark(sequence: history.restoredThrough, postedAt: history.restoredAt))
        return last
    }
}
