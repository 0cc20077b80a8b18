import BelfryCenter
import BelfryHistory

// The queue: one list in order of arrival. Style and modes decide when an entry leaves; what is
// similar to a new post merges with the first of its kind (rules Q1 to Q25, law 1).

extension Model {
    struct Entry {
        let id: NotificationID
        var name: [UInt8]
        var object: [UInt8]?
        var userInfo: [UInt8]?
        var causedBy: NotificationID?
        var depth: Int
        var style: PostingStyle
        var coalescing: Coalescing
        var modes: [[UInt8]]
        var merged = 0
        let enqueuedAt: Int64
        var isImmediate: Bool
        /// When it counts as asap.
        var promotesAt: Int64
        var expiresAt: Int64
        var isRestored = false
        /// It was there when the asap entries began to be posted that are being posted now.
        var isInSnapshot = false

        var byteCount: Int { name.count + (object?.count ?? 0) + (userInfo?.count ?? 0) }
    }

    struct Lease {
        let entry: ModeEntry
        var client: UInt64? { entry.client }
        let endsAt: Int64
    }

    var currentMode: [UInt8] { modes.last?.entry.mode ?? Mode.default }

    /// Rules Q15 and Q17.
    func isCurrent(_ modes: [[UInt8]]) -> Bool {
        modes.contains(currentMode)
            || modes.contains(Mode.common) && limits.commonModes.contains(currentMode)
    }

    /// Rules Q4, Q5 and Q21: the mask of the new one, and all that it names must be equal.
    func isSimilar(_ entry: Entry, name: [UInt8]?, object: [UInt8]?, mask: Coalescing) -> Bool {
        if mask.isEmpty { return false }
        if mask.contains(.onName), entry.name != name { return false }
        if mask.contains(.onSender), entry.object != object { return false }
        return true
    }

    func mayTouch(_ entry: Entry, _ scope: PostScope) -> Bool {
        guard case .some(let patterns) = scope else { return true }
        func covers(_ texts: [PostScope.Text], _ value: [UInt8]?) -> Bool {
            if texts.isEmpty { return true }
            guard let value else { return false }
            return texts.contains { text in
                switch text {
                case .exact(let wanted): wanted == value
                case .prefix(let wanted): value.starts(with: wanted)
                }
            }
        }
        return patterns.contains {
            covers($0.names, entry.name) && covers($0.objects, entry.object)
        }
    }

    /// Takes out what a `now` post or a dequeue names (rules Q8 and Q20).
    mutating func takeSimilar(
        name: [UInt8]?, object: [UInt8]?, mask: Coalescing, scope: PostScope
    ) -> [Entry] {
        let taken = queue.filter {
            isSimilar($0, name: name, object: object, mask: mask) && mayTouch($0, scope)
        }
        queue.removeAll { entry in taken.contains { $0.id == entry.id } }
        return taken
    }

    /// Adds a post to the queue, or merges it; returns the entry that represents it then.
    mutating func enqueue(
        _ post: Post, depth: Int, scope: PostScope, byteRoom: Int
    ) throws(Refusal) -> (survivor: NotificationID?, others: [NotificationID]) {
        guard let options = post.options, let style = options.style else { return (nil, []) }
        let content = post.content
        var new = Entry(
            id: post.id, name: content.nameBytes, object: content.objectBytes,
            userInfo: content.userInfoBytes, causedBy: post.causedBy, depth: depth, style: style,
            coalescing: options.coalescing, modes: once(options.modes), enqueuedAt: wall,
            isImmediate: options.isImmediate, promotesAt: end(of: options.maxDelay),
            expiresAt: end(of: options.timeToLive))
        if style == .asap { new.promotesAt = .max }
        let similar = queue.indices.filter {
            isSimilar(
                queue[$0], name: new.name, object: new.object, mask: options.coalescing)
                && mayTouch(queue[$0], scope)
        }
        guard let first = similar.first else {
            if queue.count >= limits.queueEntryLimit {
                throw .queueFull(limit: limits.queueEntryLimit)
            }
            if new.byteCount > byteRoom { throw .queueBytesFull }
            try checkModes(of: queue + [new], adding: new.modes)
            queue.append(new)
            return (nil, [])
        }
        // Rule Q6: the first keeps its place; law 1: it leaves no later than any of them would.
        var survivor = queue[first]
        for other in similar.dropFirst().map({ queue[$0] }) + [new] {
            survivor.merged += other.id == new.id ? 1 : other.merged + 1
            if other.style == .asap { survivor.style = .asap }
            for mode in other.modes where !survivor.modes.contains(mode) {
                survivor.modes.append(mode)
            }
            survivor.promotesAt = min(survivor.promotesAt, other.promotesAt)
            survivor.expiresAt = max(survivor.expiresAt, other.expiresAt)
            survivor.isImmediate = survivor.isImmediate || other.isImmediate
            survivor.depth = max(survivor.depth, other.depth)
        }
        if survivor.style == .asap { survivor.promotesAt = .max }
        if options.keepsLatest {
            survivor.name = new.name
            survivor.object = new.object
            survivor.userInfo = new.userInfo
            survivor.causedBy = new.causedBy
        }
        let others = similar.dropFirst().map { queue[$0].id }
        var merged = queue
        merged[first] = survivor
        merged.removeAll { others.contains($0.id) }
        // A merged post needs no room for an entry, but for the bytes that it adds to one.
        let more = merged.reduce(0) { $0 + $1.byteCount } - queue.reduce(0) { $0 + $1.byteCount }
        if more > 0, more > byteRoom { throw .queueBytesFull }
        try checkModes(of: merged, adding: new.modes)
        queue = merged
        return (survivor.id, others)
    }

    /// The queue names no more modes than it may.
    private func checkModes(of entries: [Entry], adding modes: [[UInt8]]) throws(Refusal) {
        let known = once(queue.flatMap(\.modes))
        // The default mode needs no room.
        let new = modes.filter { !known.contains($0) && $0 != Mode.default }
        if !new.isEmpty, known.count + new.count > limits.queueModeLimit {
            throw .queueFull(limit: limits.queueModeLimit)
        }
        // Besides their first ones, entries name eight others on average, at most.
        let before = queue.reduce(0) { $0 + $1.modes.count - 1 }
        let after = entries.reduce(0) { $0 + $1.modes.count - 1 }
        if after > before, after > 8 * limits.queueEntryLimit {
            throw .queueFull(limit: limits.queueEntryLimit)
        }
    }

    private func once(_ modes: [[UInt8]]) -> [[UInt8]] {
        var once: [[UInt8]] = []
        for mode in modes where !once.contains(mode) { once.append(mode) }
        return once
    }

    func end(of duration: Int64?) -> Int64 { duration.map { now + $0 } ?? .max }

    // MARK: Leaving

    /// Rule Q11: those that were there when the first of them was posted, up to so much work.
    mutating func endTurn(workLimit: Int) {
        if !turnGoesOn {
            for place in queue.indices { queue[place].isInSnapshot = true }
        }
        var work = 0
        var isFirst = true
        while isFirst || work < workLimit, let place = queue.firstIndex(where: isNextInSnapshot) {
            isFirst = false
            let entry = queue.remove(at: place)
            let receiptCount = out.receipts.count
            post(entry)
            work += 16 + entry.byteCount / 256
            if out.receipts.count > receiptCount { work += Int(out.receipts.last?.matched ?? 0) }
        }
        if !turnGoesOn {
            for place in queue.indices { queue[place].isInSnapshot = false }
        }
    }

    private func isNextInSnapshot(_ entry: Entry) -> Bool {
        entry.isInSnapshot && entry.style == .asap && isCurrent(entry.modes)
    }

    /// Whether something is left for the next end of a turn to post.
    var turnGoesOn: Bool { queue.contains(where: isNextInSnapshot) }

    /// Rule Q13: one.
    mutating func idle() {
        // An asap entry comes first.
        if needsTurnEnd { return }
        let place = queue.firstIndex { $0.style == .idle && isCurrent($0.modes) }
        if let place { post(queue.remove(at: place)) }
    }

    var needsTurnEnd: Bool { queue.contains { $0.style == .asap && isCurrent($0.modes) } }
    var needsIdle: Bool { queue.contains { $0.style == .idle && isCurrent($0.modes) } }

    private mutating func post(_ entry: Entry) {
        if entry.expiresAt <= now { return setFate(of: entry.id, .expired) }
        dispatch(
            Posting(
                id: entry.id, name: entry.name, object: entry.object, userInfo: entry.userInfo,
                causedBy: entry.causedBy, depth: entry.depth, isImmediate: entry.isImmediate,
                expiresAt: entry.expiresAt, isRestored: entry.isRestored))
    }

    mutating func dequeue(_ match: QueueMatch) {
        let taken = takeSimilar(
            name: match.name, object: match.object, mask: match.mask, scope: match.scope)
        for entry in taken { setFate(of: entry.id, .dequeued) }
        out.outcome = .plain(.dequeued(taken.count))
    }

    mutating func dequeueEntry(_ id: NotificationID, _ scope: PostScope) {
        guard let place = queue.firstIndex(where: { $0.id == id }), mayTouch(queue[place], scope)
        else { return refuse(.unknownEntry) }
        queue.remove(at: place)
        setFate(of: id, .dequeued)
        out.outcome = .plain(.dequeued(1))
    }

    mutating func setFate(of id: NotificationID, _ state: Receipt.State) {
        if let place = fates.lastIndex(where: { $0.receipt.id == id }) {
            fates[place].receipt.state = state
        }
        for place in out.receipts.indices where isPosting && out.receipts[place].id == id {
            out.receipts[place].state = state
        }
    }

    // MARK: Modes (rule Q16)

    mutating func enterMode(_ entry: ModeEntry) {
        if let client = entry.client, place(ofClient: client) == nil {
            return refuse(.unknownClient)
        }
        guard modes.count < limits.modeStackLimit else {
            return refuse(.modeStackFull(limit: limits.modeStackLimit))
        }
        modes.append(Lease(entry: entry, endsAt: end(of: entry.lease)))
    }

    mutating func leaveMode(_ serial: UInt64) {
        guard let place = modes.firstIndex(where: { $0.entry.serial == serial }) else {
            return refuse(.unknownMode)
        }
        modes.remove(at: place)
    }
}
