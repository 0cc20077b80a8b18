/// The notification names that a center knows: those with observers, and some that were posted.
///
/// Names without an observer are remembered for the report of never-matched names (rule C17), up to
/// a limit; then the oldest is forgotten.
struct ChannelTable: Footprinted, Sendable {
    private var names: KeyTable
    private var channels: [Channel] = []
    /// Names that lost or never had an observer, oldest first.
    private var unobserved = Ring<Unobserved>()
    /// The last post of the names that were forgotten.
    private(set) var forgotten = LossMark()
    /// How many names without an observer are remembered now.
    private(set) var unobservedCount = 0
    /// How many names without an observer are remembered.
    var unobservedNameLimit: Int {
        didSet { trimUnobserved() }
    }

    fileprivate struct Channel: Sendable {
        /// The bucket (name, any), or `noList`.
        var list = ObserverIndex.noList
        /// Observers that have this name in their filter.
        var observerCount: UInt32 = 0
        var postCount: UInt64 = 0
        var lastPostedAt = Int64.min
        /// The number of the last post; 0 where that is not known.
        var lastSequence: UInt64 = 0
        /// Posts that an observer matched, and how often they were delivered at once.
        var matchedCount: UInt64 = 0
        var deliveryCount: UInt64 = 0
        /// How often the channel lost its observers; a stale ring entry has another stamp.
        var stamp: UInt32 = 0

        /// The last post.
        var last: LossMark { LossMark(sequence: lastSequence, postedAt: lastPostedAt) }

        mutating func countPost(_ sequence: UInt64, at time: Int64) {
            postCount += 1
            (lastSequence, lastPostedAt) = (sequence, time)
        }
    }

    /// A channel that lost its observers, with the stamp that it had then.
    fileprivate struct Unobserved: Sendable {
        let channel: UInt32
        let stamp: UInt32
    }

    init(seed: HashSeed, unobservedNameLimit: Int) {
        names = KeyTable(seed: seed)
        self.unobservedNameLimit = unobservedNameLimit
    }

    /// The bytes that the table costs.
    var footprint: Int {
        names.footprint + names.count * MemoryLayout<Channel>.stride + unobserved.footprint
    }

    /// Forgets the oldest names without an observer until no more than so many are left.
    mutating func forgetUnobserved(downTo count: Int) {
        trimUnobserved(to: count)
        unobserved.shrink()
    }

    /// How many names the table has.
    var count: Int { names.count }

    /// The bytes of the names, about.
    var byteCount: Int { names.byteCount }

    /// One past the largest channel index.
    var indexLimit: Int { names.indexLimit }

    func name(at index: UInt32) -> [UInt8] { names.key(at: index) }
    func list(at index: UInt32) -> UInt32 { channels[Int(index)].list }
    func postCount(at index: UInt32) -> UInt64 { channels[Int(index)].postCount }
    func wasMatched(at index: UInt32) -> Bool { channels[Int(index)].matchedCount > 0 }
    func isObserved(at index: UInt32) -> Bool { channels[Int(index)].observerCount > 0 }
    func observerCount(at index: UInt32) -> Int { Int(channels[Int(index)].observerCount) }
    func index(of name: Span<UInt8>) -> UInt32? { names.index(of: name) }
    mutating func setList(_ list: UInt32, at index: UInt32) { channels[Int(index)].list = list }

    /// The row of a channel, with the observers that name it; nil where there is no channel.
    func row(at index: UInt32) -> ChannelRow? {
        let name = names.key(at: index)
        guard !name.isEmpty else { return nil }
        let channel = channels[Int(index)]
        return ChannelRow(
            name: name, observerCount: Int(channel.observerCount),
            namedCount: Int(channel.observerCount), postCount: channel.postCount,
            deliveryCount: channel.deliveryCount,
            unmatchedCount: channel.postCount - channel.matchedCount,
            lastPostedAt: channel.postCount == 0 ? nil : channel.lastPostedAt)
    }

    /// Counts an observer of a name, and returns the channel.
    mutating func addObserver(name: Span<UInt8>) -> UInt32 {
        let (index, isNew) = insert(name)
        if channels[Int(index)].observerCount == 0, !isNew { unobservedCount -= 1 }
        channels[Int(index)].observerCount += 1
        return index
    }

    /// Removes an observer of a channel.
    mutating func removeObserver(at index: UInt32) {
        channels[Int(index)].observerCount -= 1
        guard channels[Int(index)].observerCount == 0 else { return }
        if channels[Int(index)].postCount == 0 {
            names.remove(at: index)
        } else {
            noteUnobserved(index)
        }
    }

    /// Counts a post of a name, and returns its channel.
    mutating func countPost(
        name: Span<UInt8>, _ sequence: UInt64 = 0, at time: Int64
    ) -> UInt32 {
        let (index, isNew) = insert(name)
        channels[Int(index)].countPost(sequence, at: time)
        if isNew { noteUnobserved(index) }
        return index
    }

    /// The last post of a name; nil for a name that is not known.
    func lastPost(of name: Span<UInt8>) -> LossMark? {
        guard let index = index(of: name), channels[Int(index)].lastSequence > 0 else {
            return nil
        }
        return channels[Int(index)].last
    }

    /// The last post of those names that begin with a prefix, and of names that are forgotten.
    func lastPost(beginningWith prefix: [UInt8], _ isWanted: ([UInt8]) -> Bool) -> LossMark {
        var last = forgotten
        for index in channels.indices  // Bound: names
        where channels[index].lastSequence > last.sequence {
            let name = names.key(at: UInt32(index))
            guard name.starts(with: prefix), isWanted(name) else { continue }
            last.raise(to: channels[index].last)
        }
        return last
    }

    /// Counts a post of this channel that was matched, and its deliveries.
    mutating func noteMatch(at index: UInt32, deliveryCount: UInt32) {
        channels[Int(index)].matchedCount += 1
        channels[Int(index)].deliveryCount += UInt64(deliveryCount)
    }

    /// Calls the visitor with each channel without an observer, the next one to be forgotten first.
    func forEachUnobserved(_ visit: (UInt32) -> Void) {
        var position = unobserved.startPosition
        while position < unobserved.endPosition {  // Bound: names
            let entry = unobserved[position]
            if isCurrent(entry) { visit(entry.channel) }
            position += 1
        }
    }

    /// Whether an entry still describes a channel without an observer.
    private func isCurrent(_ entry: Unobserved) -> Bool {
        channels[Int(entry.channel)].stamp == entry.stamp
            && channels[Int(entry.channel)].observerCount == 0
            && !names.key(at: entry.channel).isEmpty
    }

    private mutating func insert(_ name: Span<UInt8>) -> (index: UInt32, isNew: Bool) {
        let (index, isNew) = names.insert(name)
        guard isNew else { return (index, false) }
        if Int(index) == channels.count {
            channels.append(Channel())
        } else {
            let stamp = channels[Int(index)].stamp
            channels[Int(index)] = Channel()
            channels[Int(index)].stamp = stamp &+ 1
        }
        return (index, true)
    }

    private mutating func noteUnobserved(_ index: UInt32) {
        channels[Int(index)].stamp &+= 1
        unobserved.append(Unobserved(channel: index, stamp: channels[Int(index)].stamp))
        unobservedCount += 1
        trimUnobserved()
        // Entries of names that have observers again, or are forgotten, only wait to be skipped.
        if unobserved.count > 4 * unobservedCount + 64 { discardStale() }
    }

    private mutating func trimUnobserved() { trimUnobserved(to: unobservedNameLimit) }

    private mutating func trimUnobserved(to limit: Int) {
        while unobservedCount > limit, let oldest = unobserved.first {  // Bound: names
            unobserved.removeFirst()
            guard isCurrent(oldest) else { continue }
            unobservedCount -= 1
            forgotten.raise(to: channels[Int(oldest.channel)].last)
            names.remove(at: oldest.channel)
        }
    }

    /// Keeps only the entries that still describe a channel without an observer, in their order.
    private mutating func discardStale() {
        var current = Ring<Unobserved>()
        while let oldest = unobserved.first {  // Bound: names
            unobserved.removeFirst()
            if isCurrent(oldest) { current.append(oldest) }
        }
        unobserved = current
    }
}

extension ChannelTable.Channel: Coded {
    init(_ known: ChannelTable.Channel?, by coder: inout some Coder) throws(CodeError) {
        list = try coder(known?.list)
        observerCount = try coder(known?.observerCount)
        postCount = try coder(known?.postCount)
        lastPostedAt = try coder(known?.lastPostedAt)
        lastSequence = known?.lastSequence ?? 0
        matchedCount = try coder(known?.matchedCount)
        deliveryCount = try coder(known?.deliveryCount)
        stamp = try coder(known?.stamp)
    }
}

extension ChannelTable.Unobserved: Coded {
    init(_ known: ChannelTable.Unobserved?, by coder: inout some Coder) throws(CodeError) {
        channel = try coder(known?.channel)
        stamp = try coder(known?.stamp)
    }
}

extension ChannelTable: Coded {
    init(_ known: ChannelTable?, by coder: inout some Coder) throws(CodeError) {
        names = try coder(known?.names)
        channels = try coder(known?.channels)
        unobserved = try coder(known?.unobserved)
        unobservedCount = try coder(known?.unobservedCount)
        unobservedNameLimit = try coder(known?.unobservedNameLimit)
    }
}
