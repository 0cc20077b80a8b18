// Names get their first observer and lose their last one: their posters may watch that (rule L12).
//
// A name is observed by observers of it, and by those without a name. Without watchers, a
// registration pays for one check; otherwise it notes its own names, and the end of the turn finds
// the changes. The first observer without a name, and the removal of the last one, change the
// watched names; for watchers of all names also those that were posted lately without an observer,
// which the center remembers (`unobservedNameLimit`).

extension NotificationCenter {
    /// Notes the names that may get their first observer; a value's observer has none (rule V13).
    mutating func noteComing(_ name: [UInt8]?, _ object: [UInt8]?, _ role: ObserverRole) {
        if role.value != nil { return }
        if let responder = role.responder {
            guard watch.isActive else { return }
            // Bound: selectors
            for name in responder.implements { noteCrossing(of: name, wasObserved: false) }
        } else if let name {
            if Report.isOfChannels(name) {
                watch.add(watching: object)
            } else if watch.isActive {
                noteCrossing(of: name, wasObserved: false)
            }
        } else {
            namelessCount += 1
            if namelessCount == 1, watch.isActive { watch.noteNameless(wasObserved: false) }
        }
    }

    /// Notes the names that may have lost their last observer; not for an observer of a value.
    mutating func noteGone(_ name: [UInt8]?, _ object: [UInt8]?, _ responder: ResponderTerms?) {
        if let responder {
            guard watch.isActive else { return }
            // Bound: selectors
            for name in responder.implements { noteCrossing(of: name, wasObserved: true) }
        } else if let name {
            if Report.isOfChannels(name) {
                watch.remove(watching: object)
            } else if watch.isActive {
                noteCrossing(of: name, wasObserved: true)
            }
        } else {
            namelessCount -= 1
            if namelessCount == 0, watch.isActive { watch.noteNameless(wasObserved: true) }
        }
    }

    /// Notes a name that is in no filter, before or after the present change.
    private mutating func noteCrossing(of name: [UInt8], wasObserved: Bool) {
        guard !isNamed(name), !name.starts(with: "belfry.".utf8) else { return }
        let wasNameless = watch.namelessBefore ?? (namelessCount > 0)
        watch.note(name, wasObserved: wasObserved || wasNameless)
    }

    private func isNamed(_ name: [UInt8]) -> Bool {
        index.channels.index(of: name.span).map { index.channels.isObserved(at: $0) } ?? false
    }

    /// Reports the changes of the turn that ends, until so much work is done.
    mutating func reportChannels(workLimit: Int) {
        if let before = watch.takeNameless(), before != (namelessCount > 0) {
            spread(wasObserved: before)
        }
        var work = 0
        while work == 0 || work < workLimit, let crossing = watch.next() {  // Share: crossings
            work += Work.ofEnd + watch.watcherCount
            let isObserved = namelessCount > 0 || isNamed(crossing.name)
            guard isObserved != crossing.wasObserved else { continue }
            reports.append(.channelChanged(name: crossing.name, isObserved: isObserved))
        }
    }

    /// Notes all unnamed names, as the first observer without a name came, or the last one left.
    private mutating func spread(wasObserved: Bool) {
        var names: [[UInt8]] = []
        watch.forEachName { names.append($0) }
        if watch.generalCount > 0 {
            index.channels.forEachUnobserved { names.append(index.channels.name(at: $0)) }
        }
        // Bound: spread
        for name in names where !isNamed(name) && !name.starts(with: "belfry.".utf8) {
            watch.note(name, wasObserved: wasObserved)
        }
    }
}
