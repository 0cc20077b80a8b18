// The changes by which a store follows the archives, and the rows with which they begin again.

extension Archives {
    /// Notes an archive as it is now.
    mutating func note(_ slot: UInt32) {
        guard isDurable else { return }
        let archive = slots[Int(slot)]
        // The first life in which it was made: one that is kept in memory begins anew in each.
        changes.append(
            .archive(
                ArchiveRecord(
                    number: slot, name: archive.name, terms: archive.terms, since: archive.origin,
                    began: archive.began, forgotten: archive.forgotten, isEnded: archive.isEnded)))
    }

    /// Notes a kind as it is now, if its archive is stored.
    mutating func note(kind: UInt32) {
        guard isDurable, slots[Int(kinds.archive(of: kind))].terms.isStored else { return }
        kinds[kind].isStored = true
        let found = kinds[kind]
        changes.append(
            .archivedKind(
                ArchivedKindRecord(key: found.key, marks: found.marks, began: found.began)))
    }

    /// Lets the store keep a row as the terms of its archive say.
    mutating func noteStored(_ row: UInt32, in slot: UInt32, at time: CommandTime) {
        let isStored = isDurable && slots[Int(slot)].terms.isStored
        if !isStored, !rows[row].isStored { return }
        let notification = rows[row].notification
        if isStored {
            let left =
                notification.expiresAt == .max
                ? nil : notification.expiresAt - time.monotonicNanoseconds
            changes.append(
                .kept(
                    KeptRecord(
                        archive: slot, notification: notification,
                        endsAt: left.map { time.wallMilliseconds.adding($0 / 1_000_000) })))
            let kind = rows[row].kind
            if !kinds[kind].isStored {
                note(kind: kind)
                if let channel = kinds.number(kinds[kind].key.ofName) { note(kind: channel) }
            }
        } else {
            changes.append(.letGo(sequence: notification.sequence))
        }
        rows[row].isStored = isStored
    }

    /// Whether the store keeps what is posted so.
    func stores(_ content: Notification.Content) -> Bool {
        count > 0
            && archive(of: content.name, isReserved: content.isReserved).map {
                slots[Int($0)].terms.isStored
            } == true
    }

    // MARK: A restart

    /// Restores an archive; one that is kept in memory alone begins anew.
    mutating func restore(_ record: ArchiveRecord, after last: LossMark) {
        var archive = Archive(
            name: record.name, terms: record.terms,
            since: record.terms.isStored ? record.since : last.sequence)
        archive.began = record.terms.isStored ? record.began : last
        archive.forgotten = record.forgotten
        archive.marks = record.forgotten
        archive.isEnded = record.isEnded
        archive.madeAbove = record.terms.isStored ? nil : record.since
        add(archive, at: record.number)
    }

    /// Ends a restart: rows that are over go before anybody looks, as many as in one command.
    ///
    /// - Returns: The changes for the store.
    mutating func endRestoring(at time: CommandTime) -> [Change] {
        noteAges(at: time)
        passTime(limit: Self.shareOfCommand, at: time)
        return takeChanges()
    }

    /// Restores a kind, with what was let go of it.
    mutating func restore(_ record: ArchivedKindRecord) {
        let slot = record.key.archive
        // The store may have one that began anew as it was before it was kept in memory alone.
        guard slot < slots.count, !slots[Int(slot)].isFree, !slots[Int(slot)].isAnew else {
            return
        }
        let kind = kinds.use(record.key).number
        kinds[kind].marks = record.marks
        kinds[kind].began = record.began
        kinds[kind].isStored = true
        slots[Int(slot)].marks.raise(to: record.marks)
        slots[Int(slot)].began.raise(to: record.began)
    }

    /// Restores a kept notification; one whose `ttl` or age is over goes with the first command.
    mutating func restore(_ record: KeptRecord, at time: CommandTime) {
        guard record.archive < slots.count, !slots[Int(record.archive)].isFree else { return }
        let left = record.endsAt.map {
            max(0, min($0.subtracting(time.wallMilliseconds), 1 << 40)) * 1_000_000
        }
        let notification = record.notification.restored(
            expiresAt: left.map { time.monotonicNanoseconds.adding($0) } ?? .max)
        addRestored(notification, in: record.archive, at: time)
    }
}

extension Notification {
    /// The notification in another life of the broker, with another end on the clock.
    func restored(expiresAt: Int64) -> Notification {
        Notification(
            id: id, sequence: sequence, postedAt: postedAt, causedBy: causedBy, content: content,
            expiresAt: expiresAt, isRestored: true)
    }
}
