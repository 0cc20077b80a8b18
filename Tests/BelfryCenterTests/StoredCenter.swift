import Testing

@testable import BelfryCenter

/// The stored state of a center: each change is applied to an image, as plainly as can be.
struct StoredCenter {
    private(set) var image = CenterImage(name: bytes("default"), epoch: [])
    /// Whether the center was told at all.
    private(set) var isKnown = false

    mutating func apply(_ changes: [Change]) {
        for change in changes { apply(change) }
        // Deliveries and actions of an observer that is gone go with it.
        let serials = Set(image.observers.map(\.serial))
        image.held.removeAll { !serials.contains($0.observer) }
        image.gaps.removeAll { !serials.contains($0.observer) }
        image.actions.removeAll { !serials.contains($0.responder) }
    }

    private mutating func apply(_ change: Change) {
        switch change {
        case .center(let record):
            image.epoch = record.epoch
            isKnown = true
        case .sequenceReserved(let through): image.sequence = through
        case .client(let record):
            image.clients.removeAll { $0.id == record.id }
            image.clients.append(record)
            image.clients.sort { $0.id < $1.id }
        case .clientRemoved(let id): image.clients.removeAll { $0.id == id }
        case .observer(let record):
            image.observers.removeAll { $0.serial == record.serial }
            image.observers.append(record)
            image.observers.sort { $0.serial < $1.serial }
        case .observerRemoved(let serial, let tombstone):
            image.observers.removeAll { $0.serial == serial }
            image.tombstones.append((serial, tombstone))
        case .notification, .notificationReleased, .held, .released, .action, .actionReleased,
            .gap:
            applyHeld(change)
        case .queued, .dequeued, .key, .keyForgotten: applyQueued(change)
        case .ask(let record):
            if let place = image.asks.firstIndex(where: { $0.id == record.id }) {
                image.asks[place] = record
            } else {
                image.asks.append(record)
            }
        case .askForgotten(let id): image.asks.removeAll { $0.id == id }
        case .timer(let record):
            image.timers.removeAll { $0.post.id == record.post.id }
            image.timers.append(record)
        case .timerEnded(let id):
            check(image.timers.contains { $0.post.id == id })
            image.timers.removeAll { $0.post.id == id }
        case .value(let record):
            if let place = image.values.firstIndex(where: { $0.object == record.object }) {
                image.values[place] = record
            } else {
                image.values.append(record)
            }
        case .valueRemoved(let object): image.values.removeAll { $0.object == object }
        case .archive, .archiveRemoved, .archivedKind, .archivedKindForgotten, .kept, .letGo:
            applyArchived(change)
        }
    }

    private mutating func applyArchived(_ change: Change) {
        switch change {
        case .archive(let record):
            image.archives.removeAll { $0.number == record.number }
            image.archives.append(record)
            image.archives.sort { $0.number < $1.number }
        case .archiveRemoved(let number):
            check(image.archives.contains { $0.number == number })
            check(!image.kept.contains { $0.archive == number })
            image.archives.removeAll { $0.number == number }
            image.archivedKinds.removeAll { $0.key.archive == number }
        case .archivedKind(let record):
            check(image.archives.contains { $0.number == record.key.archive })
            image.archivedKinds.removeAll { $0.key == record.key }
            image.archivedKinds.append(record)
        case .archivedKindForgotten(let key):
            check(image.archivedKinds.contains { $0.key == key })
            image.archivedKinds.removeAll { $0.key == key }
        case .kept(let record):
            check(image.archives.contains { $0.number == record.archive })
            image.kept.removeAll {
                $0.notification.sequence == record.notification.sequence
            }
            image.kept.append(record.stored)
            image.kept.sort { $0.notification.sequence < $1.notification.sequence }
        case .letGo(let sequence):
            check(image.kept.contains { $0.notification.sequence == sequence })
            image.kept.removeAll { $0.notification.sequence == sequence }
        default: break
        }
    }

    private mutating func applyHeld(_ change: Change) {
        switch change {
        case .notification(let record):
            check(!has(record.notification.sequence))
            image.notifications.append(record)
            image.notifications.sort { $0.notification.sequence < $1.notification.sequence }
        case .notificationReleased(let sequence):
            check(has(sequence) && !image.held.contains { $0.sequence == sequence })
            check(!image.actions.contains { $0.sequence == sequence })
            image.notifications.removeAll { $0.notification.sequence == sequence }
        case .held(let observer, let sequence):
            check(has(sequence))
            check(!image.held.contains { $0 == (observer, sequence) })
            image.held.append((observer, sequence))
            image.held.sort { ($0.sequence, $0.observer) < ($1.sequence, $1.observer) }
        case .released(let observer, let sequence):
            check(image.held.contains { $0 == (observer, sequence) })
            image.held.removeAll { $0 == (observer, sequence) }
        case .action(let record):
            check(has(record.sequence))
            check(!image.actions.contains { $0.isOf(record.row, record.sequence) })
            image.actions.append(record)
            image.actions.sort { ($0.sequence, $0.row) < ($1.sequence, $1.row) }
        case .actionReleased(let row, let sequence):
            check(image.actions.contains { $0.isOf(row, sequence) })
            image.actions.removeAll { $0.isOf(row, sequence) }
        case .gap(let observer, let gap):
            image.gaps.removeAll { $0.observer == observer && $0.gap.reason == gap.reason }
            if gap.count != 0 { image.gaps.append((observer, gap)) }
            image.gaps.sort {
                ($0.observer, $0.gap.reason.rawValue) < ($1.observer, $1.gap.reason.rawValue)
            }
        default: break
        }
    }

    private mutating func applyQueued(_ change: Change) {
        switch change {
        case .queued(let record):
            image.queue.removeAll { $0.id == record.id }
            image.queue.append(record)
            image.queue.sort { $0.place < $1.place }
        case .dequeued(let id):
            check(image.queue.contains { $0.id == id })
            image.queue.removeAll { $0.id == id }
        case .key(let record):
            forget(record.key.principal, record.key.text)
            image.keys.append(record)
        case .keyForgotten(let principal, let text): forget(principal, text)
        default: break
        }
    }

    private mutating func forget(_ principal: [UInt8], _ text: [UInt8]) {
        image.keys.removeAll { $0.key.principal == principal && $0.key.text == text }
    }

    private func has(_ sequence: UInt64) -> Bool {
        image.notifications.contains { $0.notification.sequence == sequence }
    }

    /// A center that begins with the image, after an end in order or not.
    func restored(
        limits: CenterLimits, isComplete: Bool, time: CommandTime, marks: DispatchMarks? = nil,
        note: (Change) -> Void = { _ in }
    ) -> NotificationCenter {
        var image = image
        image.isComplete = isComplete
        return NotificationCenter(
            restoring: image, limits: limits, seed: HashSeed(3, 4), time: time, marks: marks,
            note: note)
    }
}

extension ActionRecord {
    fileprivate func isOf(_ row: UInt64, _ sequence: UInt64) -> Bool {
        self.row == row && self.sequence == sequence
    }
}
