// Archives by request and by the configuration file, and notifications that are forgotten.

extension Archives {
    /// Checks that an archive may be made, or changed.
    ///
    /// - Parameter isConfigured: whether the configuration file asks.
    public func check(
        _ name: ArchiveName, _ terms: ArchiveTerms, _ limits: CenterLimits,
        isConfigured: Bool = false
    ) throws(Refusal) {
        let known = row(named: name)
        if known?.terms.isConfigured == true, !isConfigured { throw .setByConfiguration }
        let bytes = reservedByteCount - (known?.terms.byteLimit ?? 0) + terms.byteLimit
        guard bytes <= limits.archiveByteLimit, known != nil || count < limits.archiveLimit else {
            throw .archiveFull(limit: limits.archiveByteLimit, count: limits.archiveLimit)
        }
    }

    /// Makes an archive, or changes its terms.
    mutating func put(
        _ name: ArchiveName, _ terms: ArchiveTerms, _ limits: CenterLimits,
        _ channels: borrowing ChannelTable, _ history: borrowing History, at time: CommandTime
    ) throws(Refusal) -> Outcome {
        try check(name, terms, limits)
        let isNew = slot(of: name) == nil
        put(
            name, terms, since: history.sequence,
            after: PastLosses.lastUnkept(name, self, channels, history), at: time)
        guard var row = row(named: name) else { return .done }
        row.isNew = isNew
        return .archive(row)
    }

    /// Removes an archive with all that it keeps.
    mutating func remove(_ name: ArchiveName, at time: CommandTime) throws(Refusal) -> Outcome {
        guard let known = row(named: name) else { throw .unknownArchive }
        if known.terms.isConfigured { throw .setByConfiguration }
        end(name, at: time)
        return .done
    }

    /// Makes the archives of the configuration file, as far as there is room.
    ///
    /// One that the file no longer has stays with what it keeps, and may be changed by a request.
    mutating func configure(
        _ limits: CenterLimits, _ channels: borrowing ChannelTable, _ history: borrowing History,
        at time: CommandTime
    ) {
        isConfigured = true
        if limits.archives.isEmpty, !isUsed { return }
        for row in listing() where row.terms.isConfigured {  // Bound: archives
            guard !limits.archives.contains(where: { $0.name == row.name }) else { continue }
            var terms = row.terms
            terms.isConfigured = false
            put(row.name, terms, since: history.sequence, after: LossMark(), at: time)
        }
        for archive in limits.archives {  // Bound: archives
            var terms = archive.terms
            terms.isConfigured = true
            guard row(named: archive.name)?.terms != terms,
                (try? check(archive.name, terms, limits, isConfigured: true)) != nil
            else { continue }
            put(
                archive.name, terms, since: history.sequence,
                after: PastLosses.lastUnkept(archive.name, self, channels, history), at: time)
        }
    }

    /// Forgets notifications that a query means, in archives and in the replay ring (rule A16).
    ///
    /// One call looks at a share of them.
    ///
    /// - Returns: How many there were, and the number behind which to go on; nil at the end.
    mutating func forget(
        _ query: PastQuery, above start: UInt64, _ history: inout History,
        _ index: borrowing ObserverIndex
    ) -> (count: Int, next: UInt64?) {
        var pastWork = PastWork()
        var count = 0
        var position = max(start, query.after)
        // Share: past
        while let candidate = next(
            above: position, history.replay, index, at: nil, &pastWork)
        {
            let notification = candidate.notification
            if notification.sequence >= query.before { return (count, nil) }
            guard let matches = query.matches(notification, &pastWork.conditions) else { break }
            position = notification.sequence
            guard matches else { continue }
            count += 1
            if let row = rows.slot(of: position) {
                letGo(row, .ended)
            } else {
                let last = index.channels.lastPost(of: notification.content.nameText, history)
                noteRemoval(of: notification, after: last)
            }
            history.replay.erase(position)
        }
        return (count, pastWork.isDone ? position : nil)
    }
}

extension CenterLimits {
    /// Checks that an archive may be made in a center that is not there yet.
    ///
    /// The center has the archives of the configuration file first, as far as there is room.
    public func checkFirst(_ name: ArchiveName, _ terms: ArchiveTerms) throws(Refusal) {
        var (count, bytes) = (0, 0)
        for archive in archives  // Bound: archives
        where count < archiveLimit && bytes + archive.terms.byteLimit <= archiveByteLimit {
            if archive.name == name { throw .setByConfiguration }
            count += 1
            bytes += archive.terms.byteLimit
        }
        guard count < archiveLimit, bytes + terms.byteLimit <= archiveByteLimit else {
            throw .archiveFull(limit: archiveByteLimit, count: archiveLimit)
        }
    }
}
