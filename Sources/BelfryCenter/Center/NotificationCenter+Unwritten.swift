// Dispatches to a connection that had ended, where several brokers share a log (law 3).
//
// | observers | certainly not written | possibly not written, unless the client names a number |
// | --- | --- | --- |
// | most observers | held again out of the replay ring, else a gap | a gap |
// | those of values | the present value | the present value |
// | responders, of actions | a gap | a gap |
// | those that acknowledge | held again, like all unacknowledged ones | held again |

extension NotificationCenter {
    /// Handles the progress of a client's last connection: later deliveries are repaired, or noted.
    mutating func take(
        _ written: WrittenThrough, of client: UInt32, at time: CommandTime,
        _ effects: inout Effects
    ) {
        guard registry.clients[client].transport.canResume else { return }
        // Deliveries to an address are its responder's.
        let slots = registry.observerSlots(of: client)
            .filter { registry.observers.target(at: $0) == nil }
        guard let sequence = written.sequence else { return doubtAll(of: client, slots) }
        let late = LateDeliveries(written.late)
        var stretches: [Stretch] = []
        for slot in slots {  // Bound: client
            let serial = registry.observers[slot].serial
            for gap in late.gaps[serial] ?? [] {  // Bound: late
                if written.isCertain {
                    noteAgain(gap, at: slot, &effects)
                } else {
                    doubt(gap, at: slot, .told)
                }
            }
            if let gap = late.actions[serial] {
                doubt(gap, at: slot, written.isCertain ? .lost : .written)
            }
            let first = late.firsts[serial]
            // A present value borrows its number, which may be 0.
            if isOfValue(slot), let first, first <= registry.observers[slot].since {
                if written.isCertain {
                    markPresent(slot, isRedelivered: false, at: time, &effects)
                } else {
                    let gap = GapRecord(reason: .unknown, count: nil, first: first, last: first)
                    doubt(gap, at: slot, .written)
                }
                continue
            }
            let through = min(sequence, first.map { $0 - 1 } ?? sequence)
            guard registry.observers[slot].writtenThrough > through else { continue }
            let stretch = Stretch(
                slot: slot, first: max(through, registry.observers[slot].replaysAbove) + 1,
                last: registry.observers[slot].writtenThrough)
            if written.isCertain { registry.observers[slot].writtenThrough = through }
            // Unanswered deliveries of an acknowledging observer are held again already.
            if registry.observers[slot].terms.acknowledges { continue }
            if !written.isCertain {
                doubt(stretch.gap(through: stretch.last), at: slot, .written)
            } else if isOfValue(slot) {
                markPresent(slot, isRedelivered: false, at: time, &effects)
            } else if stretch.first <= stretch.last {
                stretches.append(stretch)
            }
        }
        if !stretches.isEmpty { makeGood(stretches, of: client, at: time, &effects) }
    }

    /// Holds the unwritten notifications, as far as the replay ring has them.
    private mutating func makeGood(
        _ stretches: [Stretch], of client: UInt32, at time: CommandTime, _ effects: inout Effects
    ) {
        for stretch in stretches {  // Bound: client
            forgetGaps(within: stretch, &effects)
            guard stretch.first <= history.replay.forgottenThrough else { continue }
            noteGap(
                stretch.gap(through: min(stretch.last, history.replay.forgottenThrough)),
                at: stretch.slot, &effects)
        }
        hold(found(in: stretches, of: client), at: stretches.map(\.slot), of: client, &effects)
        noteReplayed(of: client, at: time, &effects)
    }

    /// Forgets losses that are repaired, as all between their numbers is replayed.
    private mutating func forgetGaps(within stretch: Stretch, _ effects: inout Effects) {
        // A responder may have lost actions, which no ring has.
        guard !registry.observers.isResponder(at: stretch.slot) else { return }
        for place in registry.observers[stretch.slot].gaps.indices.reversed() {  // Bound: gaps
            let gap = registry.observers[stretch.slot].gaps[place]
            guard gap.first >= stretch.first, gap.first > history.replay.forgottenThrough,
                gap.last <= stretch.last
            else { continue }
            change(gapAt: place, of: stretch.slot, to: gap, isOver: true, &effects)
        }
    }

    /// Finds the newest unwritten notifications in the replay ring that fit and are not held.
    ///
    /// - Complexity: The stretches times their observers, a comparison each.
    private func found(in stretches: [Stretch], of client: UInt32) -> Replay {
        let known = heldSequences(of: client).mapValues { Set($0) }
        let filters = stretches.map { registry.filter(of: $0.slot) }
        let first = stretches.map(\.first).min() ?? 1
        var found = emptyReplay(for: client)
        var work = FilterWork()
        history.replay.forEach(above: first - 1) { notification in
            let sequence = notification.sequence
            let place = registry.index.place(of: notification.content)
            for (stretch, filter) in zip(stretches, filters)  // Bound: resume
            where sequence >= stretch.first && sequence <= stretch.last
                && known[stretch.slot]?.contains(sequence) != true
            {
                switch filter.matches(place, notification.content, &work) {
                case true?: found.add(notification, to: stretch.slot)
                case nil: found.lose(.unread(sequence), of: stretch.slot)
                case false?: break
                }
            }
        }
        return found
    }

    // MARK: Doubts

    private mutating func doubt(_ gap: GapRecord, at slot: UInt32, _ kind: Doubt.Kind) {
        guard gap.first <= gap.last else { return }
        backlog.doubts[registry.observers[slot].client, default: []].append(
            Doubt(observer: registry.observers[slot].serial, gap: gap, kind: kind))
    }

    /// Doubts all deliveries to a client whose progress is unknown.
    private mutating func doubtAll(of client: UInt32, _ slots: [UInt32]) {
        for slot in slots {  // Bound: client
            let stretch = Stretch(
                slot: slot, first: registry.observers[slot].replaysAbove + 1, last: history.sequence
            )
            doubt(stretch.gap(through: history.sequence), at: slot, .written)
        }
    }

    /// Notes the possible losses of a returning client, before the search in the replay ring.
    ///
    /// - Returns: The other doubts.
    mutating func takeDoubts(of client: UInt32, _ effects: inout Effects) -> [Doubt] {
        guard let taken = backlog.doubts.removeValue(forKey: client) else { return [] }
        for doubt in taken where doubt.kind == .told {  // Bound: client
            guard let slot = registry.observers.slot(of: doubt.observer) else { continue }
            noteAgain(doubt.gap, at: slot, &effects)
        }
        return taken.filter { $0.kind != .told }
    }

    /// Sends a returning client its possible losses, unless it names the number that it has seen.
    mutating func settle(
        _ doubts: [Doubt], after: UInt64?, at time: CommandTime, _ effects: inout Effects
    ) {
        for doubt in doubts where doubt.kind == .lost || after == nil {  // Bound: client
            guard let slot = registry.observers.slot(of: doubt.observer) else { continue }
            if isOfValue(slot) {
                markPresent(slot, isRedelivered: false, at: time, &effects)
            } else {
                noteGap(doubt.gap, at: slot, &effects)
            }
        }
    }
}

/// The numbers of one observer's deliveries on a connection that had ended.
///
/// Numbers of other observers may be among them.
private struct Stretch {
    let slot: UInt32
    let first: UInt64
    let last: UInt64

    /// The gap up to a number, of unknown size.
    func gap(through last: UInt64) -> GapRecord {
        GapRecord(reason: .unknown, count: nil, first: first, last: last)
    }
}

/// Late deliveries, by the serial numbers of the observers.
private struct LateDeliveries {
    /// The lowest number of the held notifications of each.
    private(set) var firsts: [UInt64: UInt64] = [:]
    private(set) var actions: [UInt64: GapRecord] = [:]
    private(set) var gaps: [UInt64: [GapRecord]] = [:]

    init(_ late: [LateDelivery]) {
        for delivery in late {  // Bound: late
            switch delivery.content {
            case .notification(let sequence):
                firsts[delivery.observer] = min(firsts[delivery.observer] ?? .max, sequence)
            case .action(let sequence):
                let gap = GapRecord(reason: .unknown, count: 1, first: sequence, last: sequence)
                if actions[delivery.observer]?.add(gap) == nil { actions[delivery.observer] = gap }
            case .gap(let gap): gaps[delivery.observer, default: []].append(gap)
            }
        }
    }
}
