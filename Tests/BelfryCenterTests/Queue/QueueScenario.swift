@testable import BelfryCenter

/// A queue with the next identifiers for its posts, so that a test says only what matters to it.
struct QueueScenario {
    var queue: NotificationQueue
    var entryLimit = 10_000
    var modeLimit = 1_000
    var byteRoom = 64 << 20
    var scope = PostScope.everything
    /// The monotonic clock in nanoseconds; a test moves it by hand.
    var now: Int64 = 1_000
    private var lastPost: UInt64 = 0

    init(seed: HashSeed = HashSeed(1, 2), common: [String] = ["default"]) {
        queue = NotificationQueue(seed: seed, commonModes: common.map { bytes($0) })
    }

    var time: CommandTime {
        CommandTime(wallMilliseconds: now / 1_000, monotonicNanoseconds: now)
    }

    /// A post with the next identifier, which is told as its number.
    ///
    /// The text is name, slash and object; without a slash there is no object.
    mutating func newPost(
        _ text: String, _ style: PostingStyle = .asap, userInfo: String? = nil,
        coalesce: Coalescing = [.onName, .onSender], keepsLatest: Bool = false,
        modes: [String] = ["default"], maxDelay: Int64? = nil, isImmediate: Bool = false,
        ttl: Int64? = nil, causedBy: UInt64? = nil
    ) -> Post {
        lastPost += 1
        return Post(
            id: Self.id(lastPost), content: Self.content(text, userInfo: userInfo),
            causedBy: causedBy.map { Self.id($0) },
            options: PostOptions(
                style: style, coalescing: coalesce, keepsLatest: keepsLatest,
                modes: modes.map { bytes($0) }, maxDelay: maxDelay, isImmediate: isImmediate,
                timeToLive: ttl))
    }

    static func id(_ number: UInt64) -> NotificationID { NotificationID(high: 0xb, low: number) }

    static func content(_ text: String, userInfo: String? = nil) -> Notification.Content {
        let parts = text.split(separator: "/", maxSplits: 1)
        return Notification.Content(
            name: bytes(String(parts[0])),
            object: parts.count == 2 ? bytes(String(parts[1])) : nil,
            userInfo: userInfo.map { bytes($0) })
    }

    /// Enqueues one post under the limits.
    @discardableResult
    mutating func add(_ post: Post, depth: Int = 1) throws(Refusal) -> NotificationQueue.Added {
        try queue.add(
            post, depth: depth, scope: scope, room: room(upTo: queue.byteCount.adding(byteRoom)),
            at: time)
    }

    /// Enqueues several posts of one command like the center: tries all, undoes them, adds each.
    @discardableResult
    mutating func add(_ posts: [Post]) throws(Refusal) -> [NotificationQueue.Added] {
        let byteLimit = queue.byteCount.adding(byteRoom)
        queue.beginBatch()
        do throws(Refusal) {
            for post in posts { _ = try add(post, upTo: byteLimit) }
        } catch {
            queue.undoBatch()
            throw error
        }
        queue.undoBatch()
        var added: [NotificationQueue.Added] = []
        for post in posts { added.append(try add(post, upTo: byteLimit)) }
        return added
    }

    private mutating func add(
        _ post: Post, upTo byteLimit: Int
    ) throws(Refusal) -> NotificationQueue.Added {
        try queue.add(post, depth: 1, scope: scope, room: room(upTo: byteLimit), at: time)
    }

    private func room(upTo byteLimit: Int) -> NotificationQueue.Room {
        NotificationQueue.Room(
            entryLimit: entryLimit, modeLimit: modeLimit, byteLimit: byteLimit)
    }

    /// Makes a post and enqueues it; the answer is put into words.
    @discardableResult
    mutating func post(
        _ text: String, _ style: PostingStyle = .asap, userInfo: String? = nil,
        coalesce: Coalescing = [.onName, .onSender], keepsLatest: Bool = false,
        modes: [String] = ["default"], maxDelay: Int64? = nil, isImmediate: Bool = false,
        ttl: Int64? = nil
    ) throws(Refusal) -> NotificationQueue.Added {
        try add(
            newPost(
                text, style, userInfo: userInfo, coalesce: coalesce, keepsLatest: keepsLatest,
                modes: modes, maxDelay: maxDelay, isImmediate: isImmediate, ttl: ttl))
    }

    /// The entries in posting order.
    var entries: [NotificationQueue.Entry] {
        var entries: [NotificationQueue.Entry] = []
        queue.forEachInPostingOrder { entry in
            entries.append(entry)
            return true
        }
        return entries
    }

    /// The entries in posting order as texts: name, object, userInfo.
    var listing: [String] { entries.map(\.text) }

    /// One pass of the loop: all asap entries, then one idle entry.
    mutating func turn() -> [String] {
        let asap = queue.takeAllAsap().map(\.text)
        return asap + (queue.takeIdle().map { [$0.text] } ?? [])
    }

    /// Passes of the loop until nothing may be posted.
    mutating func run() -> [String] {
        var posted: [String] = []
        while queue.hasAsap || queue.hasIdle { posted += turn() }
        return posted
    }

    mutating func enter(_ mode: String) { queue.enter(mode: bytes(mode)) }

    /// Dequeues by a mask (rule Q20), and tells what went.
    mutating func dequeue(_ text: String, mask: Coalescing) -> [String] {
        let content = Self.content(text)
        return queue.take(
            QueueMatch(
                name: content.nameBytes, object: content.objectBytes, mask: mask, scope: scope)
        ).map(\.text)
    }

    var digest: UInt64 {
        var digest = StateDigest()
        queue.addDigest(to: &digest)
        return digest.finish()
    }
}

extension NotificationQueue.Entry {
    /// Name, slash and object, then userInfo in brackets.
    var text: String {
        var text = String(decoding: content.nameBytes, as: UTF8.self)
        if let object = content.objectBytes {
            text += "/" + String(decoding: object, as: UTF8.self)
        }
        if let userInfo = content.userInfoBytes {
            text += "(" + String(decoding: userInfo, as: UTF8.self) + ")"
        }
        return text
    }

    var modeTexts: [String] { modes.map { String(decoding: $0, as: UTF8.self) } }
}

extension NotificationQueue {
    /// Takes out the asap entries that are there, in one turn.
    mutating func takeAllAsap() -> [Entry] {
        beginSnapshot()
        var taken: [Entry] = []
        while let entry = takeAsap() { taken.append(entry) }
        endSnapshotIfOver()
        return taken
    }
}
