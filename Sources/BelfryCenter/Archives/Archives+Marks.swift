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
        // A row that the last look at ages left behind stayed by `keepLast`.
        let slot = kinds[kind].key.archive
        if isAged(row, in: slot) || kinds[kind].rows.count <= archive.terms.keepLast { return true }
        return rows.isAmongNewest(row, archive.terms.keepLast)
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

    /// Notes anew the least ages of the archives that cover a name.
    mutating func noteLeastAges(around name: ArchiveName) {
        for slot in covering(name.text) {  // Bound: archives
            let age = slots.leastAge(inside: slots[Int(slot)].name)
            slots[Int(slot)].leastAge = age
        }
    }

    static let reserved = Array("belfry.".utf8)
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

extension [Archives.Archive] {
    /// Whether one of them keeps all channels that begin with a prefix.
    func keepAll(beginningWith prefix: [UInt8]) -> Bool {
        contains { $0.name.isPrefix && !$0.isEnded && prefix.starts(with: $0.name.text) }
    }

    /// The least age of those that may keep the channels of one of them.
    func leastAge(inside name: ArchiveName) -> Int64? {
        lazy.filter {
            $0.name == name || name.isPrefix && $0.name.text.starts(with: name.text)
        }.compactMap { $0.isEnded ? nil : $0.terms.age }.min()
    }
}
