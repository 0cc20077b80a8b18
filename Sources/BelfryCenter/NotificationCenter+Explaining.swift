extension NotificationCenter {
    /// Tells who would get a notification, and who nearly would; nothing is delivered or counted.
    ///
    /// Near misses are looked for among the first 100,000 names and observers, or fewer, at most 20
    /// are told, and only with the first page.
    ///
    /// - Parameters:
    ///   - name: the name of the notification.
    ///   - object: its object, if it has one.
    ///   - cursor: the serial number after which the page of observers starts.
    ///   - limit: how many observers the page has at most.
    ///   - scanLimit: how many names and observers are looked at, if that is less than usual.
    ///   - visible: what the caller may see.
    public func explain(
        name: [UInt8], object: [UInt8]?, after cursor: UInt64 = 0, limit: Int = 1_000,
        scanLimit: Int = .max, visible: Visibility
    ) -> Explanation {
        var explanation = Explanation()
        let channel = index.channels.index(of: name.span) ?? ObserverIndex.noList
        // The notification is never posted: only its name and object are looked up.
        let content = Notification.Content(name: name, object: object)
        let buckets = index.buckets(
            channel: channel, object: content.object, isReserved: content.isReserved)
        var lastSerial = cursor
        var seenCount = 0
        index.forEachSlot(in: buckets, from: max(cursor, cursor &+ 1)) { slot in
            if explanation.observers.count >= max(limit, 1)
                || seenCount == min(Self.pageScanLimit, max(scanLimit, 1))
            {
                explanation.next = lastSerial
                return false
            }
            seenCount += 1
            lastSerial = observers[slot].serial
            let row = row(ofSlot: slot)
            if visible(row.name, row.object) {
                explanation.observers.append((row, outcome(at: slot)))
            }
            return true
        }
        if cursor == 0 {
            explanation.nearMisses = nearMisses(
                of: name, object: object, channel: channel,
                scanLimit: min(Self.scanLimit, max(scanLimit, 1)), visible: visible)
        }
        return explanation
    }

    /// What would become of a notification at an observer that it matches.
    private func outcome(at slot: UInt32) -> ReportRow.Outcome {
        let suspension = clients[observers[slot].client].suspension
        let terms = observers[slot].terms
        if suspension.isSubset(of: .mailbox) { return terms.acknowledges ? .pending : .delivered }
        if suspension.isDisjoint(with: .suspended) { return .held }
        switch terms.suspensionBehavior {
        case .drop: return .dropped
        case .coalesce, .hold: return .held
        case .deliverImmediately:
            return suspension.isDisjoint(with: .blocking) ? .delivered : .held
        }
    }

    private func nearMisses(
        of name: [UInt8], object: [UInt8]?, channel: UInt32, scanLimit: Int, visible: Visibility
    ) -> [NearMiss] {
        var nearMisses: [NearMiss] = []
        let nearChannels = channelsNear(name, scanLimit: scanLimit)
        for entry in observers.order.entries.prefix(scanLimit) where !entry.isDead {
            guard nearMisses.count < Self.nearMissLimit else { break }
            let place = observers[entry.slot].place
            let reason: NearMiss.Reason
            if place.channel == channel, channel != ObserverIndex.noList {
                guard let wanted = index.object(of: place), wanted != object else { continue }
                reason = .objectDiffers
            } else if let near = nearChannels[place.channel] {
                reason = near
            } else {
                continue
            }
            let row = row(ofSlot: entry.slot)
            guard visible(row.name, row.object) else { continue }
            nearMisses.append(NearMiss(observer: row, reason: reason))
        }
        return nearMisses
    }

    /// The channels whose names a reader would take for this one.
    private func channelsNear(
        _ name: [UInt8], scanLimit: Int
    ) -> [UInt32: NearMiss.Reason] {
        var near: [UInt32: NearMiss.Reason] = [:]
        let isASCII = isASCII(name)
        var textsLeft = min(Self.unicodeScanLimit, scanLimit / 10)
        for position in 0..<min(index.channels.indexLimit, scanLimit) {
            let candidate = index.channels.name(at: UInt32(position))
            guard !candidate.isEmpty, candidate != name else { continue }
            if isASCII {
                guard differsOnlyInCase(name, candidate) else { continue }
                near[UInt32(position)] = .nameDiffersInCase
            } else if textsLeft > 0, !self.isASCII(candidate) {
                textsLeft -= 1
                near[UInt32(position)] = nearness(of: candidate, to: name)
            }
        }
        return near
    }

    /// Compares as people read, which is by canonical equivalence as Swift's strings do.
    private func nearness(of candidate: [UInt8], to name: [UInt8]) -> NearMiss.Reason? {
        let text = String(decoding: name, as: UTF8.self)
        let other = String(decoding: candidate, as: UTF8.self)
        if other == text { return .nameDiffersInUnicodeForm }
        return other.lowercased() == text.lowercased() ? .nameDiffersInCase : nil
    }

    private func isASCII(_ bytes: [UInt8]) -> Bool {
        for byte in bytes where byte >= 0x80 { return false }
        return true
    }

    private func differsOnlyInCase(_ left: [UInt8], _ right: [UInt8]) -> Bool {
        guard left.count == right.count else { return false }
        for index in left.indices where lowercase(left[index]) != lowercase(right[index]) {
            return false
        }
        return true
    }

    private func lowercase(_ byte: UInt8) -> UInt8 {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
    }
}
