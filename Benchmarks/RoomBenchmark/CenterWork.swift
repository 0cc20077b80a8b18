import BelfryCenter
import BelfryJSON

/// A center, and the commands that a benchmark gives it.
struct CenterBench {
    var center: NotificationCenter
    var effects = Effects()
    var serial: UInt64 = 0
    var client: UInt64 = 0
    var postCount: UInt64 = 0

    init(limits: CenterLimits = CenterLimits()) {
        center = NotificationCenter(
            name: Array("default".utf8), epoch: Array("k1".utf8), limits: limits,
            seed: HashSeed(1, 2))
    }

    mutating func apply(_ action: consuming Command.Action) {
        let index = center.appliedIndex + 1
        let command = Command(
            id: CommandID(node: 1, incarnation: 1, counter: index),
            time: CommandTime(wallMilliseconds: 1_000, monotonicNanoseconds: 1_000_000_000),
            action: action)
        center.apply(command, at: index, into: &effects)
        if case .refused(let refusal) = effects.outcome { fatalError("\(refusal)") }
    }

    /// Registers an observer; each client owns as many as the limits allow.
    mutating func observe(
        _ name: String?, terms: ObserverTerms = ObserverTerms(), filter: FilterTerms? = nil
    ) {
        if serial % UInt64(center.limits.clientObserverLimit) == 0 {
            client += 1
            let registration = ClientRegistration(
                id: client, transport: .webSocket,
                connection: ConnectionName(node: 0, number: client),
                sessionHash: SecretHash(high: client, low: 7), principal: Array("anonymous".utf8))
            apply(.connect(registration, observers: [], since: nil))
        }
        serial += 1
        let registration = ObserverRegistration(
            serial: serial, tokenHash: SecretHash(high: serial, low: 9),
            name: name.map { Array($0.utf8) }, object: nil, selector: Array("notify".utf8),
            terms: terms, role: filter.map { .filtered($0, target: nil) } ?? .plain)
        apply(.addObserver(registration, client: client, since: nil))
    }

    mutating func post(
        _ content: Notification.Content, options: PostOptions? = nil, terms: PostTerms = PostTerms()
    ) {
        postCount += 1
        apply(.post(Post(id: lastID, content: content, options: options), terms))
    }

    /// The identifier of the last post.
    var lastID: NotificationID {
        NotificationID(milliseconds: 1, place: postCount, random: postCount)
    }
}

/// Posts that one observer matches, beside others that observe other names, and beside timers.
struct Matching: Work {
    private var bench: CenterBench
    private let content = CenterBench.content("ButtonChange", #"{"title":"7"}"#)

    init(observerCount: Int, timerCount: Int = 0) {
        bench = CenterBench(timerCount: timerCount)
        for number in 1..<observerCount { bench.observe("one-off-\(number)") }
        bench.observe("ButtonChange")
    }

    mutating func run(_ count: Int) {
        for _ in 0..<count { bench.post(content) }
        use(bench.effects.deliveries.count)
    }
}

/// Posts that one observer matches and an archive in memory keeps, which lets the oldest go.
struct Keeping: Work {
    private var bench = CenterBench()
    private let content = CenterBench.content("ButtonChange", #"{"title":"7"}"#)

    init() {
        var terms = ArchiveTerms()
        (terms.isStored, terms.count) = (false, 1_000)
        let name = ArchiveName(Array("ButtonChange".utf8), isPrefix: false)
        bench.apply(.putArchive(name, terms))
        bench.observe("ButtonChange")
        run(2_000)
    }

    mutating func run(_ count: Int) {
        for _ in 0..<count { bench.post(content) }
        use(bench.effects.deliveries.count)
    }
}

/// Posts of 280 bytes with 19 strings that one observer matches, beside finer filters.
struct Filtering: Work {
    private var bench = CenterBench()
    private let content: Notification.Content

    /// Makes a center with these observers.
    ///
    /// - Parameters:
    ///   - prefixCount: observers of a prefix that the name does not have, but for its first half.
    ///   - hasCondition: whether the observer that matches has three conditions.
    ///   - falseCount: observers with one condition each that is false.
    init(prefixCount: Int = 0, hasCondition: Bool = false, falseCount: Int = 0) {
        let members = (0..<19).map { #""key\#($0)":"\#($0 % 10)23""# }.joined(separator: ",")
        let padding = String(repeating: "x", count: 280 - members.utf8.count - 2 - 7)
        content = CenterBench.content("ButtonChange", #"{\#(members),"":"\#(padding)"}"#)
        for number in 0..<prefixCount {
            var filter = FilterTerms()
            filter.namePrefix = Array("Button-\(number).".utf8)
            bench.observe(nil, filter: filter)
        }
        for number in 0..<falseCount {
            bench.observe("ButtonChange", filter: Self.filter(#"{"key7":"no-\#(number)"}"#))
        }
        let three = #"{"key3":"323","key9":{"prefix":"9"},"key18":{"not":"x"}}"#
        bench.observe("ButtonChange", filter: hasCondition ? Self.filter(three) : nil)
    }

    private static func filter(_ condition: String) -> FilterTerms {
        var filter = FilterTerms()
        let text = Array(condition.utf8)
        filter.condition = try? JSONCondition(text.span)
        return filter
    }

    mutating func run(_ count: Int) {
        for _ in 0..<count { bench.post(content) }
        use(bench.effects.deliveries.count)
    }
}

/// Posts that are queued and merge with an entry that waits already, among others that do not.
struct Coalescing: Work {
    private var bench = CenterBench()
    private let content = CenterBench.content("ButtonChange", #"{"title":"7"}"#)
    private let options = PostOptions(style: .asap, keepsLatest: true)

    init() {
        bench.observe("ButtonChange")
        for number in 0..<100 {
            bench.post(CenterBench.content("other-\(number)", "{}"), options: options)
        }
        bench.post(content, options: options)
    }

    mutating func run(_ count: Int) {
        for _ in 0..<count { bench.post(content, options: options) }
        use(bench.effects.receipts.count)
    }
}

/// Registers observers of one center, 10,000 a client: of one name, or each of a name of its own.
struct Registering: Work {
    private var bench = CenterBench()
    private let haveOwnNames: Bool

    init(haveOwnNames: Bool) {
        self.haveOwnNames = haveOwnNames
    }

    mutating func run(_ count: Int) {
        for _ in 0..<count {
            bench.observe(haveOwnNames ? "one-off-\(bench.serial)" : "ButtonChange")
        }
        use(Int(bench.serial))
    }
}

/// Posts that a suspended client is held, each with 280 bytes of its own.
struct Holding: Work {
    private var bench: CenterBench
    private let name = Array("ButtonChange".utf8)
    private let userInfo = Array((#"{"note":""# + String(repeating: "x", count: 269) + #""}"#).utf8)

    init() {
        var limits = CenterLimits()
        limits.clientHeldCountLimit = 10_000_000
        limits.clientHeldByteLimit = 1 << 40
        limits.fateLimit = 1_000
        bench = CenterBench(limits: limits)
        var terms = ObserverTerms()
        terms.suspensionBehavior = .hold
        terms.holdLimit = 10_000_000
        bench.observe("ButtonChange", terms: terms)
        // The memory of posts has its full size before the first is held.
        run(10_000)
        bench.apply(.setSuspended(client: 1, true))
    }

    mutating func run(_ count: Int) {
        for _ in 0..<count {
            bench.post(Notification.Content(name: name, userInfo: userInfo))
        }
        use(bench.effects.receipts.count)
    }
}

extension CenterBench {
    static func content(_ name: String, _ userInfo: String) -> Notification.Content {
        Notification.Content(
            name: Array(name.utf8), object: Array("calculator".utf8), userInfo: Array(userInfo.utf8)
        )
    }
}
