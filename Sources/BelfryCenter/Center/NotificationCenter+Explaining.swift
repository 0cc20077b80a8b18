extension NotificationCenter {
    /// Explains which observers would get a notification, or nearly; nothing is delivered.
    ///
    /// Near misses are searched among the first 100,000 names and observers, or fewer, and at most
    /// 20 are listed, only with the first page; `isPartial` means that there may be more.
    ///
    /// - Parameters:
    ///   - name: The name of the notification.
    ///   - object: Its object, if it has one.
    ///   - userInfo: Its userInfo; with nil the conditions of observers are not asked for.
    ///   - cursor: The serial number after which the page of observers starts.
    ///   - limit: The most observers of the page.
    ///   - scanLimit: The most names and observers to examine, if fewer than usual.
    ///   - visible: The filters that the caller may see.
    public func explain(
        name: [UInt8], object: [UInt8]?, userInfo: [UInt8]? = nil, after cursor: UInt64 = 0,
        limit: Int = 1_000,
        scanLimit: Int = .max, visible: Visibility
    ) -> Explanation {
        var explanation = Explanation()
        explanation.hasUserInfo = userInfo != nil
        let channel = registry.index.channels.index(of: name.span) ?? ObserverIndex.noList
        let content = Notification.Content(name: name, object: object, userInfo: userInfo)
        var truth = ConditionTruth()
        truth.begin()
        var lastSerial = cursor
        var seenCount = 0
        var textByteCount = 0
        registry.index.forEachSlot(of: content, from: max(cursor, cursor &+ 1)) { slot, condition in
            if explanation.observers.count >= max(limit, 1)
                || seenCount >= min(Self.pageScanLimit, max(scanLimit, 1))
                || textByteCount > Self.pageTextByteLimit
            {
                explanation.next = lastSerial
                return false
            }
            seenCount += 1
            lastSerial = registry.observers[slot].serial
            var isAsked = true
            if userInfo != nil, let condition {
                let answer = truth.isTrue(
                    condition, of: registry.index.filters.conditions,
                    in: content.userInfoOrNothing)
                if answer == false { return true }
                isAsked = answer != nil
            }
            let row = row(ofSlot: slot)
            if row.reach.isAllowed(visible) {
                var report = ReportRow(
                    observer: row.serial, outcome: isAsked ? outcome(at: slot) : .dropped)
                if isAsked, let target = registry.observers.target(at: slot) {
                    let action = explain(actionAt: slot, target: target)
                    report = action.row
                    // The page ends with the work that it has done, of walks too.
                    seenCount += action.lookCount
                }
                textByteCount += row.textByteCount
                textByteCount += report.route?.path.reduce(0) { $0 + $1.count } ?? 0
                explanation.observers.append((row, report))
            }
            return true
        }
        takeAlong(&explanation)
        if cursor == 0 {
            findNearMisses(
                of: content, name: name, channel: channel,
                scanLimit: min(Self.scanLimit, max(scanLimit, 1)), visible: visible,
                in: &explanation)
        }
        return explanation
    }

    /// The outcome of a notification that the broker writes to its observer.
    private func sent(_ terms: ObserverTerms) -> ReportRow.Outcome {
        terms.acknowledges ? .pending : .delivered
    }

    /// The expected outcome of a notification at an observer that it matches.
    private func outcome(at slot: UInt32) -> ReportRow.Outcome {
        let suspension = registry.clients[registry.observers[slot].client].suspension
        let terms = registry.observers[slot].terms
        let sent = sent(terms)
        if suspension.isSubset(of: .mailbox) { return sent }
        if suspension.isDisjoint(with: .suspended) { return .held }
        switch terms.suspensionBehavior {
        case .drop: return .dropped
        case .coalesce, .hold: return .held
        case .deliverImmediately:
            // A suspended mailbox reports nothing to its reader.
            return suspension.isDisjoint(with: [.blocking, .mailbox]) ? sent : .held
        }
    }

    /// Changes held rows to delivered ones before an immediate observer of the same client.
    ///
    /// The center writes a client its held notifications first (rule D8). Observers of another
    /// page, and those that the caller may not see, do not count.
    private func takeAlong(_ explanation: inout Explanation) {
        var flushed: Set<UInt64> = []
        for place in explanation.observers.indices.reversed() {  // Bound: page
            let (row, report) = explanation.observers[place]
            guard report.route == nil else { continue }
            if report.outcome != .held {
                if row.terms.suspensionBehavior == .deliverImmediately {
                    flushed.insert(row.client)
                }
            } else if flushed.contains(row.client) {
                explanation.observers[place].report.outcome = sent(row.terms)
            }
        }
    }

    /// Adds the observers that nearly match to the explanation.
    private func findNearMisses(
        of content: Notification.Content, name: [UInt8], channel: UInt32, scanLimit: Int,
        visible: Visibility, in explanation: inout Explanation
    ) {
        let near = channelsNear(name, scanLimit: scanLimit)
        var truth = ConditionTruth()
        truth.begin()
        explanation.isPartial = near.isPartial || registry.observers.order.entries.count > scanLimit
        // Share: listings
        for entry in registry.observers.order.entries.prefix(scanLimit) where !entry.isDead {
            guard
                let reason = registry.nearness(
                    of: entry.slot, to: content, channel: channel, near.reasons, &truth)
            else {
                continue
            }
            let row = row(ofSlot: entry.slot)
            guard row.reach.isAllowed(visible) else { continue }
            guard explanation.nearMisses.count < Self.nearMissLimit else {
                explanation.isPartial = true
                return
            }
            explanation.nearMisses.append(NearMiss(observer: row, reason: reason))
        }
    }
}
