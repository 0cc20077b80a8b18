import BelfryBytes

/// The archives of a center: what it keeps of channels for whoever comes later (rules A1 to A18).
///
/// An archive is not an observer. Commands alone decide here which notification is kept and which
/// one is removed; the store follows.
public struct Archives: Footprinted, Sendable {
    /// One archive.
    struct Archive: Sendable {
        let name: ArchiveName
        var terms: ArchiveTerms
        /// The last number before it began.
        var since: UInt64
        var rows = Chain()
        var byteCount = 0
        /// The first row whose age is not known to be over; those before stay by `keepLast` alone.
        var young = Chain.none
        /// Rows up to this number keep the terms; past it a change of terms is under way.
        var fittedThrough = UInt64.max
        /// The losses of all of its kinds, and the last of their channels before they began.
        var marks = LossMarks()
        var began = LossMark()
        /// The losses of kinds that it forgot whole.
        var forgotten = LossMarks()
        /// The least age of the archives that may keep its channels.
        var leastAge: Int64?
        /// Whether it was removed; its rows go in shares, and nobody reads them.
        var isEnded = false
        /// The last number before it was made, where it began anew with a life of the broker.
        ///
        /// Nothing is known of what it had lost before.
        var madeAbove: UInt64?
        /// Whether the slot has no archive any more.
        var isFree = false

        /// Whether its center must stay: each center has those of the configuration file anyway.
        var isOfUse: Bool { !isFree && (isEnded || !terms.isConfigured || rows.count > 0) }

        var isAnew: Bool { madeAbove != nil }
        /// The last number before it was made, in whichever life.
        var origin: UInt64 { madeAbove ?? since }
        /// The losses of channels that it may have had and does not know.
        var lostWhole: LossMarks {
            var marks = forgotten
            // One that began anew does not know the channels of before.
            if isAnew { marks.passed.raise(to: began) }
            return marks
        }

        mutating func add(_ row: UInt32, in rows: inout KeptRows) {
            rows.insert(row, into: &self.rows, .ofArchive)
            if young == Chain.none { young = row }
            byteCount += rows.byteCount(of: row)
        }

        mutating func remove(_ row: UInt32, from rows: inout KeptRows) {
            if young == row { young = rows.next(after: row, in: .ofArchive) }
            rows.remove(row, from: &self.rows, .ofArchive)
            byteCount -= rows.byteCount(of: row)
        }
    }

    var slots: [Archive] = []
    private var exact: KeyTable
    private var exactSlots: [UInt32] = []
    private var prefixes = PrefixTable()
    private var prefixSlots: [PrefixTable.Index: UInt32] = [:]
    /// How many archives there are; those that were removed do not count.
    public private(set) var count = 0
    /// The bytes that all of them may keep.
    public private(set) var reservedByteCount = 0

    var rows = KeptRows()
    var kinds: ArchivedKinds
    /// The ends of `ttl`, by numbers.
    var expiries = DeadlineHeap<UInt64>()
    /// The next time at which an age may be over, on the monotonic clock.
    var ageDeadline = Int64.max
    /// Archives of which rows go in shares.
    var unfitted: [UInt32] = []
    /// How often something was let go or terms began, after which the replay ring shows others.
    ///
    /// Readers look for losses only then.
    var lossCount: UInt64 = 0
    /// Observers that read the past, by the slots of their clients.
    var readers = CountedTable<UInt32, PastReader>()
    /// The newest of those that were removed while no archive had their channels.
    var orphaned = LossMark()
    /// Numbers that age or a removal has ended: the replay ring must not have them either.
    var ended: [UInt64] = []
    /// Changes that must last, since the host took them last.
    var changes: [Change] = []
    /// Whether it has the archives of the configuration file.
    var isConfigured: Bool
    /// Whether there is a store.
    let isDurable: Bool

    init(limits: CenterLimits, seed: HashSeed) {
        (isConfigured, isDurable) = (limits.archives.isEmpty, limits.isDurable)
        exact = KeyTable(seed: seed)
        kinds = ArchivedKinds(seed: seed)
    }

    /// Whether it knows of losses besides those of the replay ring.
    var knowsLosses: Bool { isUsed || orphaned.sequence > 0 }

    /// Whether an archive has an age.
    var hasAges: Bool { slots.contains { $0.terms.age != nil } }

    /// Whether there is an archive, or was one.
    private(set) var isUsed = false

    var footprint: Int {
        rows.footprint + kinds.footprint + expiries.footprint + exact.footprint
            + prefixes.footprint + readers.footprint
            + Footprint.array(of: slots.count, stride: MemoryLayout<Archive>.stride)
    }

    /// Ends the reading of an observer; tells whether its client reads on.
    mutating func endReading(at slot: UInt32, of client: UInt32) -> Bool {
        readers[client]?.remove(slot)
        if readers[client]?.members.isEmpty == true { readers[client] = nil }
        return readers[client] != nil
    }

    /// Takes the numbers that the replay ring must not have any more.
    mutating func takeEnded() -> [UInt64] {
        if ended.isEmpty { return [] }
        defer { ended.removeAll(keepingCapacity: ended.capacity <= 1_024) }
        return ended
    }

    /// Takes the changes that must last.
    mutating func takeChanges() -> [Change] {
        if changes.isEmpty { return [] }
        defer { changes.removeAll(keepingCapacity: changes.capacity <= 1_024) }
        return changes
    }

    // MARK: Archives

    /// The archive that keeps a channel: that of its name, else of its longest prefix (rule A1).
    ///
    /// A prefix that does not begin with `belfry.` has no reserved channel (rule A15).
    func archive(of name: Span<UInt8>, isReserved: Bool) -> UInt32? {
        if count == 0 { return nil }
        if let index = exact.index(of: name) { return exactSlots[Int(index)] }
        if prefixes.count == 0 { return nil }
        var found: UInt32?
        prefixes.forEachPrefix(
            of: name, leastByteCount: isReserved ? FilterTerms.reservedByteCount : 0
        ) { found = prefixSlots[$0] }
        return found
    }

    /// The slot of an archive.
    func slot(of name: ArchiveName) -> UInt32? {
        if name.isPrefix { return prefixes.index(of: name.text.span).flatMap { prefixSlots[$0] } }
        return exact.index(of: name.text.span).map { exactSlots[Int($0)] }
    }

    /// The archives in the order of their names, those of one channel first.
    public func listing() -> [ArchiveRow] {
        slots.indices.compactMap { row(of: UInt32($0)) }.sorted {
            $0.name.isPrefix == $1.name.isPrefix
                ? $0.name.text.lexicographicallyPrecedes($1.name.text) : $1.name.isPrefix
        }
    }

    /// An archive as listings show it; nil where there is none.
    public func row(named name: ArchiveName) -> ArchiveRow? {
        slot(of: name).flatMap { row(of: $0) }
    }

    /// Whether an archive keeps a channel.
    public func keep(_ name: [UInt8]) -> Bool {
        archive(of: name.span, isReserved: name.starts(with: Self.reserved)) != nil
    }

    private func row(of slot: UInt32) -> ArchiveRow? {
        let archive = slots[Int(slot)]
        if archive.isEnded { return nil }
        let ends = [archive.rows.first, archive.rows.last].map {
            $0 == Chain.none ? 0 : rows[$0].notification.sequence
        }
        return ArchiveRow(
            name: archive.name, terms: archive.terms, since: archive.since,
            keptCount: archive.rows.count, keptByteCount: archive.byteCount,
            firstSequence: ends[0], lastSequence: ends[1])
    }

    /// Makes an archive, or changes its terms; what no longer fits goes, in shares.
    ///
    /// - Parameter began: The last notification of its channels that no archive kept.
    mutating func put(
        _ name: ArchiveName, _ terms: ArchiveTerms, since: UInt64, after began: LossMark,
        at time: CommandTime
    ) {
        guard let slot = slot(of: name) else {
            var archive = Archive(name: name, terms: terms, since: since)
            archive.began = began
            archive.forgotten.ended = orphaned.sequence < began.sequence ? orphaned : began
            return add(archive)
        }
        var archive = slots[Int(slot)]
        reservedByteCount += terms.byteLimit - archive.terms.byteLimit
        // Other kinds than before, or another memory of them: all are forgotten whole.
        if terms.isStored && !archive.terms.isStored || terms.each != archive.terms.each {
            // The store knows nothing of the life before either.
            archive.forgotten = archive.lostWhole
            archive.forgotten.raise(to: archive.marks)
        }
        archive.terms = terms
        archive.fittedThrough = 0
        archive.young = archive.rows.first
        slots[Int(slot)] = archive
        noteLeastAges(around: name)
        lossCount += 1
        note(slot)
        if !unfitted.contains(slot) { unfitted.append(slot) }
        fit(limit: Self.shareOfCommand, at: time)
        noteAges(at: time)
    }

    /// A slot without an archive.
    static var free: Archive {
        var archive = Archive(
            name: ArchiveName([], isPrefix: false), terms: ArchiveTerms(), since: 0)
        (archive.isEnded, archive.isFree) = (true, true)
        return archive
    }

    /// Adds an archive, at a restart in the slot that it had.
    mutating func add(_ archive: Archive, at wanted: UInt32? = nil) {
        let free = slots.firstIndex { $0.isFree }
        let slot = wanted ?? UInt32(free ?? slots.count)
        while slots.count <= Int(slot) { slots.append(Self.free) }  // Bound: few
        slots[Int(slot)] = archive
        isUsed = true
        lossCount += 1
        if archive.isEnded {
            unfitted.append(slot)
        } else {
            list(archive, slot)
        }
        noteLeastAges(around: archive.name)
        note(slot)
    }

    /// Restores a kept notification.
    mutating func addRestored(
        _ notification: Notification, in slot: UInt32, at time: CommandTime
    ) {
        let content = notification.content
        let isOfObject = slots[Int(slot)].terms.each == .object
        let kind =
            kinds.use(content, in: slot, isOfObject: isOfObject)
            ?? kinds.use(ArchivedKindKey(content, in: slot, isOfObject: isOfObject)).number
        let row = rows.append(notification, kind: kind)
        rows[row].isStored = true
        link(row, kind, slot)
    }

    private mutating func list(_ archive: Archive, _ slot: UInt32) {
        count += 1
        reservedByteCount += archive.terms.byteLimit
        if archive.name.isPrefix {
            prefixSlots[prefixes.insert(archive.name.text.span)] = slot
            return
        }
        let index = Int(exact.insert(archive.name.text.span).index)
        while exactSlots.count <= index { exactSlots.append(0) }  // Bound: few
        exactSlots[index] = slot
    }

    /// Removes an archive; its rows go in shares.
    mutating func end(_ name: ArchiveName, at time: CommandTime) {
        guard let slot = slot(of: name) else { return }
        let archive = slots[Int(slot)]
        count -= 1
        reservedByteCount -= archive.terms.byteLimit
        if name.isPrefix, let index = prefixes.index(of: name.text.span) {
            prefixes.remove(index)
            prefixSlots[index] = nil
        } else if let index = exact.index(of: name.text.span) {
            exact.remove(at: index)
        }
        slots[Int(slot)].isEnded = true
        noteLeastAges(around: name)
        handOn(archive, slot)
        note(slot)
        if !unfitted.contains(slot) { unfitted.append(slot) }
        fit(limit: Self.shareOfCommand, at: time)
    }

    // MARK: Keeping

    /// The most kinds of a center.
    static let kindLimit = 1_000_000
    /// How many rows go in one command, some 5 ms of work.
    static let shareOfCommand = 10_000
    /// The bytes that count as one of these rows where the store has to write them.
    static let writtenBytesOfLook = 128

    /// Keeps a notification if an archive has its channel, and lets the oldest go past the bounds.
    ///
    /// - Parameter last: The last notification of the channel before this one, which a new kind
    ///   needs.
    /// - Returns: Whether it is kept; one that is larger than the archive is not. Nil where its
    ///   kind is new, and `last` is nil.
    mutating func keep(
        _ notification: Notification, after last: LossMark?, at time: CommandTime
    ) -> Bool? {
        let content = notification.content
        guard let slot = archive(of: content.name, isReserved: content.isReserved) else {
            return false
        }
        let terms = slots[Int(slot)].terms
        var kind = kinds.use(content, in: slot, isOfObject: terms.each == .object)
        if kind == nil, let last { kind = makeKind(of: content, in: slot, after: last) }
        guard let kind else { return nil }
        if ArchiveTerms.byteCount(of: content) > terms.byteLimit {
            raise(LossMark(notification), isEnded: false, of: kind, in: slot)
            return false
        }
        let row = rows.append(notification, kind: kind)
        link(row, kind, slot)
        noteAge(of: slot, at: time)
        noteStored(row, in: slot, at: time)
        if let limit = terms.count {
            while kinds.rows(of: kind).count > limit {  // Bound: forgotten
                letGo(kinds.rows(of: kind).first, .passed)
            }
        }
        while slots[Int(slot)].byteCount > terms.byteLimit {  // Bound: forgotten
            letGo(slots[Int(slot)].rows.first, .passed)
        }
        letGoAged(kind, terms)
        return true
    }

    private mutating func link(_ row: UInt32, _ kind: UInt32, _ slot: UInt32) {
        rows.insert(row, into: &kinds[kind].rows, .ofKind)
        slots[Int(slot)].add(row, in: &rows)
        expiries.add(
            at: rows[row].notification.expiresAt, key: rows[row].notification.sequence)
    }

    /// The kind of a notification.
    mutating func kind(
        of content: Notification.Content, in slot: UInt32, after last: LossMark
    ) -> UInt32 {
        kinds.use(content, in: slot, isOfObject: slots[Int(slot)].terms.each == .object)
            ?? makeKind(of: content, in: slot, after: last)
    }

    /// Makes a kind, with that of its whole channel, which has what was before.
    private mutating func makeKind(
        of content: Notification.Content, in slot: UInt32, after last: LossMark
    ) -> UInt32 {
        let isOfObject = slots[Int(slot)].terms.each == .object
        let key = ArchivedKindKey(content, in: slot, isOfObject: isOfObject)
        let (kind, _) = kinds.use(key)
        let (channel, isNewChannel) = isOfObject ? kinds.use(key.ofName) : (kind, true)
        // Where another archive knows the channel, the marks of that say what was lost.
        let others = covering(key.name).filter { $0 != slot }
        let isFirst = slots[Int(slot)].isAnew || !kinds.know(key.name, in: others)
        if isNewChannel, isFirst {
            kinds[channel].began = last
            slots[Int(slot)].began.raise(to: last)
        }
        note(kind: channel)
        if isOfObject { note(kind: kind) }
        // Bound: forgotten
        while kinds.count > Self.kindLimit, kinds.oldest != kind { forget(kinds.oldest) }
        return kind
    }

    /// The archives whose names cover a channel; that which keeps it is the first.
    func covering(_ name: [UInt8]) -> [UInt32] {
        var found: [UInt32] = []
        prefixes.forEachPrefix(of: name.span) { index in
            if let slot = prefixSlots[index] { found.append(slot) }
        }
        if let index = exact.index(of: name.span) { found.append(exactSlots[Int(index)]) }
        return found.reversed()
    }
}
