// Names get their first observer and lose their last one: their posters may want to know (rule L12).
//
// A name is observed by who names it, and by who names none. Where nobody watches, a registration pays for one look;
// where somebody does, it notes its own names, and the end of the turn finds out what has changed. The first observer
// without a name, and the last one that goes, change the names that are watched; for who watches all names also
// those that were posted lately without an observer, which the center remembers (`unobservedNameLimit`).

extension NotificationCenter {
    /// An observer is about to be filed: some names may get their first one, unless it observes a value (rule V13).
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

    /// An observer that is none of a value was taken out: some names may have lost their last one.
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

    /// Notes a name that nobody names, now or from now on.
    private mutating func noteCrossing(of name: [UInt8], wasObserved: Bool) {
        guard !isNamed(name), !name.starts(with: "belfry.".utf8) else { return }
        let wasNameless = watch.namelessBefore ?? (namelessCount > 0)
        watch.note(name, wasObserved: wasObserved || wasNameless)
    }

    private func isNamed(_ name: [UInt8]) -> Bool {
        index.channels.index(of: name.span).map { index.channels.isObserved(at: $0) } ?? false
    }

    /// The turn is over: reports what has changed in it, until so much work is done.
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

    /// The first observer without a name has come, or the last one has gone: names that nobody names are noted.
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
