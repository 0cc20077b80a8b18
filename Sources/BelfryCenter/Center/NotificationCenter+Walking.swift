import BelfryBytes

// The walk of an ask: the address, its `next`, that one's `next` … (rules R2 and R4 to R9).

extension NotificationCenter {
    /// Whether a responder may be asked.
    enum Readiness {
        case now
        /// When it is live and has room: it holds; nil where a flush to it comes first.
        case later(AskExplanation.Reason?)
        /// It may not be asked, for this reason.
        case never(AskExplanation.Reason)
    }

    /// Walks on from the last address of a path, past the observers that were shown the ask.
    ///
    /// A hop examines only the holders of its address that implement the selector.
    @inline(__always)
    func walk(
        from path: [[UInt8]], for selector: Span<UInt8>, passing shown: FewList<UInt64>,
        handedOnBy observer: UInt64? = nil, isExplained: Bool = false
    ) -> Walk {
        var walk = Walk(path: path, passing: shown)
        walk.handedOnBy = observer
        if isExplained { walk.skipped = [] }
        let wanted = registry.selectors.number(of: selector)
        while let address = walk.path.last {  // Bound: walk
            walk.lookCount += Walk.looksOfHop
            guard let place = asks.addresses.number(of: address.span) else {
                walk.skip(address, observer: nil, .noResponder)
                return walk
            }
            for holder in isExplained ? asks.addresses.holders(at: place) : [] {  // Bound: walk
                guard case .never(let reason) = readiness(of: holder.slot, selector) else {
                    continue
                }
                walk.skip(address, observer: holder.serial, reason)
            }
            if let wanted, let found = choose(at: place, of: wanted, &walk) {
                walk.end = found
                return walk
            }
            // A circle can only form when the oldest holder is removed; the walk ends there.
            guard walk.path.count <= limits.hopLimit,
                let next = registry.observers.responder(at: asks.addresses.oldest(at: place))?.next,
                !walk.path.contains(next)
            else { return walk }
            walk.path.append(next)
        }
        return walk
    }

    /// Chooses a holder: the fewest open asks first, then the longest time since an ask, then age.
    @inline(__always)
    private func choose(
        at address: UInt32, of selector: UInt32, _ walk: inout Walk
    ) -> Walk.End? {
        var now: Candidate?
        var later: Candidate?
        let offers = asks.addresses.offers(at: address, of: selector)
        walk.lookCount += offers.count
        for offer in offers {  // Bound: walk
            guard let responder = registry.observers.responder(at: offer.slot) else { continue }
            let readiness = readiness(of: offer.slot, responder)
            if case .never(let reason) = readiness {
                walk.note(reason, of: offer.serial)
                continue
            }
            guard !walk.hasPassed(offer.serial) else {
                if case .later(let reason) = readiness { walk.note(reason, of: offer.serial) }
                continue
            }
            let candidate = Candidate(
                slot: offer.slot, openCount: asks.open.shownCount(to: offer.serial),
                lastAsked: asks.addresses.lastAsked(at: address, serial: offer.serial))
            if case .now = readiness {
                if candidate.precedes(now) { now = candidate }
            } else if candidate.precedes(later) {
                later = candidate
            }
        }
        if let now { return .ask(slot: now.slot) }
        return later.map { .hold(slot: $0.slot) }
    }

    /// A holder that may be asked; candidates come in the order of registration.
    private struct Candidate {
        let slot: UInt32
        let openCount: Int
        let lastAsked: UInt64

        func precedes(_ other: Candidate?) -> Bool {
            guard let other else { return true }
            return (openCount, lastAsked) < (other.openCount, other.lastAsked)
        }
    }

    /// Finds a holder for a waiting ask: its own, else another one of its address (rule R6).
    func taker(
        of slot: UInt32, waitingFor serial: UInt64
    ) -> (observer: UInt32?, lookCount: Int) {
        let content = asks.open[slot].content
        if let observer = registry.observers.slot(of: serial),
            case .now = readiness(of: observer, content.name)
        {
            return (observer, 1)
        }
        var walk = Walk(path: [], passing: asks.open[slot].shown)
        guard let address = asks.addresses.number(of: asks.open[slot].target.span),
            let wanted = registry.selectors.number(of: content.name),
            case .ask(let observer) = choose(at: address, of: wanted, &walk)
        else { return (nil, walk.lookCount) }
        return (observer, walk.lookCount)
    }

    /// Whether a responder may be asked for a selector (rules R5 and R6).
    func readiness(of slot: UInt32, _ selector: Span<UInt8>) -> Readiness {
        guard let responder = registry.observers.responder(at: slot),
            responder.implements(selector)
        else { return .never(.notImplemented) }
        return readiness(of: slot, responder)
    }

    /// The same for a selector that the responder implements.
    @inline(__always)
    private func readiness(of slot: UInt32, _ responder: ResponderTerms) -> Readiness {
        let behavior = registry.observers[slot].terms.suspensionBehavior
        let holds = registry.observers[slot].terms.holdsAsks
        if asks.open.shownCount(to: registry.observers[slot].serial) >= responder.concurrency {
            return holds ? .later(.busy) : .never(.busy)
        }
        let suspension = registry.clients[registry.observers[slot].client].suspension
        // A mailbox is never suspended for asks.
        if suspension.isEmpty || suspension.contains(.mailbox) { return .now }
        if suspension.isDisjoint(with: .suspended) {
            // Held notifications are still being written: nothing overtakes them.
            return .later(nil)
        }
        if behavior == .deliverImmediately, suspension.isDisjoint(with: .blocking) {
            return suspension.isDisjoint(with: [.flushing, .paced]) ? .now : .later(nil)
        }
        return holds ? .later(.suspended) : .never(.suspended)
    }

    /// The reason why a walk has found no responder (rule R9).
    func failure(of walk: Walk) -> AskFailure {
        let address = walk.path[0]
        if asks.addresses.number(of: address.span) == nil { return .noResponder }
        if walk.saw.contains(.busy) { return .responderBusy }
        return walk.saw.contains(.suspended) ? .noResponder : .selectorNotImplemented
    }

    /// Explains which responder would be asked; nothing is sent, and nothing changes.
    public func explainAsk(object: [UInt8], selector: [UInt8]) -> AskExplanation {
        let walk = walk(
            from: [object], for: selector.span, passing: FewList(), isExplained: true)
        let outcome: AskExplanation.Outcome =
            switch walk.end {
            case .ask(let slot): .delivered(observer: registry.observers[slot].serial)
            case .hold(let slot): .held(observer: registry.observers[slot].serial)
            case .nobody: .failed(failure(of: walk))
            }
        return AskExplanation(
            outcome: outcome, path: walk.path, skipped: walk.skipped ?? [],
            isPartial: walk.isPartial)
    }
}

extension ObserverTerms {
    /// Whether asks that a responder cannot get now wait for it (rule R6).
    var holdsAsks: Bool {
        suspensionBehavior == .hold || suspensionBehavior == .deliverImmediately
    }
}

extension ResponderTerms {
    /// Whether a selector is among those that it implements.
    func implements(_ selector: Span<UInt8>) -> Bool {
        // Bound: selectors
        for name in implements where bytesAreEqual(name.span, selector) { return true }
        return false
    }
}
