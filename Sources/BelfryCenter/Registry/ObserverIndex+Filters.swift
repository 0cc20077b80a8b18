import BelfryBytes

// The observers with filter terms: a set of names is in several lists, as a responder is, and the
// index of filters has those with a prefix or a condition.

extension ObserverIndex {
    /// Files an observer under its terms.
    ///
    /// Its place has its name and its object, if it names one of each.
    mutating func add(
        _ terms: FilterTerms, name: [UInt8]?, object: [UInt8]?, serial: UInt64, slot: UInt32
    ) -> Place {
        var place = Place()
        if let name { place.channel = retainChannel(name) }
        for name in terms.names { _ = retainChannel(name) }  // Bound: terms
        if let object { place.object = retain(object) }
        for pair in pairs(of: terms, at: place) {  // Bound: terms
            if pair.isFiner {
                add(pair, terms, serial, slot)
            } else {
                addEntry(serial, slot, at: pair.place)
            }
        }
        return place
    }

    /// Files an observer of a state that was read, whose lists and channels were read with it.
    mutating func addRead(_ terms: FilterTerms, at place: Place, serial: UInt64, slot: UInt32) {
        // Bound: terms
        for pair in pairs(of: terms, at: place) where pair.isFiner {
            add(pair, terms, serial, slot)
        }
    }

    /// Removes an observer with terms.
    mutating func remove(_ terms: FilterTerms, serial: UInt64, from place: Place) {
        for pair in pairs(of: terms, at: place) {  // Bound: terms
            guard pair.isFiner else {
                removeEntry(serial, from: pair.place)
                continue
            }
            let (name, object) = keys(of: pair, terms)
            filters.remove(name: name, object: object, pair.condition, serial: serial)
            if terms.namePrefix != nil { filters.release(name: name) }
            if terms.objectPrefix != nil { filters.release(object: object) }
            if pair.place.channel != Self.noList { releaseChannel(pair.place.channel) }
        }
        if place.object != Self.noList { release(place.object) }
    }

    /// How many prefixes and conditions the index would have with more observers.
    ///
    /// Those that some observers share count once.
    func filterCounts(adding registrations: [ObserverRegistration]) -> (
        prefixes: Int, conditions: Int
    ) {
        var (names, objects, conditions) = (Set<[UInt8]>(), Set<[UInt8]>(), Set<[UInt8]>())
        for registration in registrations {  // Bound: registrations
            guard let terms = registration.role.filter else { continue }
            if let prefix = terms.namePrefix, filters.key(namePrefix: prefix.span) == nil {
                names.insert(prefix)
            }
            if let prefix = terms.objectPrefix, filters.key(objectPrefix: prefix.span) == nil {
                objects.insert(prefix)
            }
            let listed = terms.names.isEmpty ? [registration.name ?? []] : terms.names
            for name in listed {  // Bound: terms
                guard let condition = FilterCondition(terms, for: name.span),
                    !filters.conditions.contains(condition)
                else { continue }
                conditions.insert(condition.key)
            }
        }
        return (
            filters.names.count + filters.objects.count + names.count + objects.count,
            filters.conditions.count + conditions.count
        )
    }

    /// A name and an object under which an observer is filed.
    private struct Pair {
        let place: Place
        let condition: FilterCondition?
        /// Whether it has a prefix or a condition.
        let isFiner: Bool
    }

    private func pairs(of terms: FilterTerms, at place: Place) -> [Pair] {
        let hasPrefix = terms.namePrefix != nil || terms.objectPrefix != nil
        func pair(_ place: Place, _ name: [UInt8]) -> Pair {
            let condition = FilterCondition(terms, for: name.span)
            return Pair(place: place, condition: condition, isFiner: hasPrefix || condition != nil)
        }
        if terms.names.isEmpty { return [pair(place, name(of: place) ?? [])] }
        return terms.names.map { name in
            guard let channel = channels.index(of: name.span) else {
                preconditionFailure("a name that somebody observes is known")
            }
            return pair(Place(channel: channel, object: place.object), name)
        }
    }

    private mutating func add(
        _ pair: Pair, _ terms: FilterTerms, _ serial: UInt64, _ slot: UInt32
    ) {
        let name = terms.namePrefix.map { filters.retain(namePrefix: $0.span) }
        let object = terms.objectPrefix.map { filters.retain(objectPrefix: $0.span) }
        filters.add(
            name: name ?? pair.place.channel, object: object ?? pair.place.object,
            pair.condition, serial: serial, slot: slot)
    }

    private func keys(of pair: Pair, _ terms: FilterTerms) -> (FilterIndex.Key, FilterIndex.Key) {
        let name = terms.namePrefix.flatMap { filters.key(namePrefix: $0.span) }
        let object = terms.objectPrefix.flatMap { filters.key(objectPrefix: $0.span) }
        return (name ?? pair.place.channel, object ?? pair.place.object)
    }
}

// MARK: - Finding

extension ObserverIndex {
    /// How many entries the buckets have, dead ones too.
    func observerBound(in buckets: Buckets) -> Int {
        let all = [buckets.lists.0, buckets.lists.1, buckets.lists.2, buckets.lists.3]
        return all.prefix(buckets.count).reduce(0) { $0 + lists[Int($1)].entries.count }
    }

    /// An upper bound of the observers of a notification, with the looks for their filters.
    func observerBound(of content: Notification.Content) -> Int {
        let channel = channels.index(of: content.name) ?? Self.noList
        var bound = observerBound(
            in: buckets(
                channel: channel, object: content.object, isReserved: content.isReserved))
        let (pairs, lookCount) = pairs(of: content, channel: channel)
        pairs.forEach { groups in
            // Bound: observers
            for group in groups {
                bound += group.list.entries.count + (group.condition == nil ? 0 : 1)
            }
        }
        return bound + lookCount
    }

    /// Whether an observer names a reserved channel, or has a prefix of it.
    func observes(reserved name: Span<UInt8>) -> Bool {
        channels.index(of: name).map { channels.isObserved(at: $0) } == true
            || hasPrefix(of: name, isReserved: true)
    }

    /// Whether an observer has a prefix of a name.
    func hasPrefix(of name: Span<UInt8>, isReserved: Bool) -> Bool {
        hasFilters && finer[0].hasPrefix(of: name, isReserved: isReserved)
    }

    /// Appends the slot of each observer in the buckets, in registration order.
    func appendSlots(in buckets: Buckets, to slots: inout [UInt32]) {
        guard buckets.count != 1 else {
            return lists[Int(buckets.lists.0)].appendSlots(to: &slots)
        }
        var merge = PostingMerge(buckets, lists: lists)
        while let slot = merge.next(lists) { slots.append(slot) }  // Bound: observers
    }

    /// Calls the visitor with the slot of each observer of a notification, while it returns true.
    ///
    /// Observers below the serial number are skipped; the others come in registration order. The
    /// conditions of observers are not asked for: the visitor gets their numbers.
    func forEachSlot(
        of content: Notification.Content, from serial: UInt64 = 0,
        while visit: (UInt32, ConditionTable.Index?) -> Bool
    ) {
        let channel = channels.index(of: content.name) ?? Self.noList
        let buckets = buckets(
            channel: channel, object: content.object, isReserved: content.isReserved)
        guard hasFilters else {
            var merge = PostingMerge(buckets, lists: lists, from: serial)
            while let slot = merge.next(lists), visit(slot, nil) {}  // Bound: observers
            return
        }
        var found = entries(in: buckets, from: serial).map { ($0, ConditionTable.Index?.none) }
        pairs(of: content, channel: channel).groups.forEach { groups in
            for group in groups {  // Bound: observers
                let entries = group.list.entries
                // Bound: observers
                for entry in entries[group.list.position(from: serial)...] where !entry.isDead {
                    found.append((entry, group.condition))
                }
            }
        }
        found.sort { $0.0.serial < $1.0.serial }
        for (entry, condition) in found {  // Bound: observers
            guard visit(entry.slot, condition) else { return }
        }
    }

    /// Appends the slot of each observer of a notification, in registration order.
    ///
    /// It is the way of a center with filter terms: the conditions decide here.
    ///
    /// - Returns: The observers whose conditions were past the limit of work.
    @inline(__always)
    mutating func appendSlots(
        in buckets: Buckets, of content: Notification.Content, channel: UInt32,
        to slots: inout [UInt32]
    ) -> [UInt32] {
        var found: [PostingList.Entry] = []
        let unasked = filters.match(
            content, channel: channel, object: objectKey(of: content), to: &found)
        if found.isEmpty {
            if buckets.count > 0 { appendSlots(in: buckets, to: &slots) }
            return unasked
        }
        found += entries(in: buckets, from: 0)
        if found.count > 1 { found.sort { $0.serial < $1.serial } }
        for index in found.indices { slots.append(found[index].slot) }  // Bound: observers
        return unasked
    }

    private func entries(in buckets: Buckets, from serial: UInt64) -> [PostingList.Entry] {
        var entries: [PostingList.Entry] = []
        if buckets.count == 0 { return entries }
        let all = [buckets.lists.0, buckets.lists.1, buckets.lists.2, buckets.lists.3]
        for list in all.prefix(buckets.count) {  // Bound: few
            let list = lists[Int(list)]
            entries += list.entries[list.position(from: serial)...].filter { !$0.isDead }
        }
        return entries
    }

    private func pairs(
        of content: Notification.Content, channel: UInt32
    ) -> (groups: FewList<[FilterIndex.Group]>, lookCount: Int) {
        guard hasFilters else { return (FewList(), 0) }
        return finer[0].pairs(of: content, channel: channel, object: objectKey(of: content))
    }

    @inline(__always)
    private func objectKey(of content: Notification.Content) -> FilterIndex.Key {
        guard let object = content.object else { return FilterIndex.any }
        return objects.index(of: object) ?? FilterIndex.any
    }
}
