import BelfryJSON

// The state that a command would remove is checked when it is applied: it may be new since then.

extension Cover {
    /// Checks that a command removes only what it may, before anything changes.
    public func check(
        _ action: borrowing Command.Action, in center: borrowing NotificationCenter
    ) throws(Refusal) {
        switch action {
        case .addObserver(let registration, _, _): try check(registration, in: center)
        case .connect(_, let registrations, _):
            // Bound: registrations
            for registration in registrations { try check(registration, in: center) }
        case .setValue(let write, _, _): try check(write, in: center)
        case .mergeValue(let write, _): try check(write, in: center)
        default: return
        }
    }

    /// Checks that a registration may replace the responders of its address (rule R1).
    ///
    /// That needs the right to respond to all that they implement, or their principal.
    private func check(
        _ registration: ObserverRegistration, in center: borrowing NotificationCenter
    ) throws(Refusal) {
        guard let responder = registration.role.responder, responder.ifHeld == .replace,
            let address = registration.object, selectors != .everything
        else { return }
        var lookCount = 0
        for holder in center.addresses.holders(of: address.span) {  // Bound: holders
            let client = center.observers[holder.slot].client
            if let principal, center.clients[client].principal == principal { continue }
            let implements = center.observers.responder(at: holder.slot)?.implements ?? []
            lookCount += max(1, implements.count)
            guard lookCount <= Self.selectorLimit, selectors.covers(implements, of: address)
            else { throw .alreadyHeld }
        }
    }

    /// Checks the values on the path of a write that are no objects: they would go (rule V19).
    private func check(
        _ write: ValueWrite, in center: borrowing NotificationCenter
    ) throws(Refusal) {
        guard !keptDepths.isEmpty, let slot = center.values.slot(of: write.object.span),
            let document = center.values[slot].document
        else { return }
        for depth in 1..<write.path.keys.count {  // Bound: keys
            guard let value = document.value(at: write.path.prefix(depth)) else { return }
            if value.isObject { continue }
            guard keptDepths.contains(depth) else { return }
            throw .leafNotCovered(path: write.path.prefix(depth).text)
        }
    }
}

extension PostScope {
    /// Whether all names are covered with an object; no names mean all.
    fileprivate func covers(_ names: [[UInt8]], of object: [UInt8]) -> Bool {
        if names.isEmpty { return covers(nil, of: object) }
        return names.allSatisfy { covers($0, of: object) }
    }

    private func covers(_ name: [UInt8]?, of object: [UInt8]) -> Bool {
        guard case .some(let patterns) = self else { return true }
        return patterns.contains { pattern in
            (pattern.names.isEmpty
                || name.map { name in pattern.names.contains { $0.matches(name.span) } } ?? false)
                && (pattern.objects.isEmpty
                    || pattern.objects.contains { $0.matches(object.span) })
        }
    }
}
