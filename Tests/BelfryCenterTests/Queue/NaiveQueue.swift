@testable import BelfryCenter

/// The rules of the queue in the plainest form: one array, searched from its start.
struct NaiveQueue {
    typealias Entry = NotificationQueue.Entry

    private(set) var entries: [Entry] = []
    var common: [[UInt8]]
    var mode = Mode.default
    private(set) var nextPlace: UInt64 = 1

    init(common: [[UInt8]]) { self.common = common }

    var byteCount: Int { entries.map(\.content.byteCount).reduce(0, +) }
    var modeCount: Int { Set(entries.flatMap(\.modes)).count }
    var furtherModeCount: Int { entries.map { $0.modes.count - 1 }.reduce(0, +) }
    var hasAsap: Bool { entries.contains { isReady($0) && $0.style == .asap } }
    var hasIdle: Bool { entries.contains { isReady($0) && $0.style == .idle } }

    var nextDeadline: Int64? {
        let times = entries.flatMap { [$0.expiresAt, $0.promotesAt] }.filter { $0 != .max }
        return times.min()
    }

    var inPostingOrder: [Entry] {
        entries.filter { $0.style == .asap } + entries.filter { $0.style == .idle }
    }

    func isReady(_ entry: Entry) -> Bool {
        entry.modes.contains(mode)
            || (entry.modes.contains(Mode.common) && common.contains(mode))
    }

    mutating func add(
        _ post: Post, depth: Int, scope: PostScope, entryLimit: Int, modeLimit: Int,
        byteLimit: Int, at time: CommandTime
    ) throws(Refusal) -> NotificationQueue.Added {
        let options = post.options ?? PostOptions()
        let newModes = distinct(options.modes)
        let before = self
        let isSimilar = { (entry: Entry) in
            Self.matches(
                entry, post.content.nameBytes, post.content.objectBytes, options.coalescing)
                && scope.allows(entry.content)
        }
        var added: NotificationQueue.Added
        if let first = entries.firstIndex(where: isSimilar) {
            let similar = entries.filter(isSimilar)
            var survivor = similar[0]
            survivor.style =
                similar.contains { $0.style == .asap } || options.style == .asap ? .asap : .idle
            survivor.modes = distinct(similar.flatMap(\.modes) + newModes)
            survivor.mergedCount = similar.map { $0.mergedCount + 1 }.reduce(0, +)
            survivor.depth = max(similar.map(\.depth).max() ?? 0, depth)
            survivor.expiresAt = max(
                similar.map(\.expiresAt).max() ?? 0, later(options.timeToLive, time))
            survivor.promotesAt =
                survivor.style == .asap
                ? .max : min(similar.map(\.promotesAt).min() ?? .max, later(options.maxDelay, time))
            survivor.isImmediate = options.isImmediate || similar.contains { $0.isImmediate }
            if options.keepsLatest {
                survivor.content = post.content
                survivor.causedBy = post.causedBy
            }
            entries[first] = survivor
            let removed = similar.dropFirst().map(\.id)
            entries.removeAll { removed.contains($0.id) }
            added = .merged(survivor: survivor.id, removed: removed)
        } else {
            let isIdle = options.style == .idle
            let entry = Entry(
                id: post.id, place: nextPlace, content: post.content, causedBy: post.causedBy,
                depth: depth, style: isIdle ? .idle : .asap, coalescing: options.coalescing,
                modes: newModes, mergedCount: 0, enqueuedAt: time.wallMilliseconds,
                promotesAt: isIdle ? later(options.maxDelay, time) : .max,
                expiresAt: later(options.timeToLive, time), isImmediate: options.isImmediate,
                isRestored: false)
            nextPlace += 1
            entries.append(entry)
            added = .queued(entry.id)
        }
        if let refusal = refusal(before, entryLimit, modeLimit, byteLimit) {
            self = before
            throw refusal
        }
        return added
    }

    /// The refusal for a limit that was passed further than before.
    private func refusal(
        _ before: NaiveQueue, _ entryLimit: Int, _ modeLimit: Int, _ byteLimit: Int
    ) -> Refusal? {
        if entries.count > max(entryLimit, before.entries.count) {
            return .queueFull(limit: entryLimit)
        }
        if byteCount > max(byteLimit, before.byteCount) { return .queueBytesFull }
        let newModes = Set(entries.flatMap(\.modes)).subtracting(before.entries.flatMap(\.modes))
            .subtracting([Mode.default])
        if newModes.count > 0, before.modeCount + newModes.count > modeLimit {
            return .queueFull(limit: modeLimit)
        }
        let further = furtherModeCount
        if further > max(entryLimit * NotificationQueue.furtherModeLimit, before.furtherModeCount) {
            return .queueFull(limit: entryLimit)
        }
        return nil
    }

    mutating func take(where isTaken: (Entry) -> Bool) -> [Entry] {
        let taken = entries.filter(isTaken)
        entries.removeAll(where: isTaken)
        return taken
    }

    mutating func take(
        _ name: [UInt8]?, _ object: [UInt8]?, _ mask: Coalescing, _ scope: PostScope
    ) -> [Entry] {
        take { Self.matches($0, name, object, mask) && scope.allows($0.content) }
    }

    mutating func takeAsap() -> [Entry] {
        let model = self
        return take { $0.style == .asap && model.isReady($0) }
    }

    mutating func takeIdle() -> Entry? {
        guard !hasAsap, let first = entries.firstIndex(where: { isReady($0) }) else { return nil }
        return entries.remove(at: first)
    }

    mutating func passTime(_ now: Int64) -> (promoted: [Entry], expired: [Entry]) {
        let expired = take { $0.expiresAt <= now }
        var promoted: [Entry] = []
        for place in entries.indices where entries[place].promotesAt <= now {
            entries[place].style = .asap
            entries[place].promotesAt = .max
            promoted.append(entries[place])
        }
        return (promoted, expired)
    }

    mutating func restore(_ record: QueueRecord, at time: CommandTime) {
        entries.append(Entry(record, at: time))
        nextPlace = record.place + 1
    }

    private static func matches(
        _ entry: Entry, _ name: [UInt8]?, _ object: [UInt8]?, _ mask: Coalescing
    ) -> Bool {
        if mask.isEmpty { return false }
        if mask.contains(.onName), entry.content.nameBytes != name { return false }
        return !mask.contains(.onSender) || entry.content.objectBytes == object
    }

    private func distinct(_ modes: [[UInt8]]) -> [[UInt8]] {
        var distinct: [[UInt8]] = []
        for mode in modes where !distinct.contains(mode) { distinct.append(mode) }
        return distinct.isEmpty ? [Mode.default] : distinct
    }

    private func later(_ nanoseconds: Int64?, _ time: CommandTime) -> Int64 {
        guard let nanoseconds else { return .max }
        return time.monotonicNanoseconds + nanoseconds
    }
}
