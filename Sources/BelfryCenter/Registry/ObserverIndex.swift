/// Finds the observers of a notification: four look-ups and a merge (rules C2, C3 and C9).
///
/// Observers are filed by filter in one of four kinds of buckets: (name, object), (name, any),
/// (any, object) and (any, any). A post looks into one bucket of each kind; observers that do not
/// match cost nothing.
struct ObserverIndex: Footprinted, Sendable {
    private(set) var channels: ChannelTable
    private(set) var objects: KeyTable
    /// The observers with a prefix or a condition: one index, or none while nobody has one.
    ///
    /// It is in an array, so that this table stays small: a post copies it.
    private(set) var finer: [FilterIndex] = []
    /// For each object: its bucket (any, object), and how many observers name it.
    private var objectEntries: [ObjectEntry] = []
    private var pairLists: [UInt64: UInt32] = [:]
    private(set) var lists: [PostingList] = [PostingList()]
    private var freeLists: [UInt32] = []

    fileprivate struct ObjectEntry: Sendable {
        var list: UInt32 = noList
        var observerCount: UInt32 = 0
    }

    /// The list of the observers of everything.
    private static let wildcardList: UInt32 = 0
    /// The value for an empty bucket.
    static let noList = UInt32.max

    init(seed: HashSeed, unobservedNameLimit: Int) {
        channels = ChannelTable(seed: seed, unobservedNameLimit: unobservedNameLimit)
        objects = KeyTable(seed: seed)
    }

    /// The bytes that the index costs, with its channels.
    ///
    /// Each observer is in one list. The storage of a list is a block, which has room for two.
    var footprint: Int {
        let listCount = lists.count - freeLists.count
        return channels.footprint + objects.footprint + filterFootprint
            + objects.count * MemoryLayout<ObjectEntry>.stride
            + listCount
            * (MemoryLayout<PostingList>.stride
                + Footprint.array(of: 2, stride: MemoryLayout<PostingList.Entry>.stride))
            + Footprint.dictionary(
                capacity: pairLists.capacity,
                stride: MemoryLayout<UInt64>.stride + MemoryLayout<UInt32>.stride)
    }

    /// The bytes that the index of finer filters costs.
    var filterFootprint: Int {
        finer.isEmpty
            ? 0
            : Footprint.array(of: 1, stride: MemoryLayout<FilterIndex>.stride) + finer[0].footprint
    }

    /// Whether an observer has a prefix or a condition.
    @inline(__always)
    var hasFilters: Bool { !finer.isEmpty }

    /// The observers with a prefix or a condition.
    var filters: FilterIndex {
        _read {
            if finer.isEmpty { yield FilterIndex.nothing } else { yield finer[0] }
        }
        _modify {
            if finer.isEmpty { finer.append(FilterIndex()) }
            yield &finer[0]
            if finer[0].isUnused { finer = [] }
        }
    }

    /// How many conditions were evaluated for the notification that was matched last.
    var evaluationCount: UInt64 { finer.isEmpty ? 0 : finer[0].truth.evaluationCount }

    /// Forgets the oldest names without an observer until no more than so many are left.
    mutating func forgetUnobserved(downTo count: Int) { channels.forgetUnobserved(downTo: count) }

    /// How many observers name one of some channels.
    func observerCount(naming names: some Sequence<[UInt8]>) -> Int {
        names.reduce(0) { count, name in
            count + (channels.index(of: name.span).map { channels.observerCount(at: $0) } ?? 0)
        }
    }

    /// Whether it has no observer and no name.
    var isEmpty: Bool {
        channels.count == 0 && objects.count == 0 && pairLists.isEmpty && finer.isEmpty
            && lists.allSatisfy { $0.isEmpty } && freeLists.count == lists.count - 1
    }

    /// The place where a filter is filed; an observer keeps it as its filter.
    struct Place: Sendable, Equatable {
        /// The channel, or `noList`.
        var channel: UInt32 = noList
        /// The object, or `noList`.
        var object: UInt32 = noList
    }

    /// Adjusts the number of names without an observer that are remembered.
    mutating func configure(unobservedNameLimit: Int) {
        channels.unobservedNameLimit = unobservedNameLimit
    }

    /// The notification name of a place.
    func name(of place: Place) -> [UInt8]? {
        place.channel == Self.noList ? nil : channels.name(at: place.channel)
    }

    /// The object of a place.
    func object(of place: Place) -> [UInt8]? {
        place.object == Self.noList ? nil : objects.key(at: place.object)
    }

    /// Files an observer under its filter.
    mutating func add(name: [UInt8]?, object: [UInt8]?, serial: UInt64, slot: UInt32) -> Place {
        var place = Place()
        if let name { place.channel = channels.addObserver(name: name.span) }
        if let object { place.object = retain(object) }
        addEntry(serial, slot, at: place)
        return place
    }

    /// Puts an observer into the list of a place.
    mutating func addEntry(_ serial: UInt64, _ slot: UInt32, at place: Place) {
        lists[Int(list(making: place))].append(serial: serial, slot: slot)
    }

    /// Counts one more observer of a name, and returns its channel.
    mutating func retainChannel(_ name: [UInt8]) -> UInt32 { channels.addObserver(name: name.span) }

    /// Counts one observer of a channel less.
    mutating func releaseChannel(_ channel: UInt32) { channels.removeObserver(at: channel) }

    /// Files a responder under each name that it implements, with its object.
    ///
    /// Its place names the object alone.
    mutating func add(
        implementing names: [[UInt8]], object: [UInt8], serial: UInt64, slot: UInt32
    ) -> Place {
        let place = Place(object: retain(object))
        for name in names {  // Bound: selectors
            let pair = Place(
                channel: channels.addObserver(name: name.span), object: place.object)
            addEntry(serial, slot, at: pair)
        }
        return place
    }

    /// Counts one more observer of an object.
    mutating func retain(_ object: [UInt8]) -> UInt32 {
        let (index, isNew) = objects.insert(object.span)
        if isNew {
            if Int(index) == objectEntries.count { objectEntries.append(ObjectEntry()) }
            objectEntries[Int(index)] = ObjectEntry()
        }
        objectEntries[Int(index)].observerCount += 1
        return index
    }

    /// Counts one observer of an object less.
    mutating func release(_ object: UInt32) {
        objectEntries[Int(object)].observerCount -= 1
        if objectEntries[Int(object)].observerCount == 0 { objects.remove(at: object) }
    }

    /// Removes an observer.
    mutating func remove(serial: UInt64, from place: Place) {
        removeEntry(serial, from: place)
        if place.object != Self.noList { release(place.object) }
    }

    /// Removes a responder.
    mutating func remove(serial: UInt64, implementing names: [[UInt8]], from place: Place) {
        for name in names {  // Bound: selectors
            guard let channel = channels.index(of: name.span) else {
                preconditionFailure("a name that somebody observes is known")
            }
            removeEntry(serial, from: Place(channel: channel, object: place.object))
        }
        release(place.object)
    }

    mutating func removeEntry(_ serial: UInt64, from place: Place) {
        let list = list(making: place)
        lists[Int(list)].remove(serial: serial)
        if lists[Int(list)].isEmpty { discard(list, of: place) }
        if place.channel != Self.noList { channels.removeObserver(at: place.channel) }
    }

    /// The filter that the notifications of an observer match.
    struct Filter: Equatable {
        /// Its name and object; that of a responder names the object alone.
        let place: Place
        /// The channels that a responder implements; nil for other observers.
        var channels: [UInt32]?
        /// The terms of a finer filter.
        var terms: FilterTerms?

        /// Whether it matches a notification (rules C2, C3, R3, P1 and W1); nil past the work.
        func matches(
            _ content: ContentPlace, _ texts: Notification.Content, _ work: inout FilterWork
        ) -> Bool? {
            if let channels {
                return content.object == place.object
                    && content.channel.map { channels.contains($0) } ?? false
            }
            guard let terms else { return content.matches(place) }
            let namesOne = place.channel != noList || terms.namesChannels
            guard content.matches(place, isNamed: namesOne), terms.cover(texts) else {
                return false
            }
            guard let condition = FilterCondition(terms, for: texts.name) else { return true }
            return work.isTrue(condition, of: texts)
        }
    }

    /// The filter of an observer.
    func filter(of place: Place, _ role: ObserverRole) -> Filter {
        let implemented = role.responder?.implements.compactMap { channels.index(of: $0.span) }
        return Filter(place: place, channels: implemented, terms: role.filter)
    }

    /// The four buckets of a notification; an empty bucket is `noList`.
    struct Buckets {
        var lists: (UInt32, UInt32, UInt32, UInt32) = (noList, noList, noList, noList)
        /// How many of them are not empty; they come first.
        var count = 0

        mutating func add(_ list: UInt32) {
            guard list != noList else { return }
            switch count {
            case 0: lists.0 = list
            case 1: lists.1 = list
            case 2: lists.2 = list
            default: lists.3 = list
            }
            count += 1
        }
    }

    /// The buckets of a notification; those of a reserved channel name it in their filters.
    func buckets(channel: UInt32, object: Span<UInt8>?, isReserved: Bool) -> Buckets {
        isReserved
            ? namedBuckets(channel: channel, object: object)
            : buckets(channel: channel, object: object)
    }

    /// The buckets of the observers that name the channel of a notification.
    func namedBuckets(channel: UInt32, object: Span<UInt8>?) -> Buckets {
        var buckets = Buckets()
        guard channel != Self.noList else { return buckets }
        buckets.add(channels.list(at: channel))
        if let object, let index = objects.index(of: object),
            let pair = pairLists[Self.pairKey(channel, index)]
        {
            buckets.add(pair)
        }
        return buckets
    }

    /// The buckets in which the observers of a notification are filed.
    func buckets(channel: UInt32, object: Span<UInt8>?) -> Buckets {
        var buckets = Buckets()
        if channel != Self.noList { buckets.add(channels.list(at: channel)) }
        if let object, let index = objects.index(of: object) {
            buckets.add(objectEntries[Int(index)].list)
            if channel != Self.noList, let pair = pairLists[Self.pairKey(channel, index)] {
                buckets.add(pair)
            }
        }
        if !lists[Int(Self.wildcardList)].isEmpty { buckets.add(Self.wildcardList) }
        return buckets
    }

    /// The place of a filter; nil when its name or its object is not known.
    func place(ofName name: [UInt8]?, object: [UInt8]?) -> Place? {
        var place = Place()
        if let name {
            guard let channel = channels.index(of: name.span) else { return nil }
            place.channel = channel
        }
        if let object {
            guard let index = objects.index(of: object.span) else { return nil }
            place.object = index
        }
        return place
    }

    /// The numbers of the name and the object of a notification.
    struct ContentPlace {
        let channel: UInt32?
        let object: UInt32?
        let isReserved: Bool

        /// Whether the notification matches a filter (rules C2 and C3).
        ///
        /// - Parameter isNamed: whether the filter has a name, or other names in its place.
        func matches(_ filter: Place, isNamed: Bool = false) -> Bool {
            let matchesName =
                filter.channel == noList ? isNamed || !isReserved : filter.channel == channel
            return matchesName && (filter.object == noList || filter.object == object)
        }
    }

    /// Looks up the name and the object of a notification, for comparing them with filters.
    func place(of content: Notification.Content) -> ContentPlace {
        var object: UInt32?
        if let text = content.object { object = objects.index(of: text) }
        return ContentPlace(
            channel: channels.index(of: content.name), object: object,
            isReserved: content.isReserved)
    }

    /// Counts a post of a name, and returns its channel.
    mutating func countPost(name: Span<UInt8>, _ sequence: UInt64, at time: Int64) -> UInt32 {
        channels.countPost(name: name, sequence, at: time)
    }

    /// Counts a post of this channel that was matched, and its deliveries.
    mutating func noteMatch(channel: UInt32, deliveryCount: UInt32) {
        channels.noteMatch(at: channel, deliveryCount: deliveryCount)
    }

    private static func pairKey(_ channel: UInt32, _ object: UInt32) -> UInt64 {
        UInt64(channel) << 32 | UInt64(object)
    }

    /// The list of a place, made if there is none.
    private mutating func list(making place: Place) -> UInt32 {
        switch (place.channel != Self.noList, place.object != Self.noList) {
        case (false, false):
            return Self.wildcardList
        case (true, false):
            if channels.list(at: place.channel) == Self.noList {
                channels.setList(newList(), at: place.channel)
            }
            return channels.list(at: place.channel)
        case (false, true):
            if objectEntries[Int(place.object)].list == Self.noList {
                objectEntries[Int(place.object)].list = newList()
            }
            return objectEntries[Int(place.object)].list
        case (true, true):
            let key = Self.pairKey(place.channel, place.object)
            if let list = pairLists[key] { return list }
            let list = newList()
            pairLists[key] = list
            return list
        }
    }

    private mutating func newList() -> UInt32 {
        if let list = freeLists.popLast() { return list }
        lists.append(PostingList())
        return UInt32(lists.count - 1)
    }

    private mutating func discard(_ list: UInt32, of place: Place) {
        guard list != Self.wildcardList else { return }
        switch (place.channel != Self.noList, place.object != Self.noList) {
        case (false, false): return
        case (true, false): channels.setList(Self.noList, at: place.channel)
        case (false, true): objectEntries[Int(place.object)].list = Self.noList
        case (true, true): pairLists[Self.pairKey(place.channel, place.object)] = nil
        }
        lists[Int(list)] = PostingList()
        freeLists.append(list)
        // Tables that were large once give their storage back.
        if freeLists.count == lists.count - 1, lists.count > 64, lists[0].isEmpty {
            lists = [PostingList()]
            freeLists = []
            pairLists = [:]
        }
    }
}

extension ObserverIndex.Place: Coded {
    init(_ known: ObserverIndex.Place?, by coder: inout some Coder) throws(CodeError) {
        channel = try coder(known?.channel)
        object = try coder(known?.object)
    }
}

extension ObserverIndex.ObjectEntry: Coded {
    init(_ known: ObserverIndex.ObjectEntry?, by coder: inout some Coder) throws(CodeError) {
        list = try coder(known?.list)
        observerCount = try coder(known?.observerCount)
    }
}

extension ObserverIndex: Coded {
    init(_ known: ObserverIndex?, by coder: inout some Coder) throws(CodeError) {
        channels = try coder(known?.channels)
        objects = try coder(known?.objects)
        objectEntries = try coder(known?.objectEntries)
        pairLists = try coder.table(known?.pairLists)
        lists = try coder(known?.lists)
        freeLists = try coder(known?.freeLists)
    }
}
