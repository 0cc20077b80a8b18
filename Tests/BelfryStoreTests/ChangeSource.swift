import BelfryCenter
import BelfryStore
import TestSupport

/// Changes as centers give them, at random: what a change needs was there before it.
struct ChangeSource {
    private struct Center {
        let name: [UInt8]
        var sequence: UInt64 = 0
        var clients: [UInt64] = []
        var observers: [(serial: UInt64, client: UInt64)] = []
        var notifications: [UInt64] = []
        var entries: [UInt64] = []
        var asks: [UInt64] = []
        var timers: [UInt64] = []
        var keys: [UInt64] = []
        var values: [UInt64] = []
        var archives: [UInt32] = []
        var kinds: [ArchivedKindKey] = []
        var kept: [UInt64] = []
    }

    private var random: SplitMix
    private var centers: [Center] = []
    private var serial: UInt64 = 0
    /// The most bytes of a userInfo.
    private let userInfoByteLimit: Int

    /// Whether centers end, whatever they have.
    private let endsCenters: Bool

    init(seed: UInt64, userInfoByteLimit: Int = 100, endsCenters: Bool = false) {
        self.endsCenters = endsCenters
        random = SplitMix(seed: seed)
        self.userInfoByteLimit = userInfoByteLimit
    }

    mutating func batch(_ count: Int) -> [StoreChange] {
        (0..<count).flatMap { _ in next() }
    }

    private mutating func next() -> [StoreChange] {
        if centers.isEmpty || centers.count < 3 && random.below(40) == 0 {
            let names = (0..<3).map { Sample.bytes("center \($0)") }
            guard let name = names.first(where: { name in centers.allSatisfy { $0.name != name } })
            else { return [] }
            centers.append(Center(name: name))
            return [.center(name: name, .center(CenterRecord(epoch: name)))]
        }
        serial += 1
        if random.below(20) == 0 {
            return [
                .observersReserved(through: serial), .clientsReserved(through: serial),
                .modesReserved(through: serial),
            ]
        }
        let index = random.below(centers.count)
        if endsCenters, random.below(100) == 0 {
            return [.centerEnded(name: centers.remove(at: index).name)]
        }
        var center = centers[index]
        let changes = changes(of: &center)
        centers[index] = center
        return changes.map { .center(name: center.name, $0) }
    }

    private mutating func changes(of center: inout Center) -> [Change] {
        switch random.below(22) {
        case 0: return [.center(CenterRecord(epoch: Sample.bytes("epoch \(serial)")))]
        case 1: return [.sequenceReserved(through: center.sequence + 100)]
        case 2: return client(of: &center)
        case 3, 4:
            guard let client = center.clients.randomElement(using: &random) else { return [] }
            center.observers.append((serial, client))
            return [.observer(Sample.observer(serial, client: client))]
        case 5: return removal(in: &center)
        case 6, 7, 8: return post(in: &center)
        case 9: return release(in: &center)
        case 10:
            guard let observer = center.observers.randomElement(using: &random) else { return [] }
            let reason = Gap.Reason.allCases[random.below(5)]
            let count = random.below(4) == 0 ? nil : random.below(3)
            return [
                .gap(
                    observer: observer.serial,
                    GapRecord(reason: reason, count: count, first: serial, last: serial + 1))
            ]
        case 11, 12: return entry(of: &center)
        case 13: return key(of: &center)
        case 14, 15: return ask(of: &center)
        case 16, 17: return timer(of: &center)
        case 20, 21: return archive(of: &center)
        default: return value(of: &center)
        }
    }

    private mutating func client(of center: inout Center) -> [Change] {
        if let client = center.clients.randomElement(using: &random), random.below(2) == 0 {
            if random.below(3) == 0 {
                center.clients.removeAll { $0 == client }
                center.observers.removeAll { $0.client == client }
                return [.clientRemoved(client)]
            }
            return [.client(Sample.client(client, disconnectedFor: Int64(serial)))]
        }
        center.clients.append(serial)
        return [.client(Sample.client(serial))]
    }

    private mutating func removal(in center: inout Center) -> [Change] {
        guard let observer = center.observers.randomElement(using: &random) else { return [] }
        if random.below(2) == 0 {
            let record = Sample.observer(
                observer.serial, client: observer.client, acknowledgedThrough: serial)
            return [.observer(record)]
        }
        center.observers.removeAll { $0.serial == observer.serial }
        return [
            .observerRemoved(serial: observer.serial, Sample.tombstone(observer.serial))
        ]
    }

    private mutating func post(in center: inout Center) -> [Change] {
        center.sequence += 1
        center.notifications.append(center.sequence)
        let record = Sample.notification(
            center.sequence, byteCount: random.below(userInfoByteLimit))
        var changes: [Change] = [.notification(record)]
        for observer in center.observers where random.below(2) == 0 {
            changes.append(.held(observer: observer.serial, sequence: center.sequence))
        }
        for responder in center.observers where random.below(8) == 0 {
            changes.append(
                .action(
                    Sample.action(
                        center.sequence, row: responder.serial + 1, responder: responder.serial)))
        }
        return changes
    }

    private mutating func release(in center: inout Center) -> [Change] {
        guard let sequence = center.notifications.randomElement(using: &random) else { return [] }
        if random.below(2) == 0 {
            center.notifications.removeAll { $0 == sequence }
            return [.notificationReleased(sequence: sequence)]
        }
        guard let observer = center.observers.randomElement(using: &random) else { return [] }
        if random.below(4) == 0 {
            return [.actionReleased(row: observer.serial + 1, sequence: sequence)]
        }
        return [.released(observer: observer.serial, sequence: sequence)]
    }

    private mutating func entry(of center: inout Center) -> [Change] {
        if let entry = center.entries.randomElement(using: &random), random.below(2) == 0 {
            if random.below(3) == 0 { return [.queued(Sample.entry(entry, merged: Int(serial)))] }
            center.entries.removeAll { $0 == entry }
            return [.dequeued(Sample.id(entry))]
        }
        center.entries.append(serial)
        return [.queued(Sample.entry(serial, place: serial / 2))]
    }

    private mutating func timer(of center: inout Center) -> [Change] {
        let byteCount = random.below(userInfoByteLimit)
        guard let number = center.timers.randomElement(using: &random), random.below(3) > 0 else {
            center.timers.append(serial)
            return [.timer(Sample.timer(serial, byteCount: byteCount))]
        }
        if random.below(2) == 0 {
            let fired = Int64(serial)
            return [.timer(Sample.timer(number, fired: fired, byteCount: byteCount))]
        }
        center.timers.removeAll { $0 == number }
        return [.timerEnded(Sample.id(number))]
    }

    private mutating func ask(of center: inout Center) -> [Change] {
        let byteCount = random.below(userInfoByteLimit)
        guard let number = center.asks.randomElement(using: &random), random.below(3) > 0 else {
            center.asks.append(serial)
            return [.ask(Sample.ask(serial, byteCount: byteCount))]
        }
        if random.below(3) > 0 {
            let shown = (0..<UInt64(random.below(4))).map { serial + $0 }
            let isOpen = random.below(2) == 0
            let record = Sample.ask(number, shown: shown, isOpen: isOpen, byteCount: byteCount)
            return [.ask(record)]
        }
        center.asks.removeAll { $0 == number }
        return [.askForgotten(Sample.id(number))]
    }

    private mutating func value(of center: inout Center) -> [Change] {
        let byteCount = random.below(userInfoByteLimit)
        guard let object = center.values.randomElement(using: &random), random.below(3) > 0 else {
            center.values.append(serial)
            return [.value(Sample.value(serial, changed: serial, byteCount: byteCount))]
        }
        if random.below(3) > 0 {
            return [.value(Sample.value(object, changed: serial, byteCount: byteCount))]
        }
        center.values.removeAll { $0 == object }
        return [.valueRemoved(object: Sample.bytes("object \(object)"))]
    }

    private mutating func archive(of center: inout Center) -> [Change] {
        switch random.below(8) {
        case 0:
            let number = UInt32(random.below(5))
            if !center.archives.contains(number) { center.archives.append(number) }
            return [.archive(Sample.archive(number))]
        case 1:
            guard let number = center.archives.randomElement(using: &random) else { return [] }
            center.archives.removeAll { $0 == number }
            center.kinds.removeAll { $0.archive == number }
            return [.archiveRemoved(number: number)]
        case 2:
            guard let key = center.kinds.randomElement(using: &random) else { return [] }
            center.kinds.removeAll { $0 == key }
            return [.archivedKindForgotten(key)]
        case 3, 4:
            let record = Sample.archivedKind(UInt64(random.below(20)))
            center.kinds.removeAll { $0 == record.key }
            center.kinds.append(record.key)
            return [.archivedKind(record)]
        case 5:
            guard let sequence = center.kept.randomElement(using: &random) else { return [] }
            center.kept.removeAll { $0 == sequence }
            return [.letGo(sequence: sequence)]
        default:
            let record = Sample.kept(serial)
            center.kept.append(record.notification.sequence)
            return [.kept(record)]
        }
    }

    private mutating func key(of center: inout Center) -> [Change] {
        if let number = center.keys.randomElement(using: &random), random.below(2) == 0 {
            let record = Sample.key(number, sequence: serial, hasAsk: random.below(2) == 0)
            if random.below(2) == 0 { return [.key(record)] }
            center.keys.removeAll { $0 == number }
            return [.keyForgotten(principal: record.key.principal, text: record.key.text)]
        }
        center.keys.append(serial)
        return [.key(Sample.key(serial))]
    }
}
