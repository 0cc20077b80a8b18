import BelfryBytes

// Who answers an ask: the address, its `next`, that one's `next` … (rules R2 and R4 to R9).

extension NotificationCenter {
    /// Whether a responder may be asked.
    enum Readiness {
        case now
        /// When it is live and has room: it holds; nil where something is written to it first.
        case later(AskExplanation.Reason?)
        /// Not at all.
        case never(AskExplanation.Reason)
    }

    /// Walks from the last address of a path on; nobody who was shown the ask gets it again.
    @inline(__always)
    func walk(
        from path: [[UInt8]], for selector: Span<UInt8>, passing shown: FewList<UInt64>,
        handedOnBy observer: UInt64? = nil, isExplained: Bool = false
    ) -> Walk {
        var walk = Walk(path: path)
        walk.handedOnBy = observer
        if isExplained { walk.skipped = [] }
        while let address = walk.path.last {
            let holders = addresses.holders(of: address.span)
            if holders.isEmpty {
                walk.skipped?.append(.init(object: address, observer: nil, reason: .noResponder))
                return walk
            }
            walk.lookCount += holders.count
            if let found = choose(among: holders, selector, passing: shown, &walk) {
                walk.end = found
                return walk
            }
            // A circle can only come about when the oldest holder goes; the walk ends there.
            guard walk.path.count <= limits.hopLimit,
                let next = observers.responder(at: holders[0].slot)?.next,
                !walk.path.contains(next)
            else { return walk }
            walk.path.append(next)
        }
        return walk
    }

    /// Of those who hold an address: the fewest open asks first, then who was asked longest ago, then the oldest.
    @inline(__always)
    private func choose(
        among holders: [AddressTable.Holder], _ selector: Span<UInt8>,
        passing shown: FewList<UInt64>,
        _ walk: inout Walk
    ) -> Walk.End? {
        var now: AddressTable.Holder?
        var later: AddressTable.Holder?
        for holder in holders {
            let wasShown = shown.contains(holder.serial)
            switch readiness(of: holder.slot, selector) {
            case .now: if !wasShown, precedes(holder, now) { now = holder }
            case .later where !wasShown: if precedes(holder, later) { later = holder }
            case .later(let reason): walk.note(reason, of: holder.serial)
            case .never(let reason):
                walk.note(reason, of: holder.serial)
                walk.skipped?.append(
                    .init(
                        object: walk.path.last ?? [], observer: holder.serial, reason: reason))
            }
        }
        if let now { return .ask(slot: now.slot) }
        return later.map { .hold(slot: $0.slot) }
    }

    /// Finds the holder that may take an ask that waits: the one that it waits for, else another
    /// one that shares its address (rule R6).
    func taker(of slot: UInt32, waitingFor serial: UInt64) -> UInt32? {
        let content = asks[slot].content
        if let observer = observers.slot(of: serial),
            case .now = readiness(of: observer, content.name)
        {
            return observer
        }
        let holders = addresses.holders(of: asks[slot].target.span)
        var walk = Walk(path: [])
        guard
            case .ask(let observer) = choose(
                among: holders, content.name, passing: asks[slot].shown, &walk)
        else { return nil }
        return observer
    }

    /// Whether a holder comes before another; those who hold an address come in the order of registration.
    private func precedes(_ holder: AddressTable.Holder, _ other: AddressTable.Holder?) -> Bool {
        guard let other else { return true }
        return (asks.shownCount(to: holder.serial), holder.lastAsked)
            < (asks.shownCount(to: other.serial), other.lastAsked)
    }

    /// Whether a responder may be asked for a selector (rules R5 and R6).
    func readiness(of slot: UInt32, _ selector: Span<UInt8>) -> Readiness {
        guard let responder = observers.responder(at: slot),
            responder.implements(selector)
        else { return .never(.notImplemented) }
        let behavior = observers[slot].terms.suspensionBehavior
        let holds = holdsAsks(slot)
        if asks.shownCount(to: observers[slot].serial) >= responder.concurrency {
            return holds ? .later(.busy) : .never(.busy)
        }
        let suspension = clients[observers[slot].client].suspension
        // A mailbox is never suspended for asks.
        if suspension.isEmpty || suspension.contains(.mailbox) { return .now }
        if suspension.isDisjoint(with: .suspended) {
            // What was held is still being written: nothing overtakes it.
            return .later(nil)
        }
        if behavior == .deliverImmediately, suspension.isDisjoint(with: .blocking) {
            return suspension.isDisjoint(with: [.flushing, .paced]) ? .now : .later(nil)
        }
        return holds ? .later(.suspended) : .never(.suspended)
    }

    /// Whether what a responder may not be asked now waits for it (rule R6).
    func holdsAsks(_ slot: UInt32) -> Bool {
        let behavior = observers[slot].terms.suspensionBehavior
        return behavior == .hold || behavior == .deliverImmediately
    }

    /// Why a walk has come to nobody (rule R9).
    func failure(of walk: Walk) -> AskFailure {
        let address = walk.path[0]
        if addresses.holders(of: address.span).isEmpty { return .noResponder }
        if walk.sawBusy { return .responderBusy }
        return walk.sawSuspended ? .noResponder : .selectorNotImplemented
    }

    /// Who would be asked; nothing is sent, and nothing changes.
    public func explainAsk(object: [UInt8], selector: [UInt8]) -> AskExplanation {
        let walk = walk(
            from: [object], for: selector.span, passing: FewList(), isExplained: true)
        let outcome: AskExplanation.Outcome =
            switch walk.end {
            case .ask(let slot): .delivered(observer: observers[slot].serial)
            case .hold(let slot): .held(observer: observers[slot].serial)
            case .nobody: .failed(failure(of: walk))
            }
        return AskExplanation(outcome: outcome, path: walk.path, skipped: walk.skipped ?? [])
    }
}

extension ResponderTerms {
    /// Whether a selector is among those that it implements.
    func implements(_ selector: Span<UInt8>) -> Bool {
        for name in implements where bytesAreEqual(name.span, selector) { return true }
        return false
    }
}
