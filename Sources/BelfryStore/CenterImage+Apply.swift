internal import BelfryCenter

// The effect of each change on the image of a center. `StoreFile` does the same in SQL.

extension CenterImage {
    /// Brings one change into the image.
    mutating func apply(_ change: Change) {
        switch change {
        case .center(let record): epoch = record.epoch
        case .sequenceReserved(let through): sequence = max(sequence, through)
        case .client(let record): clients.put(record) { $0.id }
        case .clientRemoved(let id): removeClient(id)
        case .observer(let record): observers.put(record) { $0.serial }
        case .observerRemoved(let serial, let tombstone):
            observers.remove(serial) { $0.serial }
            gaps.removeAll { $0.observer == serial }
            tombstones.append((serial, tombstone))
        case .notification(let record):
            notifications.put(record.stored) { $0.notification.sequence }
        case .notificationReleased(let sequence):
            notifications.remove(sequence) { $0.notification.sequence }
            let start = held.start(of: UInt128(sequence) << 64, by: Self.heldKey)
            let end = held.start(of: (UInt128(sequence) + 1) << 64, by: Self.heldKey)
            held.removeSubrange(start..<end)
            actions.removeAll { $0.sequence == sequence }
        case .held(let observer, let sequence): held.put((observer, sequence), by: Self.heldKey)
        case .released(let observer, let sequence):
            held.remove(Self.heldKey((observer, sequence)), by: Self.heldKey)
        case .action(let record): actions.put(record, by: Self.actionKey)
        case .actionReleased(let row, let sequence):
            actions.remove(UInt128(sequence) << 64 | UInt128(row), by: Self.actionKey)
        case .gap(let observer, let gap):
            if gap.count == 0 {
                gaps.remove(Self.gapKey((observer, gap)), by: Self.gapKey)
            } else {
                gaps.put((observer, gap), by: Self.gapKey)
            }
        case .queued(let record): enqueue(record)
        case .dequeued(let id): queue.removeAll { $0.id == id }
        case .timer(let record): timers.put(record) { Self.timerKey($0.post.id) }
        case .timerEnded(let id): timers.remove(Self.timerKey(id)) { Self.timerKey($0.post.id) }
        case .ask(let record):
            if let index = asks.firstIndex(where: { $0.id == record.id }) {
                asks[index] = record
            } else {
                asks.append(record)
            }
        case .askForgotten(let id): asks.removeAll { $0.id == id }
        case .value(let record):
            let place = place(ofValue: record.object)
            if place < values.count, values[place].object == record.object {
                values[place] = record
            } else {
                values.insert(record, at: place)
            }
        case .valueRemoved(let object):
            let place = place(ofValue: object)
            if place < values.count, values[place].object == object { values.remove(at: place) }
        case .key(let record):
            if let index = index(ofKey: record.key.principal, record.key.text) {
                keys[index] = record
            } else {
                keys.append(record)
            }
        case .keyForgotten(let principal, let text):
            if let index = index(ofKey: principal, text) { keys.remove(at: index) }
        case .archive, .archiveRemoved, .archivedKind, .archivedKindForgotten, .kept, .letGo:
            applyArchived(change)
        }
    }

    private mutating func applyArchived(_ change: Change) {
        switch change {
        case .archive(let record): archives.put(record) { $0.number }
        case .archiveRemoved(let number):
            archives.remove(number) { $0.number }
            archivedKinds.removeAll { $0.key.archive == number }
        case .archivedKind(let record):
            forget(record.key)
            archivedKinds.append(record)
            archivedKinds.sort { $0.key.precedes($1.key) }
        case .archivedKindForgotten(let key): forget(key)
        case .kept(let record): kept.put(record.stored) { $0.notification.sequence }
        case .letGo(let sequence): kept.remove(sequence) { $0.notification.sequence }
        default: preconditionFailure("the change is none of archives")
        }
    }

    /// Drops what belongs to observers or notifications that are there no more.
    ///
    /// What an observer held is not looked for when it is removed: it is dropped here, and goes
    /// from the store with its notification.
    mutating func dropStrays() {
        let serials = Set(observers.map(\.serial))
        gaps.removeAll { !serials.contains($0.observer) }
        let sequences = Set(notifications.map(\.notification.sequence))
        held.removeAll { !serials.contains($0.observer) || !sequences.contains($0.sequence) }
        actions.removeAll {
            !serials.contains($0.responder) || !sequences.contains($0.sequence)
        }
    }

    /// The index of the value of an object, present or not, in the byte order of objects.
    private func place(ofValue object: [UInt8]) -> Int {
        var (low, high) = (0, values.count)
        while low < high {
            let middle = (low + high) / 2
            if values[middle].object.lexicographicallyPrecedes(object) {
                low = middle + 1
            } else {
                high = middle
            }
        }
        return low
    }

    private mutating func removeClient(_ id: UInt64) {
        clients.remove(id) { $0.id }
        let removed = Set(observers.lazy.filter { $0.client == id }.map(\.serial))
        guard !removed.isEmpty else { return }
        observers.removeAll { $0.client == id }
        gaps.removeAll { removed.contains($0.observer) }
    }

    private mutating func enqueue(_ record: QueueRecord) {
        queue.removeAll { $0.id == record.id }
        let place = queue.firstIndex { record.precedes($0) }
        queue.insert(record, at: place ?? queue.count)
    }

    private func index(ofKey principal: [UInt8], _ text: [UInt8]) -> Int? {
        keys.firstIndex { $0.key.principal == principal && $0.key.text == text }
    }

    private mutating func forget(_ key: ArchivedKindKey) {
        archivedKinds.removeAll { $0.key == key }
    }

    private static func timerKey(_ id: NotificationID) -> UInt128 {
        UInt128(id.high) << 64 | UInt128(id.low)
    }

    private static func heldKey(_ row: (observer: UInt64, sequence: UInt64)) -> UInt128 {
        UInt128(row.sequence) << 64 | UInt128(row.observer)
    }

    private static func actionKey(_ record: ActionRecord) -> UInt128 {
        UInt128(record.sequence) << 64 | UInt128(record.row)
    }

    private static func gapKey(_ row: (observer: UInt64, gap: GapRecord)) -> UInt128 {
        UInt128(row.observer) << 64 | UInt128(row.gap.reason.rawValue)
    }
}

extension NotificationRecord {
    /// The record as a restarted center gets it: the clock of the earlier life means nothing.
    var stored: NotificationRecord {
        let notification = notification
        return NotificationRecord(
            notification: Notification(
                id: notification.id, sequence: notification.sequence,
                postedAt: notification.postedAt, causedBy: notification.causedBy,
                content: notification.content, isRestored: true),
            timeToLive: timeToLive)
    }
}

extension ArchivedKindKey {
    /// Whether its row comes before another: they are in the order of archives and of bytes.
    func precedes(_ other: ArchivedKindKey) -> Bool {
        archive == other.archive
            ? bytes.lexicographicallyPrecedes(other.bytes) : archive < other.archive
    }
}

extension QueueRecord {
    /// Whether it leaves before another; identifiers only decide between equal places.
    func precedes(_ other: QueueRecord) -> Bool {
        (place, id.high, id.low) < (other.place, other.id.high, other.id.low)
    }
}

extension Array {
    /// The index of an element with this key, present or not, in an array in the order of keys.
    fileprivate func start<Key: Comparable>(of key: Key, by keyOf: (Element) -> Key) -> Int {
        var low = 0
        var high = count
        while low < high {
            let middle = (low + high) / 2
            if keyOf(self[middle]) < key { low = middle + 1 } else { high = middle }
        }
        return low
    }

    /// Puts an element in its place, or in the place of the one with the same key.
    fileprivate mutating func put<Key: Comparable>(
        _ element: Element, by keyOf: (Element) -> Key
    ) {
        let index = start(of: keyOf(element), by: keyOf)
        if index < count, keyOf(self[index]) == keyOf(element) {
            self[index] = element
        } else {
            insert(element, at: index)
        }
    }

    /// Removes the element with this key, if it is there.
    fileprivate mutating func remove<Key: Comparable>(_ key: Key, by keyOf: (Element) -> Key) {
        let index = start(of: key, by: keyOf)
        if index < count, keyOf(self[index]) == key { remove(at: index) }
    }
}
