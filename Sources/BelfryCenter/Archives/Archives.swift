import BelfryBytes

/// The archives of a center: what it keeps of channels for whoever comes later (rules A1 to A18).
///
/// An archive is no observer. Which notification is kept, and which one goes, is decided here, by
/// commands alone; the store only follows.
struct Archives: Sendable {
    /// One archive.
    struct Archive: Sendable {
        let name: ArchiveName
        var terms: ArchiveTerms
        /// The last number before it began.
        var since: UInt64
        var rows = KeptRows.List()
        var byteCount = 0
        /// Rows up to this number are over their age, and stay by `keepLast` alone.
        var agedThrough: UInt64 = 0
        /// Rows up to this number keep the terms; past it a change of terms is under way.
        var fittedThrough = UInt64.max
        /// What all of its kinds let go, and what their channels had before they began.
        var marks = LossMarks()
        var began = LossMark()
        /// What was let go of kinds that it forgot whole.
        var forgotten = LossMarks()
        /// Whether it was removed; its rows go in shares, and nobody reads them.
        var isEnded = false
        /// Whether it began anew with a life of the broker: nothing is known of what was before.
        var isAnew = false
    }

    private(set) var slots: [Archive?] = []
    private var exact: KeyTable
    private var exactSlots: [UInt32] = []
    private var prefixes = PrefixTable()
    private var prefixSlots: [PrefixTable.Index: UInt32] = [:]
    /// The archives that are not ended.
    private(set) var count = 0
    /// The bytes that those may keep in all.
    private(set) var reservedByteCount = 0

    var rows = KeptRows()
    var kinds: ArchivedKinds
    /// The ends of `ttl`, by numbers.
    private var expiries = DeadlineHeap<UInt64>()
    /// The next time at which an age may be over, on the monotonic clock.
    private var ageDeadline = Int64.max
    /// Archives of which rows go in shares.
    private var unfitted: [UInt32] = []
    /// How often something was let go, so that readers look for losses only then.
    private(set) var lossCount: UInt64 = 0
    /// Observers that read the past, by the slots of their clients.
    var readers = CountedTable<UInt32, PastReader>()
    /// The newest of those that were removed while no archive had their channels.
    private(set) var orphaned = LossMark()
    /// Numbers that age or a removal has ended: the replay ring must not have them either.
    var ended: [UInt64] = []
    /// Changes that must last, since the host took them last.
    var changes: [Change] = []
    /// Whether there is a store.
    var isDurable = false

    init(seed: HashSeed) {
        exact = KeyTable(seed: seed)
        kinds = ArchivedKinds(seed: seed)
    }

    /// Whether it knows of losses besides those of the replay ring.
    var knowsLosses: Bool { isUsed || orphaned.sequence > 0 }

    /// Whether an archive has an age.
    var hasAges: Bool { slots.contains { $0?.terms.age != nil } }

    /// Whether there is an archive, or was one.
    private(set) var isUsed = false

    var footprint: Int {
        rows.footprint + kinds.footprint + expiries.footprint + exact.footprint
            + prefixes.footprint + readers.footprint
            + Footprint.array(of: slots.count, stride: MemoryLayout<Archive?>.stride)
    }

    /// Ends the reading of an observer; tells whether its client reads on.
    mutating func endReading(at slot: UInt32, of client: UInt32) -> Bool {
        readers[client]?.remove(slot)
        if readers[client]?.members.isEmpty == true { readers[client] = nil }
        return readers[client] != nil
    }

    // MARK: Archives

    /// The archive that keeps a channel: that of its name, else of its longest prefix (rule A1).
    ///
    /// A prefix that does not begin with `belfry.` has no reserved channel (rule A15).
    func archive(of name: Span<UInt8>, isReserved: Bool) -> UInt32? {
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
    func listing() -> [ArchiveRow] {
        slots.indices.compactMap { row(of: UInt32($0)) }.sorted {
            $0.name.isPrefix == $1.name.isPrefix
                ? $0.name.text.lexicographicallyPrecedes($1.name.text) : $1.name.isPrefix
        }
    }

    /// An archive as listings show it; nil for one that was removed.
    func row(of slot: UInt32) -> ArchiveRow? {
        guard let archive = slots[Int(slot)], !archive.isEnded else { return nil }
        let ends = [archive.rows.first, archive.rows.last].map {
            $0 == KeptRows.none ? 0 : rows[$0].notification.sequence
        }
        return ArchiveRow(
            name: archive.name, terms: archive.terms, since: archive.since,
            keptCount: archive.rows.count, keptByteCount: archive.byteCount,
            firstSequence: ends[0], lastSequence: ends[1])
    }

    /// Makes an archive, or changes its terms; what no longer fits goes, in shares.
    ///
    /// - Parameter began: The last notification of its channels that no archive kept.
    /// - Returns: Its slot.
    mutating func put(
        _ name: ArchiveName, _ terms: ArchiveTerms, since: UInt64, after began: LossMark,
        at time: CommandTime
    ) -> UInt32 {
        guard let slot = slot(of: name), var archive = slots[Int(slot)] else {
            var archive = Archive(name: name, terms: terms, since: since)
            archive.began = began
            archive.forgotten.ended = orphaned
            return add(archive)
        }
        reservedByteCount += terms.byteLimit - archive.terms.byteLimit
        // Other kinds than before, or another memory of them: all are forgotten whole.
        if terms.isStored && !archive.terms.isStored || terms.each != archive.terms.each {
            archive.forgotten.raise(to: archive.marks)
        }
        archive.terms = terms
        archive.fittedThrough = 0
        archive.agedThrough = 0
        slots[Int(slot)] = archive
        note(slot)
        if !unfitted.contains(slot) { unfitted.append(slot) }
        fit(limit: Self.shareOfCommand, at: time)
        noteAges(at: time)
        return slot
    }

    private mutating func add(_ archive: Archive, at wanted: UInt32? = nil) -> UInt32 {
        let free = slots.indices.first { slots[$0] == nil }
        let slot = wanted ?? UInt32(free ?? slots.count)
        while slots.count <= Int(slot) { slots.append(nil) }  // Bound: few
        slots[Int(slot)] = archive
        isUsed = true
        if archive.isEnded {
            unfitted.append(slot)
        } else {
            list(archive, slot)
        }
        note(slot)
        return slot
    }

    /// Restores an archive in its slot.
    mutating func restore(_ archive: Archive, at slot: UInt32) { _ = add(archive, at: slot) }

    /// Raises the marks of an archive to those of a kind that was restored.
    mutating func raiseMarks(of slot: UInt32, to marks: LossMarks, _ began: LossMark) {
        slots[Int(slot)]?.marks.raise(to: marks)
        slots[Int(slot)]?.began.raise(to: began)
    }

    /// Restores a kept notification.
    mutating func addRestored(
        _ notification: Notification, in slot: UInt32, at time: CommandTime
    ) {
        let key = ArchivedKindKey(
            notification.content, in: slot,
            isOfObject: slots[Int(slot)]?.terms.each == .object)
        let kind = kinds.use(key).number
        let row = rows.append(notification, kind: kind)
        rows.update(row) { $0.isStored = true }
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
    mutating func remove(_ name: ArchiveName, at time: CommandTime) -> Bool {
        guard let slot = slot(of: name), let archive = slots[Int(slot)] else { return false }
        count -= 1
        reservedByteCount -= archive.terms.byteLimit
        if name.isPrefix, let index = prefixes.index(of: name.text.span) {
            prefixes.remove(index)
            prefixSlots[index] = nil
        } else if let index = exact.index(of: name.text.span) {
            exact.remove(at: index)
        }
        slots[Int(slot)]?.isEnded = true
        handOn(archive, slot)
        note(slot)
        if !unfitted.contains(slot) { unfitted.append(slot) }
        fit(limit: Self.shareOfCommand, at: time)
        return true
    }

    // MARK: Keeping

    /// The most kinds of a center.
    static let kindLimit = 1_000_000
    /// How many rows go in one command, some 5 ms of work.
    static let shareOfCommand = 10_000

    /// Keeps a notification, and lets the oldest go past the bounds.
    ///
    /// - Parameter last: the last notification of its channel before it.
    /// - Returns: Whether it is kept; one that is larger than the archive is not.
    mutating func keep(
        _ notification: Notification, in slot: UInt32, after last: LossMark, at time: CommandTime
    ) -> Bool {
        guard let archive = slots[Int(slot)] else { return false }
        let terms = archive.terms
        let kind = kind(of: notification.content, in: slot, after: last)
        let byteCount = ArchiveTerms.byteCount(of: notification.content)
        if byteCount > terms.byteLimit {
            raise(LossMark(notification), isEnded: false, of: kind, in: slot)
            return false
        }
        add(notification, kind, slot, at: time)
        if let limit = terms.count {
            while kinds[kind].rows.count > limit {  // Bound: forgotten
                letGo(kinds[kind].rows.first, .passed)
            }
        }
        while slots[Int(slot)]!.byteCount > terms.byteLimit {  // Bound: forgotten
            letGo(slots[Int(slot)]!.rows.first, .passed)
        }
        letGoAged(kind, terms)
        return true
    }

    private mutating func add(
        _ notification: Notification, _ kind: UInt32, _ slot: UInt32, at time: CommandTime
    ) {
        let row = rows.append(notification, kind: kind)
        link(row, kind, slot)
        noteAge(of: slot, at: time)
        noteStored(row, in: slot, at: time)
    }

    private mutating func link(_ row: UInt32, _ kind: UInt32, _ slot: UInt32) {
        let notification = rows[row].notification
        kinds[kind].rows.append(row, \.ofKind, in: &rows)
        slots[Int(slot)]!.rows.append(row, \.ofArchive, in: &rows)
        slots[Int(slot)]!.byteCount += ArchiveTerms.byteCount(of: notification.content)
        expiries.add(at: notification.expiresAt, key: notification.sequence)
    }

    /// The kind of a notification, with that of its whole channel, which has what was before.
    private mutating func kind(
        of content: Notification.Content, in slot: UInt32, after last: LossMark
    ) -> UInt32 {
        let isOfObject = slots[Int(slot)]!.terms.each == .object
        let key = ArchivedKindKey(content, in: slot, isOfObject: isOfObject)
        let (kind, isNew) = kinds.use(key)
        guard isNew else { return kind }
        let (channel, isNewChannel) = isOfObject ? kinds.use(key.ofName) : (kind, true)
        let isFirst = slots[Int(slot)]!.isAnew || !isKeptElsewhere(key.name, besides: slot)
        if isNewChannel, isFirst {
            kinds[channel].began = last
            slots[Int(slot)]!.began.raise(to: last)
        }
        note(kind: channel)
        if isOfObject { note(kind: kind) }
        // Bound: forgotten
        while kinds.count > Self.kindLimit, kinds.oldest != kind { forget(kinds.oldest) }
        return kind
    }

    /// Whether another archive knows the channel: then the marks of that say what was lost.
    private func isKeptElsewhere(_ name: [UInt8], besides slot: UInt32) -> Bool {
        covering(name).contains {
            $0 != slot
                && kinds.number(
                    ArchivedKindKey(archive: $0, name: name, object: nil, isOfObject: false))
                    != nil
        }
    }

    /// The archives whose names cover a channel.
    func covering(_ name: [UInt8]) -> [UInt32] {
        var found = exact.index(of: name.span).map { [exactSlots[Int($0)]] } ?? []
        prefixes.forEachPrefix(of: name.span) { index in
            if let slot = prefixSlots[index] { found.append(slot) }
        }
        return found
    }

    /// Forgets a kind whole, with all of its rows.
    private mutating func forget(_ kind: UInt32) {
        while kinds[kind].rows.first != KeptRows.none {  // Bound: forgotten
            letGo(kinds[kind].rows.first, .passed)
        }
        let key = kinds[kind].key
        slots[Int(key.archive)]!.forgotten.raise(to: kinds[kind].marks)
        slots[Int(key.archive)]!.forgotten.passed.raise(to: kinds[kind].began)
        if kinds[kind].isStored {
            changes.append(.archivedKindForgotten(key))
            note(key.archive)
        }
        kinds.remove(kind)
    }

    // MARK: Letting go

    /// The reasons for which a row goes.
    enum Reason {
        /// It is past a count or past the bytes.
        case passed
        /// Its age is over, or it was removed.
        case ended
        /// Its own `ttl` is over: no loss, for its poster said so.
        case expired
    }

    /// Lets a row go, and remembers it.
    mutating func letGo(_ row: UInt32, _ reason: Reason) {
        let kind = rows[row].kind
        let slot = kinds[kind].key.archive
        let notification = rows[row].notification
        if rows[row].isStored { changes.append(.letGo(sequence: notification.sequence)) }
        kinds[kind].rows.remove(row, \.ofKind, in: &rows)
        slots[Int(slot)]!.rows.remove(row, \.ofArchive, in: &rows)
        slots[Int(slot)]!.byteCount -= ArchiveTerms.byteCount(of: notification.content)
        rows.remove(row)
        if case .expired = reason { return }
        let mark = LossMark(notification)
        var isEnded = false
        if case .ended = reason {
            isEnded = true
            ended.append(notification.sequence)
        }
        if slots[Int(slot)]!.isEnded {
            pass(mark, of: notification.content, after: mark)
        } else {
            raise(mark, isEnded: isEnded, of: kind, in: slot)
        }
    }

    /// Hands a removal on to the archive that keeps the channel now.
    ///
    /// - Parameter last: The last notification of the channel, for one that does not know it.
    private mutating func pass(
        _ mark: LossMark, of content: Notification.Content, after last: LossMark
    ) {
        guard let slot = archive(of: content.name, isReserved: content.isReserved) else {
            lossCount += 1
            return orphaned.raise(to: mark)
        }
        raise(mark, isEnded: true, of: kind(of: content, in: slot, after: last), in: slot)
    }

    /// Remembers the removal of a notification that the replay ring alone had.
    mutating func noteRemoval(of notification: Notification, after last: LossMark) {
        pass(LossMark(notification), of: notification.content, after: last)
    }

    /// Hands all that a removed archive knows of losses on to those that keep its channels now.
    private mutating func handOn(_ archive: Archive, _ slot: UInt32) {
        lossCount += 1
        let heir = self.archive(of: archive.name.text.span, isReserved: false)
        if let heir {
            slots[Int(heir)]!.forgotten.raise(to: archive.forgotten)
            note(heir)
        } else {
            orphaned.raise(to: archive.forgotten.ended)
        }
        var own: [UInt32] = []
        kinds.forEach { number, kind in if kind.key.archive == slot { own.append(number) } }
        for number in own {  // Bound: kinds
            var marks = kinds[number].marks
            let last = kinds[number].rows.last
            if last != KeptRows.none { marks.ended.raise(to: LossMark(rows[last].notification)) }
            let key = kinds[number].key
            guard let heir = self.archive(of: key.name.span, isReserved: false) else {
                orphaned.raise(to: marks.ended)
                continue
            }
            let isOfObject = key.isOfObject && slots[Int(heir)]!.terms.each == .object
            let content = Notification.Content(name: key.name, object: key.object)
            let began = kinds[number].began
            let kind = isOfObject
                ? self.kind(of: content, in: heir, after: began)
                : kinds.use(key.ofName(in: heir)).number
            kinds[kind].began.raise(to: began)
            kinds[kind].marks.raise(to: marks)
            slots[Int(heir)]!.marks.raise(to: marks)
            slots[Int(heir)]!.began.raise(to: began)
            if slots[Int(heir)]!.terms.each == .object, !key.isOfObject {
                slots[Int(heir)]!.forgotten.raise(to: marks)
                note(heir)
            }
            note(kind: kind)
        }
    }

    private mutating func raise(
        _ mark: LossMark, isEnded: Bool, of kind: UInt32, in slot: UInt32
    ) {
        lossCount += 1
        let place: WritableKeyPath<LossMarks, LossMark> = isEnded ? \.ended : \.passed
        kinds[kind].marks[keyPath: place].raise(to: mark)
        slots[Int(slot)]!.marks[keyPath: place].raise(to: mark)
        note(kind: kind)
        guard kinds[kind].key.isOfObject else {
            // A channel that is no kind any more, or not yet divided: its objects do not know it.
            if slots[Int(slot)]!.terms.each == .object {
                slots[Int(slot)]!.forgotten[keyPath: place].raise(to: mark)
                note(slot)
            }
            return
        }
        let channel = kinds.use(kinds[kind].key.ofName).number
        kinds[channel].marks[keyPath: place].raise(to: mark)
        note(kind: channel)
    }

    /// Lets rows go that stayed by `keepLast` alone, where newer ones of the kind came.
    private mutating func letGoAged(_ kind: UInt32, _ terms: ArchiveTerms) {
        guard terms.age != nil else { return }
        let slot = kinds[kind].key.archive
        // Bound: forgotten
        while kinds[kind].rows.count > terms.keepLast,
            rows[kinds[kind].rows.first].notification.sequence <= slots[Int(slot)]!.agedThrough
        { letGo(kinds[kind].rows.first, .ended) }
    }

    // MARK: Time

    /// The next time at which something ends, on the monotonic clock.
    var nextDeadline: Int64? {
        if !unfitted.isEmpty { return 0 }
        let next = min(expiries.next ?? .max, ageDeadline)
        return next == .max ? nil : next
    }

    /// Lets what is over go, and what no longer fits, up to a limit of rows.
    mutating func passTime(limit: Int, at time: CommandTime) {
        var left = limit
        // Share: time
        while left > 0, let sequence = expiries.popDue(at: time.monotonicNanoseconds) {
            left -= 1
            guard let row = rows.slot(of: sequence) else { continue }
            letGo(row, .expired)
        }
        if ageDeadline <= time.monotonicNanoseconds { left -= letGoAged(limit: left, at: time) }
        if left > 0 { fit(limit: left, at: time) }
    }

    /// Lets rows go whose age is over; returns how many it looked at.
    private mutating func letGoAged(limit: Int, at time: CommandTime) -> Int {
        var looked = 0
        for slot in slots.indices {  // Bound: archives
            guard let archive = slots[slot], !archive.isEnded, let age = archive.terms.age else {
                continue
            }
            while looked < limit, let row = firstYoung(UInt32(slot)),  // Share: time
                rows[row].notification.postedAt.adding(age) <= time.wallMilliseconds
            {
                looked += 1
                let kind = rows[row].kind
                slots[slot]!.agedThrough = rows[row].notification.sequence
                if kinds[kind].rows.count > archive.terms.keepLast { letGo(row, .ended) }
            }
        }
        noteAges(at: time)
        return looked
    }

    /// The first row of an archive whose age is not known to be over.
    private func firstYoung(_ slot: UInt32) -> UInt32? {
        guard let archive = slots[Int(slot)] else { return nil }
        if archive.rows.first == KeptRows.none { return nil }
        if rows[archive.rows.first].notification.sequence > archive.agedThrough {
            return archive.rows.first
        }
        var position = rows.position(above: archive.agedThrough)
        while position < rows.positions.upperBound {  // Bound: holes
            let place = rows.place(at: position)
            if place.slot != KeptRows.none,
                kinds[rows[place.slot].kind].key.archive == slot { return place.slot }
            position += 1
        }
        return nil
    }

    /// Computes the next time at which an age may be over.
    mutating func noteAges(at time: CommandTime) {
        ageDeadline = .max
        for slot in slots.indices { noteAge(of: UInt32(slot), at: time) }  // Bound: archives
    }

    private mutating func noteAge(of slot: UInt32, at time: CommandTime) {
        guard let archive = slots[Int(slot)], !archive.isEnded, let age = archive.terms.age,
            let row = firstYoung(slot)
        else { return }
        let left = rows[row].notification.postedAt.adding(age).subtracting(time.wallMilliseconds)
        ageDeadline = min(
            ageDeadline,
            time.monotonicNanoseconds.adding(max(0, min(left, 1 << 40)) * 1_000_000))
    }

    /// Lets go what no longer fits, and the rows of removed archives, up to a limit of rows.
    private mutating func fit(limit: Int, at time: CommandTime) {
        var left = limit
        while left > 0, let slot = unfitted.first {  // Share: time
            guard let archive = slots[Int(slot)] else {
                unfitted.removeFirst()
                continue
            }
            left -= archive.isEnded ? release(slot, left) : fit(slot, left, at: time)
        }
    }

    /// Lets go the rows of a removed archive; returns how many.
    private mutating func release(_ slot: UInt32, _ limit: Int) -> Int {
        var count = 1
        while count < limit, let row = slots[Int(slot)]?.rows.first,  // Share: time
            row != KeptRows.none
        {
            letGo(row, .ended)
            count += 1
        }
        guard slots[Int(slot)]!.rows.count == 0 else { return count }
        var own: [UInt32] = []
        kinds.forEach { number, kind in if kind.key.archive == slot { own.append(number) } }
        for kind in own { kinds.remove(kind) }  // Bound: kinds
        slots[Int(slot)] = nil
        unfitted.removeFirst()
        if isDurable { changes.append(.archiveRemoved(number: slot)) }
        while let last = slots.last, last == nil { slots.removeLast() }  // Bound: few
        return count + own.count
    }

    /// Brings rows of an archive under its terms; returns how many were looked at.
    private mutating func fit(_ slot: UInt32, _ limit: Int, at time: CommandTime) -> Int {
        var count = 1
        let terms = slots[Int(slot)]!.terms
        while count < limit, slots[Int(slot)]!.byteCount > terms.byteLimit {  // Share: time
            letGo(slots[Int(slot)]!.rows.first, .passed)
            count += 1
        }
        var position = rows.position(above: slots[Int(slot)]!.fittedThrough)
        while count < limit, position < rows.positions.upperBound {  // Share: time
            let place = rows.place(at: position)
            slots[Int(slot)]!.fittedThrough = place.sequence
            count += 1
            if place.slot != KeptRows.none, kinds[rows[place.slot].kind].key.archive == slot {
                fit(row: place.slot, terms, at: time)
            }
            position = rows.position(above: place.sequence)
        }
        if position >= rows.positions.upperBound, slots[Int(slot)]!.byteCount <= terms.byteLimit {
            slots[Int(slot)]!.fittedThrough = .max
            unfitted.removeFirst()
        }
        return count
    }

    /// Brings a row under the terms of its archive: its kind, its place in the store, its count.
    private mutating func fit(row: UInt32, _ terms: ArchiveTerms, at time: CommandTime) {
        let slot = kinds[rows[row].kind].key.archive
        let before = rows[row].kind
        if kinds[before].key.isOfObject != (terms.each == .object) {
            let marks = kinds[before].marks
            kinds[before].rows.remove(row, \.ofKind, in: &rows)
            let kind = kind(
                of: rows[row].notification.content, in: slot, after: kinds[before].began)
            rows.update(row) { $0.kind = kind }
            kinds[kind].rows.append(row, \.ofKind, in: &rows)
            kinds[kind].marks.raise(to: marks)
            note(kind: kind)
        }
        let kind = rows[row].kind
        if rows[row].isStored != terms.isStored { noteStored(row, in: slot, at: time) }
        if let limit = terms.count {
            while kinds[kind].rows.count > limit {  // Bound: forgotten
                letGo(kinds[kind].rows.first, .passed)
            }
        }
    }
}
