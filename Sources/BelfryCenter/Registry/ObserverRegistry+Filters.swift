// What observers with finer filters mean for the limits, for watchers of names, and for reports.

extension ObserverRegistry {
    /// Checks the limits of prefixes and conditions, before anything changes.
    func checkFilters(
        of registrations: [ObserverRegistration], prefixLimit: Int, conditionLimit: Int
    ) throws(Refusal) {
        let counts = index.filterCounts(adding: registrations)
        if counts.prefixes > prefixLimit { throw .prefixesFull(limit: prefixLimit) }
        if counts.conditions > conditionLimit { throw .conditionsFull(limit: conditionLimit) }
    }

    /// The filter of an observer.
    func filter(of slot: UInt32) -> ObserverIndex.Filter {
        index.filter(of: observers[slot].place, observers.role(at: slot))
    }

    /// The one name that an observer gets; nil where there are more.
    func observedName(at slot: UInt32) -> [UInt8]? {
        // An observer under a grant with a condition is not told which of its names was lost.
        observers.isResponder(at: slot) || isUnderCondition(slot)
            ? nil : index.name(of: observers[slot].place)
    }

    /// The names that an observer gets; nil where they are not all known.
    func observedNames(at slot: UInt32) -> [[UInt8]]? {
        if observers.isResponder(at: slot) { return nil }
        let names = observers.filter(at: slot)?.names ?? []
        return names.isEmpty ? index.name(of: observers[slot].place).map { [$0] } : names
    }

    /// Whether the grants of an observer have a condition: it may not know of the rest (rule W11).
    func isUnderCondition(_ slot: UInt32) -> Bool {
        observers.filter(at: slot)?.grants.isEmpty == false
    }

    /// Whether an observer has a name, or a prefix of it, in its filter.
    func isNamed(_ name: [UInt8]) -> Bool {
        index.channels.index(of: name.span).map { index.channels.isObserved(at: $0) } == true
            || index.hasPrefix(of: name.span, isReserved: false)
    }

    /// The row of a channel in a listing; nil where there is no channel.
    func channelRow(at channel: UInt32) -> ChannelRow? {
        guard var row = index.channels.row(at: channel) else { return nil }
        row.observerCount += countOfMany(observing: row.name)
        return row
    }

    /// The row of a name, which may be observed before it is known as a channel.
    func channelRow(of name: [UInt8]) -> ChannelRow? {
        if let channel = index.channels.index(of: name.span) { return channelRow(at: channel) }
        let count = countOfMany(observing: name)
        if count == 0 { return nil }
        return ChannelRow(
            name: name, observerCount: count, namedCount: 0, postCount: 0, deliveryCount: 0,
            unmatchedCount: 0, lastPostedAt: nil)
    }

    /// How many observers of many names match a name: those with a prefix of it, and those of all.
    private func countOfMany(observing name: [UInt8]) -> Int {
        let isReserved = name.starts(with: "belfry.".utf8)
        let count =
            index.hasFilters
            ? index.filters.observerCount(withPrefixOf: name.span, isReserved: isReserved) : 0
        return isReserved ? count : count + namelessCount
    }

    /// Whether an observer has a prefix of a text: then all names that begin with it are observed.
    func hasPrefix(of text: [UInt8]) -> Bool { index.hasPrefix(of: text.span, isReserved: false) }

    /// The names of which watchers are told when an observer of many names comes or leaves.
    ///
    /// - Parameter prefixes: what a name begins with, one of them; nil for all names.
    func spreadNames(beginningWith prefixes: PrefixTable? = nil) -> [[UInt8]] {
        var names: [[UInt8]] = []
        if let prefixes {
            watch.forEachName(beginningWith: prefixes) { names.append($0) }
        } else {
            watch.forEachName { names.append($0) }
        }
        guard watch.generalCount > 0 else { return names }
        index.channels.forEachUnobserved { channel in
            let name = index.channels.name(at: channel)
            if prefixes?.hasPrefix(of: name.span) ?? true { names.append(name) }
        }
        return names
    }

    /// Notes a name that is in no filter, before or after the present change (rule L12).
    mutating func noteCrossing(of name: [UInt8], wasObserved: Bool) {
        guard !isNamed(name), !name.starts(with: "belfry.".utf8) else { return }
        let wasNameless = watch.namelessBefore ?? (namelessCount > 0)
        watch.note(name, wasObserved: wasObserved || wasNameless)
    }

    /// Notes the names that begin with one of these prefixes.
    mutating func noteCrossings(beginningWith prefixes: PrefixTable, wasObserved: Bool) {
        // Bound: spread
        for name in spreadNames(beginningWith: prefixes) {
            noteCrossing(of: name, wasObserved: wasObserved)
        }
    }

    /// Notes the names that may have lost their last observer by the prefixes that are gone.
    ///
    /// A client may leave with thousands of prefixes: each name is looked at once for all of them.
    mutating func noteGonePrefixes() {
        guard let prefixes = watch.takeGonePrefixes(), watch.isActive else { return }
        noteCrossings(beginningWith: prefixes, wasObserved: true)
    }

    /// Whether an observer names channels, and none of them was ever posted.
    func namesWereNeverPosted(of slot: UInt32) -> Bool {
        let names = observers.filter(at: slot)?.names ?? []
        let listed = names.compactMap { index.channels.index(of: $0.span) }
        let channel = observers[slot].place.channel
        let channels = channel == ObserverIndex.noList ? listed : [channel]
        return !channels.isEmpty && channels.allSatisfy { index.channels.postCount(at: $0) == 0 }
    }

    /// The difference between a notification and an observer that it nearly matches.
    ///
    /// - Parameter truth: what is known of the userInfo; it has begun with this notification.
    func nearness(
        of slot: UInt32, to content: Notification.Content, channel: UInt32,
        _ near: [UInt32: NearMiss.Reason], _ truth: inout ConditionTruth
    ) -> NearMiss.Reason? {
        let place = observers[slot].place
        let terms = observers.filter(at: slot)
        let wanted = index.object(of: place)
        let objectDiffers = wanted.map { content.objectText != $0 } ?? false
        guard let terms else {
            guard channel != ObserverIndex.noList, place.channel == channel else {
                return near[place.channel]
            }
            return objectDiffers ? .objectDiffers : nil
        }
        var others = terms.withoutCondition
        others.objectPrefix = nil
        let isNamed = place.channel != ObserverIndex.noList || terms.namesChannels
        guard place.channel == ObserverIndex.noList || place.channel == channel,
            others.cover(content)
        else {
            let named = terms.names.compactMap { index.channels.index(of: $0.span) }
            return (named + [place.channel]).compactMap { near[$0] }.first
        }
        others.objectPrefix = terms.objectPrefix
        if objectDiffers || !others.cover(content) { return isNamed ? .objectDiffers : nil }
        // The members of the userInfo are found once for all observers, and the work has a limit.
        guard let userInfo = content.userInfo,
            let condition = FilterCondition(terms, for: content.name)
        else { return nil }
        return truth.ask(condition, in: userInfo) == false ? .whereFalse : nil
    }
}
