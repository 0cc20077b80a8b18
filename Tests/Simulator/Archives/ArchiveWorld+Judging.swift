import BelfryCenter
import TestSupport

// The laws, judged from outside.
extension ArchiveWorld {
    // MARK: Pages

    /// A page has what bounds and times have left, and nothing else (rules A3, A4, A6 and A16).
    func judgePages() throws(Violation) {
        let query = { () -> PastQuery in
            var query = PastQuery()
            query.limit = 1_000
            return query
        }()
        var page = PastPage(of: query)
        for _ in 0..<100 where !page.isDone {
            center.read(&page, of: query, at: time) { _ in true }
        }
        let found = page.notifications.map(\.sequence)
        if let changedArchive {
            if let fault = truth.adopt(found, after: changedArchive, at: now, wall: wall) {
                throw Violation("rule A3: \(fault)")
            }
        }
        let wanted = truth.past(at: now, wall: wall).map(\.sequence)
        guard found == wanted else {
            throw Violation("rules A3 to A6: a page has \(found), expected \(wanted)")
        }
    }

    // MARK: Frames

    /// A frame is written: it is wanted, new to its connection, in order, and not forgotten.
    func judge(
        _ delivery: Delivery, _ notification: Notification, _ forgotten: Set<UInt64>
    ) throws(Violation) {
        let sequence = notification.sequence
        guard var watcher = watchers[delivery.observer] else {
            throw Violation("o\(delivery.observer) is not there, and gets #\(sequence)")
        }
        guard !watcher.isMailbox else { return }
        let what = "o\(watcher.serial) gets #\(sequence)"
        guard ends[watcher.client]?.connection == delivery.connection.number else {
            throw Violation("\(what) on another connection")
        }
        guard let post = truth.posts.last(where: { $0.sequence == sequence }) else {
            throw Violation("\(what), which is unknown")
        }
        guard watcher.filter.matches(post) else { throw Violation("rule W9: \(what) in vain") }
        guard !forgotten.contains(sequence) else {
            throw Violation("rule A16: \(what), which is forgotten")
        }
        guard sequence > watcher.last, watcher.written.insert(sequence).inserted else {
            throw Violation("rule A7: \(what) behind #\(watcher.last)")
        }
        watcher.last = sequence
        if watcher.came.contains(sequence), !watcher.mayRepeat {
            throw Violation("rule A7: \(what) twice")
        }
        if !delivery.isRedelivered {
            guard sequence > watcher.join, !watcher.came.contains(sequence) else {
                throw Violation("rule A7: \(what) without a mark")
            }
            guard sequence >= ends[watcher.client]?.lastPlain ?? 0 else {
                throw Violation("law 2: \(what) too late")
            }
            ends[watcher.client]?.lastPlain = sequence
        }
        watchers[watcher.serial] = watcher
        guard post.isVague || post.ends > now else {
            throw Violation("rule A6: \(what) after its ttl")
        }
        guard sequence <= watcher.join, !watcher.hasResumed else { return }
        try judgePast(post, watcher, what)
    }

    private func judgePast(
        _ post: ArchiveTruth.Post, _ watcher: ArchiveWatcher, _ what: String
    ) throws(Violation) {
        count("notifications of the past")
        // Where an archive went since, the ring shows others of its channels.
        let isChosen =
            watcher.wants(post) || watcher.choice.contains(post.sequence)
            || truth.past(at: now, wall: wall).contains { $0.sequence == post.sequence }
        if !isChosen, !watcher.mayRepeat {
            throw Violation("rules A11 and A12: \(what), and began elsewhere")
        }
        guard post.isKept else { return }
        let isThere = truth.promised(at: now, wall: wall).contains { $0.sequence == post.sequence }
        guard isThere || post.sequence > watcher.join else {
            throw Violation("rule A6: \(what), which is gone")
        }
    }

    // MARK: Gaps

    /// A gap is told: something of the kind was lost, and the ring does not have it (rule A9).
    func judge(_ gap: Gap) throws(Violation) {
        let (first, last) = (gap.firstSequence, gap.lastSequence)
        tell("    o\(gap.observer) gap \(gap.reason) \(first)...\(last)")
        guard let watcher = watchers[gap.observer] else { return }
        watchers[gap.observer]?.gaps.append(gap)
        guard gap.reason == .unknown else { return }
        count("gaps unknown")
        let isRemoval = truth.forgotten.contains { first...last ~= $0 }
        if watcher.chosen != nil, !watcher.mayRepeat, last <= watcher.join, !isRemoval {
            throw Violation("rule A11: o\(watcher.serial) is told of \(first)...\(last)")
        }
        let lost = lostNumbers(for: watcher).filter { $0 >= first }
        // Who came back is told up to what was written to it, as far as a loss lies behind that. Of
        // a prefix it is unknown which channels earlier lives had.
        let isBehind =
            watcher.hasResumed || watcher.ringLoss >= first || lost.contains { $0 <= last }
            || watcher.filter.names.isEmpty && last <= truth.lifeEnd
        guard let newest = lost.last, isBehind, last <= max(newest, newestLoss(for: watcher)) else {
            throw Violation(
                """
                rule A9: o\(watcher.serial) is told of \(first)...\(last), \
                and \(lost.suffix(5)) are lost; \
                names \(watcher.filter.names.map(\.shown)), ring \(truth.ringForgot), \
                life \(truth.lifeEnd), unknown \(truth.unknownThrough.values.sorted())
                """)
        }
    }

    /// The numbers that an observer may lack, the ring and the life before among them.
    private func lostNumbers(for watcher: ArchiveWatcher) -> [UInt64] {
        var lost = lossesNotShown(for: watcher)
        let filter = watcher.filter
        let names = Self.names.filter { filter.covers($0) }
        lost.append(watcher.ringLoss)
        // Those that were removed where no archive had the channel have one number together.
        let last = truth.posts.last { names.contains($0.name) }?.sequence ?? 0
        lost += truth.orphans
        if isPartlyKept(filter) { lost.append(truth.ringForgot) }
        if filter.names.isEmpty { lost += truth.archives.compactMap(\.anewAbove) }
        // An archive with other kinds than before has forgotten the others whole.
        var own = truth.losses.values.filter { filter.touches($0) }
        for archive in truth.archives where archive.wasChanged {
            let channels = names.filter { archive.covers($0) }
            guard !channels.isEmpty else { continue }
            // An heir does not know when its channels were first kept: a shorter prefix that began
            // anew may have had them.
            lost += truth.archives.filter { other in channels.contains { other.covers($0) } }
                .compactMap(\.anewAbove)
            let whole = truth.losses.values.filter { archive.covers($0.post.name) }
            lost += whole.map(\.post.sequence)
            own += whole
        }
        // Where the ring has some of a kind, all before may have been forgotten.
        if own.contains(where: { $0.post.sequence > truth.ringForgot }) {
            lost.append(truth.ringForgot)
            lost += truth.agedInRing(of: names, at: wall)
        }
        let isExact = !filter.names.isEmpty
        lost += (isExact ? names : Self.names).compactMap { truth.unknownThrough[$0] }
        if watcher.drops { lost += truth.lifeEnds }
        // Behind the last post of its channels nothing is told.
        return (lost + lost.map { min($0, last) }).sorted()
    }

    /// Whether what the ring forgets is lost for an observer, whatever it is.
    func isPartlyKept(_ filter: ArchiveWatcher.Filter) -> Bool {
        filter.names.isEmpty
            || Self.names.contains { filter.covers($0) && truth.archive(of: $0) == nil }
    }

    private func newestLoss(for watcher: ArchiveWatcher) -> UInt64 {
        truth.losses.values.filter { watcher.filter.touches($0) }.map(\.post.sequence).max() ?? 0
    }

    /// The losses of the kinds of an observer that the ring does not have either.
    private func lossesNotShown(for watcher: ArchiveWatcher) -> [UInt64] {
        let shown = Set(truth.promised(at: now, wall: wall).map(\.sequence))
        return truth.losses.values.filter {
            watcher.filter.touches($0) && !shown.contains($0.post.sequence)
        }.map(\.post.sequence)
    }

    // MARK: Rest

    /// All clients read all that there is; then nothing may lack that no gap covers (rule A7).
    func settle() throws(Violation) {
        for client in ends.keys.sorted() {
            try readAll(client)
            guard let end = ends[client], end.isLive else { continue }
            guard center.client(client)?.state == .live else {
                throw Violation("rule A8: c\(client) has read all, and is not live")
            }
        }
        for watcher in watchers.values.sorted(by: { $0.serial < $1.serial }) {
            guard !watcher.isMailbox, let end = ends[watcher.client], end.isLive else { continue }
            try judgeComplete(watcher)
        }
    }

    private func judgeComplete(_ watcher: ArchiveWatcher) throws(Violation) {
        let over =
            watcher.chosen == nil
            ? [] : Set(truth.losses.keys).union(truth.gone).union(truth.forgotten)
        for post in truth.posts where watcher.wants(post) {
            let sequence = post.sequence
            if watcher.came.contains(sequence) || watcher.wasTold(sequence)
                || post.mayBeOver(at: now) || watcher.doubts.contains(sequence)
            {
                continue
            }
            // Nobody was promised what was before.
            if sequence <= watcher.join, over.contains(sequence) { continue }
            // A frame of a replay that had ended before the restart, and was lost with the line.
            if watcher.hasRestarted, sequence <= watcher.join { continue }
            throw Violation("rule A7: o\(watcher.serial) lacks #\(sequence), and no gap tells it")
        }
    }

    // MARK: Beginnings

    /// A client that was at rest has registered an observer: it gets exactly what is there.
    func judgeBeginning(of client: UInt64, _ serial: UInt64? = nil) throws(Violation) {
        guard let end = ends[client], end.connection != nil, !end.isAsked, dice.oneIn(2) else {
            return
        }
        try readAll(client)
        for watcher in watchers.values.sorted(by: { $0.serial < $1.serial })
        where watcher.client == client && (serial == nil || watcher.serial == serial) {
            count("beginnings judged exactly")
            let past =
                watcher.chosen == nil
                ? truth.promised(at: now, wall: wall) : truth.past(at: now, wall: wall)
            // What is not kept is held, as far as there is room; what is kept comes amid it.
            let overflow = watcher.gaps.filter { $0.reason == .overflow }
            func isJudged(_ sequence: UInt64) -> Bool {
                sequence <= watcher.join
                    && !overflow.contains { $0.firstSequence...$0.lastSequence ~= sequence }
            }
            let wanted = past.filter { isJudged($0.sequence) && watcher.wants($0) }
            let found = watcher.came.filter(isJudged).sorted()
            guard found == wanted.map(\.sequence) else {
                throw Violation(
                    """
                    rules A7 and A12: o\(watcher.serial) begins with \(found), \
                    expected \(wanted.map(\.sequence))
                    """)
            }
            try judgeLoss(watcher)
        }
    }

    /// All up to the newest loss of its kinds is a gap for whoever was promised it (rule A9).
    func judgeLoss(_ watcher: ArchiveWatcher) throws(Violation) {
        guard watcher.chosen == nil, watcher.start < watcher.join else { return }
        let newest = truth.losses.values.filter {
            watcher.filter.matches($0.post) && $0.post.sequence > watcher.start
                && $0.post.sequence <= watcher.join && $0.post.postedAt >= watcher.from
                && !$0.post.mayBeOver(at: now)
        }.map(\.post.sequence).filter { lossesNotShown(for: watcher).contains($0) }.max()
        guard let newest, !watcher.wasTold(newest) else { return }
        throw Violation("rule A9: o\(watcher.serial) is not told that #\(newest) is lost")
    }
}
