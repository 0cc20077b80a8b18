import Testing

@testable import BelfryCenter

// A new field of an entry of the queue is easily forgotten where an entry is merged, digested or
// stored, as all of these leave it as it was. So the fields are read off the values, and each must
// be in the tables below.

@Suite("An entry of the queue forgets nothing of a post (law 1)")
struct QueueEntryTests {
    typealias Entry = NotificationQueue.Entry

    /// A field of an entry: the same entry with another value of it, and its use elsewhere.
    struct Field {
        let changed: Entry
        /// Whether an entry that takes over the changed one gets the value.
        let isTakenOver: Bool
        var isDigested = true
        var isStored = true
    }

    private static let time = CommandTime(wallMilliseconds: 5, monotonicNanoseconds: 5_000)

    private static func entry(
        id: UInt64 = 1, place: UInt64 = 1, userInfo: String = "{}", causedBy: UInt64 = 1,
        depth: Int = 1, style: PostingStyle = .idle, coalescing: Coalescing = .onName,
        modes: [String] = ["a"], mergedCount: Int = 1, enqueuedAt: Int64 = 1,
        promotesAt: Int64 = 9_000, expiresAt: Int64 = 9_000, isImmediate: Bool = false,
        isRestored: Bool = true, owner: UInt32 = 1
    ) -> Entry {
        Entry(
            id: QueueScenario.id(id), place: place,
            content: QueueScenario.content("n", userInfo: userInfo),
            causedBy: QueueScenario.id(causedBy), depth: depth, style: style,
            coalescing: coalescing, modes: modes.map { bytes($0) }, mergedCount: mergedCount,
            enqueuedAt: enqueuedAt, promotesAt: promotesAt, expiresAt: expiresAt,
            isImmediate: isImmediate, isRestored: isRestored, owner: Owner(number: owner))
    }

    private static let fields: [String: Field] = [
        "id": Field(changed: entry(id: 2), isTakenOver: false),
        "place": Field(changed: entry(place: 2), isTakenOver: false),
        "content": Field(changed: entry(userInfo: "{} "), isTakenOver: false),
        "causedBy": Field(changed: entry(causedBy: 2), isTakenOver: false),
        "depth": Field(changed: entry(depth: 2), isTakenOver: true),
        "style": Field(changed: entry(style: .asap, promotesAt: .max), isTakenOver: true),
        "coalescing": Field(changed: entry(coalescing: .onSender), isTakenOver: false),
        "modes": Field(changed: entry(modes: ["a", "b"]), isTakenOver: true),
        "mergedCount": Field(changed: entry(mergedCount: 2), isTakenOver: true),
        "enqueuedAt": Field(changed: entry(enqueuedAt: 2), isTakenOver: false),
        "promotesAt": Field(changed: entry(promotesAt: 8_000), isTakenOver: true),
        "expiresAt": Field(changed: entry(expiresAt: .max), isTakenOver: true),
        "isImmediate": Field(changed: entry(isImmediate: true), isTakenOver: true),
        "isRestored": Field(changed: entry(isRestored: false), isTakenOver: false, isStored: false),
        // The number of an owner is given anew in each life, and differs between servers.
        "owner": Field(
            changed: entry(owner: 2), isTakenOver: false, isDigested: false, isStored: false),
    ]

    /// The stored properties of a value, each as a text.
    private static func properties(of value: Any) -> [String: String] {
        let children = Mirror(reflecting: value).children
        return Dictionary(uniqueKeysWithValues: children.map { ($0.label ?? "", "\($0.value)") })
    }

    private static func digest(_ entry: Entry) -> UInt64 {
        var digest = StateDigest()
        entry.addDigest(to: &digest)
        return digest.finish()
    }

    @Test("each field of an entry stands in the table")
    func table() {
        let base = Self.properties(of: Self.entry())
        #expect(Set(base.keys) == Set(Self.fields.keys))
        for (name, field) in Self.fields {
            #expect(Self.properties(of: field.changed)[name] != base[name], "\(name)")
        }
    }

    @Test("the digest sees each field", arguments: fields.keys.sorted())
    func digest(name: String) throws {
        let field = try #require(Self.fields[name])
        let isSeen = Self.digest(field.changed) != Self.digest(Self.entry())
        #expect(isSeen == field.isDigested)
    }

    @Test(
        "an entry that merges with another one takes what it asks for",
        arguments: fields.keys.sorted())
    func absorb(name: String) throws {
        let field = try #require(Self.fields[name])
        func merged(with other: Entry) -> String? {
            var entry = Self.entry()
            entry.absorb([], other, keepsLatest: false)
            return Self.properties(of: entry)[name]
        }
        #expect((merged(with: field.changed) != merged(with: Self.entry())) == field.isTakenOver)
    }

    @Test("an entry that comes back from the store has each field", arguments: fields.keys.sorted())
    func record(name: String) throws {
        let field = try #require(Self.fields[name])
        func restored(_ entry: Entry) -> String? {
            Self.properties(of: Entry(entry.record(at: Self.time), at: Self.time))[name]
        }
        #expect((restored(field.changed) != restored(Self.entry())) == field.isStored)
    }

    // MARK: Posts

    private static func options(
        style: PostingStyle = .idle, coalescing: Coalescing = .onName, keepsLatest: Bool = false,
        modes: [String] = ["a"], maxDelay: Int64 = 1, isImmediate: Bool = false,
        timeToLive: Int64 = 1, timer: TimerTerms? = nil
    ) -> PostOptions {
        PostOptions(
            style: style, coalescing: coalescing, keepsLatest: keepsLatest,
            modes: modes.map { bytes($0) }, maxDelay: maxDelay, isImmediate: isImmediate,
            timeToLive: timeToLive, timer: timer)
    }

    /// The options of a post, each with another value.
    private static let optionChanges: [String: PostOptions] = [
        "style": options(style: .asap), "coalescing": options(coalescing: .onSender),
        "keepsLatest": options(keepsLatest: true), "modes": options(modes: ["b"]),
        "maxDelay": options(maxDelay: 2), "isImmediate": options(isImmediate: true),
        "timeToLive": options(timeToLive: 2), "timer": options(timer: TimerTerms()),
    ]

    @Test("each option of a post stands in the table, and makes other options")
    func optionTable() {
        #expect(Set(Self.properties(of: Self.options()).keys) == Set(Self.optionChanges.keys))
        for (name, changed) in Self.optionChanges { #expect(changed != Self.options(), "\(name)") }
    }

    @Test("an entry keeps each option of its post", arguments: optionChanges.keys.sorted())
    func enqueue(name: String) throws {
        let changed = try #require(Self.optionChanges[name])
        func entry(_ options: PostOptions) -> Entry {
            let post = Post(
                id: QueueScenario.id(1), content: QueueScenario.content("n"), options: options)
            return Entry(post, depth: 1, place: 1, at: Self.time)
        }
        // The effect of these is over when the post has merged, or is due.
        let isOver = ["keepsLatest", "timer"].contains(name)
        #expect((entry(changed) != entry(Self.options())) == !isOver)
    }
}
