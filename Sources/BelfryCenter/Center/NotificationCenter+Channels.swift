// Names get their first observer and lose their last one: their posters may watch that (rule L12).
//
// A name is observed by observers of it, and by those without a name. Without watchers, a
// registration pays for one check; otherwise it notes its own names, and the end of the turn finds
// the changes. The first observer without a name, and the removal of the last one, change the
// watched names; for watchers of all names also those that were posted lately without an observer,
// which the center remembers (`unobservedNameLimit`). A prefix changes those that begin with it.
// The prefixes that one command removes are looked at together, behind the last of them.

extension NotificationCenter {
    /// Notes the names that may get their first observer; a value's observer has none (rule V13).
    mutating func noteComing(_ name: [UInt8]?, _ object: [UInt8]?, _ role: ObserverRole) {
        if role.value != nil { return }
        if registry.watch.hasGonePrefixes { registry.noteGonePrefixes() }
        if let responder = role.responder {
            guard registry.watch.isActive else { return }
            // Bound: selectors
            for name in responder.implements { registry.noteCrossing(of: name, wasObserved: false) }
        } else if let terms = role.filter, let watched = WatchedNames(name, object, terms) {
            for name in watched.reports { registry.watch.add(watching: name) }  // Bound: few
            guard registry.watch.isActive else { return }
            // Bound: terms
            for name in watched.names { registry.noteCrossing(of: name, wasObserved: false) }
            if let prefix = watched.prefix, !registry.hasPrefix(of: prefix) {
                var prefixes = PrefixTable()
                _ = prefixes.insert(prefix.span)
                registry.noteCrossings(beginningWith: prefixes, wasObserved: false)
            }
        } else if let name {
            if Report.isOfChannels(name) {
                registry.watch.add(watching: object)
            } else if registry.watch.isActive {
                registry.noteCrossing(of: name, wasObserved: false)
            }
        } else {
            registry.namelessCount += 1
            if registry.namelessCount == 1, registry.watch.isActive {
                registry.watch.noteNameless(wasObserved: false)
            }
        }
    }

    /// Notes the names that may have lost their last observer; not for an observer of a value.
    mutating func noteGone(_ name: [UInt8]?, _ object: [UInt8]?, _ role: ObserverRole) {
        if let responder = role.responder {
            guard registry.watch.isActive else { return }
            // Bound: selectors
            for name in responder.implements { registry.noteCrossing(of: name, wasObserved: true) }
        } else if let terms = role.filter, let watched = WatchedNames(name, object, terms) {
            for name in watched.reports { registry.watch.remove(watching: name) }  // Bound: few
            guard registry.watch.isActive else { return }
            // Bound: terms
            for name in watched.names { registry.noteCrossing(of: name, wasObserved: true) }
            if let prefix = watched.prefix, !registry.hasPrefix(of: prefix) {
                registry.watch.note(gonePrefix: prefix)
            }
        } else if let name {
            if Report.isOfChannels(name) {
                registry.watch.remove(watching: object)
            } else if registry.watch.isActive {
                registry.noteCrossing(of: name, wasObserved: true)
            }
        } else {
            registry.namelessCount -= 1
            if registry.namelessCount == 0, registry.watch.isActive {
                registry.watch.noteNameless(wasObserved: true)
            }
        }
    }

    /// Reports the changes of the turn that ends, until so much work is done.
    mutating func reportChannels(workLimit: Int) {
        if let before = registry.watch.takeNameless(), before != (registry.namelessCount > 0) {
            spread(wasObserved: before)
        }
        var work = 0
        // Share: crossings
        while work == 0 || work < workLimit, let crossing = registry.watch.next() {
            work += Work.ofEnd + registry.watch.watcherCount
            let isObserved = registry.namelessCount > 0 || registry.isNamed(crossing.name)
            guard isObserved != crossing.wasObserved else { continue }
            reports.append(.channelChanged(name: crossing.name, isObserved: isObserved))
        }
    }

    /// Notes all unnamed names, as the first observer without a name came, or the last one left.
    private mutating func spread(wasObserved: Bool) {
        // Bound: spread
        for name in registry.spreadNames()
        where !registry.isNamed(name) && !name.starts(with: "belfry.".utf8) {
            registry.watch.note(name, wasObserved: wasObserved)
        }
    }
}
