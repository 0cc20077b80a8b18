extension NotificationCenter {
    /// Observers that look forgotten.
    ///
    /// It is the first page of ``leaks(after:limit:at:visible:)``.
    public func leaks(limit: Int, at time: CommandTime, visible: Visibility) -> [Leak] {
        leaks(after: 0, limit: limit, at: time, visible: visible).rows
    }

    /// Observers after a cursor that look forgotten, in registration order.
    ///
    /// An observer is disconnected, or its mailbox was not read, for longer than
    /// ``CenterLimits/orphanAfter``; it is a duplicate when its client registered the same filter
    /// and selector before. A page examines about 20,000 observers: it may be short, and still have
    /// a next one.
    public func leaks(
        after cursor: UInt64, limit: Int, at time: CommandTime, visible: Visibility
    ) -> Page<Leak> {
        var page = Page<Leak>()
        var duplicates: Set<UInt64> = []
        var walkedClients: Set<UInt32> = []
        var lastSerial = cursor
        var seenCount = 0
        let order = registry.observers.order
        for position in order.position(after: cursor)..<order.entries.count {  // Share: listings
            let entry = order.entries[position]
            if page.rows.count >= max(limit, 1) || seenCount >= Self.pageScanLimit {
                page.next = lastSerial
                break
            }
            lastSerial = entry.serial
            seenCount += 1
            guard !entry.isDead else { continue }
            let client = registry.observers[entry.slot].client
            if walkedClients.insert(client).inserted {
                seenCount += registry.clients[client].observers.count
                noteDuplicates(of: client, in: &duplicates)
            }
            let reason =
                orphanReason(of: entry.slot, at: time)
                ?? (duplicates.contains(entry.serial) ? .duplicate : nil)
            guard let reason else { continue }
            let row = row(ofSlot: entry.slot)
            if row.reach.isAllowed(visible) {
                page.rows.append(Leak(observer: row, reason: reason))
            }
        }
        return page
    }

    /// The reason why an observer looks as if its owner would not come back (rule O7).
    private func orphanReason(of slot: UInt32, at time: CommandTime) -> Leak.Reason? {
        let client = registry.clients[registry.observers[slot].client]
        let oldest = time.monotonicNanoseconds - limits.orphanAfter.wholeNanoseconds
        if let target = registry.observers.target(at: slot),
            let since = registry.targets.unheldSince(target),
            since <= oldest
        {
            return .noTarget
        }
        if client.suspension.contains(.mailbox) {
            // The mailbox of an observer with a target, or of one that only hands on, stays empty.
            if registry.observers.target(at: slot) != nil { return nil }
            if registry.observers.responder(at: slot)?.implements.isEmpty == true { return nil }
            let since = registry.observers[slot].mailbox.unreadSince
            return since ?? .max <= oldest ? .neverLooked : nil
        }
        guard client.suspension.contains(.disconnected) else { return nil }
        return client.disconnectedSince <= oldest ? .disconnected : nil
    }

    private func noteDuplicates(of client: UInt32, in duplicates: inout Set<UInt64>) {
        guard registry.clients[client].observers.count > 1 else { return }
        var seen: Set<Registered> = []
        for slot in registry.observerSlots(of: client)  // Bound: client
        where !registry.observers.isResponder(at: slot) {
            let observer = registry.observers[slot]
            let registered = Registered(
                channel: observer.place.channel, object: observer.place.object,
                selector: observer.selector, target: registry.observers.target(at: slot),
                path: values.observers[slot]?.pathText,
                filter: registry.observers.filter(at: slot)?.code)
            if !seen.insert(registered).inserted { duplicates.insert(observer.serial) }
        }
    }

    private struct Registered: Hashable {
        let channel: UInt32
        let object: UInt32
        let selector: UInt32
        let target: [UInt8]?
        /// The place, for an observer of a value.
        let path: [UInt8]?
        /// The terms of a finer filter, as bytes.
        let filter: [UInt8]?
    }

    /// Names that are posted and not observed, and observers of names that are not posted.
    ///
    /// Names without an observer come first, oldest first; of those with one, and of the observers,
    /// the first 100,000 are examined. The broker's own names are left out (rule C17).
    public func unmatched(limit: Int, visible: Visibility) -> UnmatchedReport {
        var report = UnmatchedReport()
        registry.index.channels.forEachUnobserved { channel in
            noteNeverMatched(channel, limit: limit, visible, in: &report)
        }
        // Share: listings
        for position in 0..<min(registry.index.channels.indexLimit, Self.scanLimit) {
            guard report.postedNeverObserved.count < limit else { break }
            let channel = UInt32(position)
            guard registry.index.channels.isObserved(at: channel) else { continue }
            noteNeverMatched(channel, limit: limit, visible, in: &report)
        }
        // Share: listings
        for entry in registry.observers.order.entries.prefix(Self.scanLimit) where !entry.isDead {
            guard report.observedNeverPosted.count < limit else { break }
            guard registry.namesWereNeverPosted(of: entry.slot) else { continue }
            let row = row(ofSlot: entry.slot)
            if row.reach.isAllowed(visible) { report.observedNeverPosted.append(row) }
        }
        return report
    }

    private func noteNeverMatched(
        _ channel: UInt32, limit: Int, _ visible: Visibility, in report: inout UnmatchedReport
    ) {
        guard report.postedNeverObserved.count < limit,
            !registry.index.channels.wasMatched(at: channel),
            let row = registry.index.channels.row(at: channel), row.postCount > 0,
            !row.name.starts(with: "belfry.".utf8), visible(row.name, nil)
        else { return }
        report.postedNeverObserved.append(
            UnobservedName(name: row.name, postCount: row.postCount))
    }
}
