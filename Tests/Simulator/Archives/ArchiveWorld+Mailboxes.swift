import BelfryCenter
import TestSupport

// Mailboxes that begin in the past (rule A13).
extension ArchiveWorld {
    /// A mailbox begins with the newest as far as its limits go; the rest is a gap.
    func judgeMailboxBeginning(
        _ serial: UInt64, of client: UInt64, _ beginning: PastBeginning?
    ) throws(Violation) {
        guard let watcher = watchers[serial] else {
            throw Violation("the mailbox o\(serial) is not there")
        }
        let page = try mailboxPage(serial, after: 0)
        let past =
            watcher.chosen == nil
            ? truth.promised(at: now, wall: wall) : truth.past(at: now, wall: wall)
        let all = past.filter { $0.sequence <= watcher.join && watcher.wants($0) }
            .map(\.sequence)
        let wanted = Array(all.suffix(limits.clientHeldCountLimit))
        let found = page.elements.map(\.notification.sequence)
        guard found == wanted else {
            throw Violation("rule A13: the mailbox o\(serial) has \(found), expected \(wanted)")
        }
        let isPart = if case .last = beginning { true } else { false }
        let isEach = if case .lastEach = beginning { true } else { false }
        if !isPart, !isEach {
            for sequence in all.dropLast(wanted.count)
            where !page.gaps.contains(where: {
                $0.firstSequence <= sequence && sequence <= $0.lastSequence
            }) {
                throw Violation("rule A13: the mailbox o\(serial) is not told of #\(sequence)")
            }
        }
        for gap in page.gaps { try judge(gap) }
        if let watcher = watchers[serial] { try judgeLoss(watcher) }
        count("mailboxes")
    }

    private func mailboxPage(_ serial: UInt64, after: UInt64) throws(Violation) -> MailboxPage {
        guard let page = center.mailbox(of: serial, after: after, limit: 1_000) else {
            throw Violation("the mailbox of o\(serial) is gone")
        }
        return page
    }

    /// A mailbox is read: nothing lacks that no gap covers, and nothing comes twice.
    func readMailbox() throws(Violation) {
        let boxes = watchers.values.filter(\.isMailbox).map(\.serial).sorted()
        guard let serial = dice.pick(boxes), let through = watchers[serial]?.through else { return }
        try submit(
            .readMailbox(observer: serial, through: through), "readMailbox o\(serial) \(through)")
        guard watchers[serial] != nil else { return }
        let page = try mailboxPage(serial, after: through)
        var last = through
        for element in page.elements {
            let sequence = element.notification.sequence
            guard sequence > last else {
                throw Violation("rule A13: o\(serial) gets #\(sequence) behind #\(last)")
            }
            guard !truth.forgotten.contains(sequence) else {
                throw Violation("rule A16: o\(serial) gets #\(sequence), which is forgotten")
            }
            guard let post = truth.posts.last(where: { $0.sequence == sequence }),
                watchers[serial]?.wants(post) == true
            else { throw Violation("rule A13: o\(serial) gets #\(sequence) in vain") }
            last = sequence
            watchers[serial]?.came.insert(sequence)
        }
        let told = page.gaps.filter { gap in
            watchers[serial]?.gaps.contains(gap) == false
        }
        for gap in told { try judge(gap) }
        guard let watcher = watchers[serial] else { return }
        for post in truth.posts where watcher.wants(post) {
            if watcher.came.contains(post.sequence) || watcher.wasTold(post.sequence)
                || post.mayBeOver(at: now) || post.sequence <= watcher.join && watcher.chosen != nil
            {
                continue
            }
            throw Violation("rule A13: the mailbox o\(serial) lacks #\(post.sequence)")
        }
        if dice.oneIn(2) { watchers[serial]?.through = page.next }
    }
}
