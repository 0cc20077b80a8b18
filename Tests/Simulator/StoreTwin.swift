import BelfryCenter

/// What a store keeps of a center: changes are applied one by one, in the plainest way.
struct StoreTwin {
    private(set) var image: CenterImage
    /// Whether the center was ever stored.
    private(set) var hasCenter = false

    init(name: [UInt8], epoch: [UInt8]) {
        image = CenterImage(name: name, epoch: epoch)
    }

    /// Applies the changes of one turn.
    mutating func commit(_ changes: [Change]) throws(Violation) {
        for change in changes { try apply(change) }
    }

    private mutating func apply(_ change: Change) throws(Violation) {
        switch change {
        case .center(let record):
            hasCenter = true
            image.epoch = record.epoch
        case .sequenceReserved(let through):
            image.sequence = max(image.sequence, through)
        case .client(let record):
            image.clients.removeAll { $0.id == record.id }
            image.clients.append(record)
            image.clients.sort { $0.id < $1.id }
        case .clientRemoved(let id):
            image.clients.removeAll { $0.id == id }
            let gone = image.observers.filter { $0.client == id }.map(\.serial)
            for serial in gone { removeObserver(serial) }
        case .observer(let record):
            guard image.clients.contains(where: { $0.id == record.client }) else {
                throw Violation("observer o\(record.serial) is stored before its client")
            }
            image.observers.removeAll { $0.serial == record.serial }
            image.observers.append(record)
            image.observers.sort { $0.serial < $1.serial }
        case .observerRemoved(let serial, let tombstone):
            removeObserver(serial)
            image.tombstones.append((serial, tombstone))
        case .notification, .notificationReleased, .held, .released, .gap, .queued, .dequeued, .key,
            .keyForgotten:
            try applyHeld(change)
        }
    }

    private mutating func applyHeld(_ change: Change) throws(Violation) {
        switch change {
        case .notification(let record):
            let sequence = record.notification.sequence
            image.notifications.removeAll { $0.notification.sequence == sequence }
            image.notifications.append(record)
            image.notifications.sort { $0.notification.sequence < $1.notification.sequence }
        case .notificationReleased(let sequence):
            image.notifications.removeAll { $0.notification.sequence == sequence }
            if image.held.contains(where: { $0.sequence == sequence }) {
                throw Violation("a notification is released that somebody holds: \(sequence)")
            }
        case .held(let observer, let sequence):
            guard image.observers.contains(where: { $0.serial == observer }),
                image.notifications.contains(where: { $0.notification.sequence == sequence })
            else { throw Violation("o\(observer) holds \(sequence), and one of them is not stored") }
            image.held.append((observer, sequence))
            image.held.sort { ($0.sequence, $0.observer) < ($1.sequence, $1.observer) }
        case .released(let observer, let sequence):
            image.held.removeAll { $0 == (observer, sequence) }
        case .gap(let observer, let gap):
            image.gaps.removeAll { $0.observer == observer && $0.gap.reason == gap.reason }
            if gap.count != 0 { image.gaps.append((observer, gap)) }
            image.gaps.sort { $0.observer < $1.observer }
        case .queued(let record):
            image.queue.removeAll { $0.id == record.id }
            image.queue.append(record)
            image.queue.sort { $0.place < $1.place }
        case .dequeued(let id): image.queue.removeAll { $0.id == id }
        case .key(let record):
            forget(principal: record.key.principal, text: record.key.text)
            image.keys.append(record)
        case .keyForgotten(let principal, let text): forget(principal: principal, text: text)
        case .center, .sequenceReserved, .client, .clientRemoved, .observer, .observerRemoved:
            break
        }
    }

    private mutating func removeObserver(_ serial: UInt64) {
        image.observers.removeAll { $0.serial == serial }
        image.held.removeAll { $0.observer == serial }
        image.gaps.removeAll { $0.observer == serial }
    }

    private mutating func forget(principal: [UInt8], text: [UInt8]) {
        image.keys.removeAll { $0.key.principal == principal && $0.key.text == text }
    }

    /// The image with which another life begins.
    func image(isComplete: Bool) -> CenterImage {
        var image = image
        image.isComplete = isComplete
        return image
    }
}
