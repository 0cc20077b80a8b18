// Rows that go: past a bound, by their age or their `ttl`, with their archive, or on request.

extension Archives {
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
        let slot = kinds.archive(of: kind)
        let mark = rows.mark(of: row)
        // The content is needed only to find the archive that keeps its channel now.
        let content = slots[Int(slot)].isEnded ? rows[row].notification.content : nil
        if rows[row].isStored { changes.append(.letGo(sequence: mark.sequence)) }
        rows.remove(row, from: &kinds[kind].rows, .ofKind)
        slots[Int(slot)].remove(row, from: &rows)
        rows.remove(row)
        if case .expired = reason { return }
        var isEnded = false
        if case .ended = reason {
            isEnded = true
            ended.append(mark.sequence)
        }
        if let content {
            pass(mark, of: content, after: mark)
        } else {
            raise(mark, isEnded: isEnded, of: kind, in: slot)
        }
    }

    /// Forgets a kind whole, with all of its rows.
    mutating func forget(_ kind: UInt32) {
        while kinds[kind].rows.first != Chain.none {  // Bound: forgotten
            letGo(kinds[kind].rows.first, .passed)
        }
        let key = kinds[kind].key
        slots[Int(key.archive)].forgotten.raise(to: kinds[kind].marks)
        slots[Int(key.archive)].forgotten.passed.raise(to: kinds[kind].began)
        if kinds[kind].isStored {
            changes.append(.archivedKindForgotten(key))
            note(key.archive)
        }
        kinds.remove(kind)
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
    ///
    /// The losses of very many kinds are handed on as those of all channels together. An archive
    /// of some of its channels learns what was lost before it was made: later, nothing of its
    /// channels was kept here.
    mutating func handOn(_ archive: Archive, _ slot: UInt32) {
        lossCount += 1
        var marks = archive.lostWhole
        let isMany = kinds.count(of: slot) > Self.shareOfCommand
        if isMany {
            marks.passed.raise(to: archive.began)
            marks.raise(to: archive.marks)
            if archive.rows.last != Chain.none {
                marks.ended.raise(to: LossMark(rows[archive.rows.last].notification))
            }
        }
        let text = archive.name.text
        let heir = covering(text).first { slots[Int($0)].name.isPrefix }
        for other in slots.indices where !slots[other].isEnded {  // Bound: archives
            let (isHeir, origin) = (heir == UInt32(other), slots[other].origin)
            let isInside =
                archive.name.isPrefix && origin > archive.origin
                && slots[other].name.text.starts(with: text)
            guard isHeir || isInside else { continue }
            slots[other].forgotten.raise(to: isHeir ? marks : marks.before(origin))
            note(UInt32(other))
        }
        if heir == nil { orphaned.raise(to: marks.ended) }
        if isMany { return }
        var own: [UInt32] = []
        kinds.forEach(of: slot) { own.append($0) }
        for number in own { handOn(kind: number) }  // Bound: kinds
    }

    private mutating func handOn(kind number: UInt32) {
        var marks = kinds[number].marks
        let last = kinds[number].rows.last
        if last != Chain.none { marks.ended.raise(to: LossMark(rows[last].notification)) }
        let key = kinds[number].key
        var began = kinds[number].began
        guard let heir = archive(of: key.name.span, isReserved: false) else {
            return orphaned.raise(to: marks.ended)
        }
        let isOfObject = slots[Int(heir)].terms.each == .object
        let content = Notification.Content(name: key.name, object: key.object)
        // An heir that began anew knows nothing of the channel's last life.
        let isUnknown =
            slots[Int(heir)].isAnew
            && kinds.number(ArchivedKindKey(channel: key.name, in: heir)) == nil
        if isUnknown { began.raise(to: slots[Int(heir)].began) }
        let kind =
            key.isOfObject && isOfObject
            ? self.kind(of: content, in: heir, after: began)
            : kinds.use(ArchivedKindKey(channel: key.name, in: heir)).number
        kinds[kind].began.raise(to: began)
        kinds[kind].marks.raise(to: marks)
        slots[Int(heir)].marks.raise(to: marks)
        slots[Int(heir)].began.raise(to: began)
        if isOfObject, !key.isOfObject {
            slots[Int(heir)].forgotten.raise(to: marks)
            note(heir)
        }
        note(kind: kind)
    }

    mutating func raise(
        _ mark: LossMark, isEnded: Bool, of kind: UInt32, in slot: UInt32
    ) {
        lossCount += 1
        kinds[kind].marks.raise(to: mark, isEnded: isEnded)
        slots[Int(slot)].marks.raise(to: mark, isEnded: isEnded)
        note(kind: kind)
        guard kinds.isOfObject(kind) else {
            // The kinds of a channel's objects have no mark of a loss of the whole channel.
            if slots[Int(slot)].terms.each == .object {
                slots[Int(slot)].forgotten.raise(to: mark, isEnded: isEnded)
                note(slot)
            }
            return
        }
        let channel = kinds.use(kinds[kind].key.ofName).number
        kinds[channel].marks.raise(to: mark, isEnded: isEnded)
        note(kind: channel)
    }

    /// Lets rows go that stayed by `keepLast` alone, where newer ones of the kind came.
    mutating func letGoAged(_ kind: UInt32, _ terms: ArchiveTerms) {
        guard terms.age != nil else { return }
        let slot = kinds[kind].key.archive
        // Bound: forgotten
        while kinds[kind].rows.count > terms.keepLast,
            isAged(kinds[kind].rows.first, in: slot)
        { letGo(kinds[kind].rows.first, .ended) }
    }

    // MARK: Time

    /// The next time at which something ends, on the monotonic clock.
    var nextDeadline: Int64 {
        unfitted.isEmpty ? min(expiries.next ?? .max, ageDeadline) : 0
    }

    /// Lets what is over go, and what no longer fits, up to a limit of rows.
    mutating func passTime(limit rowLimit: Int, at time: CommandTime) {
        var left = rowLimit
        // Share: time
        while left > 0, rowLimit > 0,
            let sequence = expiries.popDue(at: time.monotonicNanoseconds)
        {
            left -= 1
            guard let row = rows.slot(of: sequence) else { continue }
            letGo(row, .expired)
        }
        if ageDeadline <= time.monotonicNanoseconds { left -= letGoAged(limit: left, at: time) }
        if left > 0 { fit(limit: left, at: time) }
    }

    /// Lets rows go whose age is over; returns how many it looked at.
    mutating func letGoAged(limit rowLimit: Int, at time: CommandTime) -> Int {
        var looked = 0
        for slot in slots.indices {  // Bound: archives
            let archive = slots[slot]
            guard !archive.isEnded, let age = archive.terms.age else { continue }
            while looked < rowLimit, slots[slot].young != Chain.none,  // Share: time
                rows[slots[slot].young].notification.postedAt.adding(age)
                    <= time.wallMilliseconds
            {
                let row = slots[slot].young
                looked += 1
                let kind = rows[row].kind
                slots[slot].young = rows.next(after: row, in: .ofArchive)
                if kinds[kind].rows.count > archive.terms.keepLast { letGo(row, .ended) }
            }
        }
        noteAges(at: time)
        return looked
    }

    /// Whether the age of a row is known to be over.
    func isAged(_ row: UInt32, in slot: UInt32) -> Bool {
        let young = slots[Int(slot)].young
        if young == Chain.none { return true }
        return rows[row].notification.sequence < rows[young].notification.sequence
    }

    /// Computes the next time at which an age may be over.
    mutating func noteAges(at time: CommandTime) {
        ageDeadline = .max
        for slot in slots.indices { noteAge(of: UInt32(slot), at: time) }  // Bound: archives
    }

    mutating func noteAge(of slot: UInt32, at time: CommandTime) {
        guard let age = slots[Int(slot)].terms.age, !slots[Int(slot)].isEnded,
            slots[Int(slot)].young != Chain.none
        else { return }
        let young = rows.mark(of: slots[Int(slot)].young)
        let left = young.postedAt.adding(age).subtracting(time.wallMilliseconds)
        ageDeadline = min(
            ageDeadline,
            time.monotonicNanoseconds.adding(max(0, min(left, 1 << 40)) * 1_000_000))
    }

    /// Lets go what no longer fits, and the rows of removed archives, up to a limit of rows.
    mutating func fit(limit rowLimit: Int, at time: CommandTime) {
        var left = rowLimit
        while left > 0, rowLimit > 0, let slot = unfitted.first {  // Share: time
            left -= slots[Int(slot)].isEnded ? release(slot, left) : fit(slot, left, at: time)
        }
    }

    /// Lets go the rows of a removed archive; returns how many.
    mutating func release(_ slot: UInt32, _ rowLimit: Int) -> Int {
        var count = 1
        while count < rowLimit, slots[Int(slot)].rows.count > 0 {  // Share: time
            letGo(slots[Int(slot)].rows.first, .ended)
            count += 1
        }
        guard slots[Int(slot)].rows.count == 0 else { return count }
        while count < rowLimit, kinds.count(of: slot) > 0 {  // Share: time
            let kind = kinds.first(of: slot)
            if kinds[kind].isStored { changes.append(.archivedKindForgotten(kinds[kind].key)) }
            kinds.remove(kind)
            count += 1
        }
        guard kinds.count(of: slot) == 0 else { return count }
        slots[Int(slot)] = Self.free
        unfitted.removeFirst()
        if isDurable { changes.append(.archiveRemoved(number: slot)) }
        while slots.last?.isFree == true { slots.removeLast() }  // Bound: few
        return count
    }

    /// Brings rows of an archive under its terms; returns how many were looked at.
    ///
    /// A row whose age is over must not take the place of one that fits: bytes come last.
    mutating func fit(_ slot: UInt32, _ rowLimit: Int, at time: CommandTime) -> Int {
        var count = 1
        let terms = slots[Int(slot)].terms
        var position = rows.position(above: slots[Int(slot)].fittedThrough)
        while count < rowLimit, position < rows.positions.upperBound {  // Share: time
            let place = rows.place(at: position)
            slots[Int(slot)].fittedThrough = place.sequence
            count += 1
            if place.slot != Chain.none, kinds.archive(of: rows[place.slot].kind) == slot {
                count += fit(row: place.slot, terms, at: time)
            }
            position = rows.position(above: place.sequence)
        }
        if position < rows.positions.upperBound { return count }
        slots[Int(slot)].fittedThrough = .max
        count += letGoAged(limit: rowLimit - count, at: time)
        while count < rowLimit, slots[Int(slot)].byteCount > terms.byteLimit {  // Share: time
            letGo(slots[Int(slot)].rows.first, .passed)
            count += 1
        }
        if slots[Int(slot)].byteCount <= terms.byteLimit { unfitted.removeFirst() }
        return count
    }

    /// Brings a row under the terms of its archive: its kind, its place in the store, its count.
    ///
    /// - Returns: What the store writes of it, in looks at rows.
    mutating func fit(row: UInt32, _ terms: ArchiveTerms, at time: CommandTime) -> Int {
        let slot = kinds[rows[row].kind].key.archive
        let before = rows[row].kind
        if kinds[before].key.isOfObject != (terms.each == .object) {
            let (marks, began) = (kinds[before].marks, kinds[before].began)
            rows.remove(row, from: &kinds[before].rows, .ofKind)
            let kind = kind(of: rows[row].notification.content, in: slot, after: began)
            rows[row].kind = kind
            rows.insert(row, into: &kinds[kind].rows, .ofKind)
            kinds[kind].marks.raise(to: marks)
            note(kind: kind)
        }
        let kind = rows[row].kind
        var written = 0
        if rows[row].isStored != terms.isStored {
            written = rows.byteCount(of: row) / Self.writtenBytesOfLook
            noteStored(row, in: slot, at: time)
        }
        if let limit = terms.count {
            while kinds[kind].rows.count > limit {  // Bound: forgotten
                let oldest = kinds[kind].rows.first
                // The replay ring must not have it either if its age is over as well.
                letGo(oldest, isShown(oldest, at: time) ? .passed : .ended)
            }
        }
        return written
    }
}
