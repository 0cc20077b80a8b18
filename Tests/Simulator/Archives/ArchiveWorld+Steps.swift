import BelfryCenter
import BelfryJSON
import TestSupport

// The steps of the world.
extension ArchiveWorld {
    static let names = ["a", "ab", "b"].map { [UInt8]($0) }
    static let objects: [[UInt8]?] = [nil, [UInt8]("o"), [UInt8]("q")]
    static let prefixes = ["a", "ab", "b", "z"].map { [UInt8]($0) }

    func perform() throws(Violation) {
        switch dice.below(64) {
        case 0...2: try putArchive()
        case 3: if dice.oneIn(3) { try removeArchive() }
        case 4...6: if ends.count < 5 { try connectSome() }
        case 7...11: try addObserver()
        case 12: try removeObserver()
        case 13: if let client = pick({ $0.connection != nil }) { try cut(client) }
        case 14...16: if let client = pick({ $0.connection == nil }) { try comeBack(client) }
        case 17:
            if dice.oneIn(3), let client = pick({ $0.connection != nil }) { try comeBack(client) }
        case 18, 19: try suspend()
        case 20, 21: try forget()
        case 22...25: try passTime(dice.below(dice.oneIn(4) ? 5_000 : 400))
        case 26: if dice.oneIn(6) { try restart(isComplete: dice.oneIn(2)) }
        case 27...29: try settle()
        case 30...33: try endTurn()
        case 34, 35: try readMailbox()
        case 36...43:
            if let client = pick({ $0.connection != nil }) {
                try read(dice.number(in: 1...8), of: client)
            }
        case 44: if dice.oneIn(4) { try trim() }
        default: try post()
        }
    }

    // MARK: Archives

    private func someName() -> ArchiveName {
        dice.oneIn(2)
            ? ArchiveName(dice.pick(Self.names) ?? [], isPrefix: false)
            : ArchiveName(dice.pick(Self.prefixes) ?? [], isPrefix: true)
    }

    private func putArchive() throws(Violation) {
        let name = someName()
        var terms = ArchiveTerms()
        if !dice.oneIn(3) { terms.count = dice.number(in: 1...5) }
        if dice.oneIn(3) { terms.byteLimit = dice.number(in: 130...900) }
        if dice.oneIn(3) { terms.age = Int64(dice.number(in: 1...3_000)) }
        if terms.age != nil, dice.oneIn(2) { terms.keepLast = dice.number(in: 1...2) }
        terms.each = dice.oneIn(3) ? .object : .name
        terms.isStored = !dice.oneIn(4)
        let outcome = try put(name, terms)
        guard case .archive(let row) = outcome, row.name == name, row.terms == terms else {
            throw Violation("an archive is made, and \(outcome)")
        }
    }

    private func put(_ name: ArchiveName, _ terms: ArchiveTerms) throws(Violation) -> Outcome {
        // The judge of pages learns from the center what a change of terms has taken.
        truth.passTime(to: now, wall: wall)
        truth.put(name, terms)
        count("archives")
        changedArchive = name
        defer { changedArchive = nil }
        return try submit(
            .putArchive(name, terms),
            """
            putArchive \(name.text.shown)\(name.isPrefix ? "*" : "") \
            count \(terms.count ?? -1) bytes \(terms.byteLimit) age \(terms.age ?? -1) \
            keepLast \(terms.keepLast) \(terms.each) stored \(terms.isStored)
            """)
    }

    private func removeArchive() throws(Violation) {
        let name =
            truth.archives.isEmpty || dice.oneIn(5)
            ? someName() : truth.archives[dice.below(truth.archives.count)].name
        let isThere = truth.archives.contains { $0.name == name }
        truth.passTime(to: now, wall: wall)
        truth.remove(name)
        let outcome = try submit(
            .removeArchive(name),
            "removeArchive \(name.text.shown)\(name.isPrefix ? "*" : "")")
        guard isThere == (outcome == .done) else {
            throw Violation("an archive was there, or was not, and \(outcome)")
        }
        count("archives removed")
    }

    private func forget() throws(Violation) {
        var query = PastQuery()
        if dice.oneIn(4) {
            query.terms = FilterTerms()
            query.terms?.namePrefix = dice.pick(Self.prefixes)
        } else {
            query.name = dice.pick(Self.names)
        }
        if dice.oneIn(3) { query.object = dice.pick(Self.objects) ?? nil }
        let top = Int(center.sequence)
        switch dice.below(4) {
        case 0: query.id = dice.pick(Array(truth.posts.suffix(20)))?.id
        case 1: query.after = UInt64(max(0, top - dice.below(20)))
        case 2: query.before = UInt64(max(0, top - dice.below(20)))
        default:
            query.after = UInt64(max(0, top - dice.below(20)))
            query.before = query.after + UInt64(dice.below(6))
        }
        truth.passTime(to: now, wall: wall)
        let hidden = truth.posts.count { $0.ends <= now }
        let meant = truth.forget { post in
            post.sequence > query.after && post.sequence < query.before
                && (query.id == nil || query.id == post.id)
                && (query.object == nil || query.object == post.object)
                && (query.name == nil || query.name == post.name)
                && (query.terms?.namePrefix.map { post.name.starts(with: $0) } ?? true)
        }
        count("forgotten")
        let outcome = try submit(
            .forget(query, above: 0),
            """
            forget \(query.name?.shown ?? "") \(query.terms?.namePrefix?.shown ?? "")* \
            /\(query.object?.shown ?? "") above \(query.after) below \(query.before) \
            one \(query.id != nil): \(meant)
            """)
        guard case .forgot(let count, nil) = outcome,
            meant.lowerBound - hidden...meant.upperBound ~= count
        else { throw Violation("rule A16: \(meant) are forgotten, and \(outcome)") }
    }

    private func trim() throws(Violation) {
        let count = dice.below(8)
        truth.trimRing(to: count)
        try submit(.trim(.replay, count: count), "trim replay to \(count)")
    }

    // MARK: Posts

    private func post() throws(Violation) {
        let serial = number()
        let ttl: Int64? = dice.oneIn(5) ? Int64(dice.number(in: 1...2_000)) * 1_000_000 : nil
        let padding = dice.oneIn(8) ? String(repeating: "x", count: dice.below(700)) : ""
        let content = Notification.Content(
            name: dice.pick(Self.names) ?? [], object: dice.pick(Self.objects) ?? nil,
            userInfo: [UInt8](#"{"n":\#(dice.below(4)),"x":"\#(padding)"}"#))
        let post = Post(
            id: NotificationID(high: UInt64(wall), low: serial), content: content,
            options: ttl.map { PostOptions(timeToLive: $0) })
        count("posts")
        try submit(
            .post(post, PostTerms()),
            """
            post #\(center.sequence + 1) \(content.nameBytes.shown)/\
            \(content.objectBytes?.shown ?? "") n \(Self.number(content)) \
            \(content.byteCount) bytes ttl \(ttl.map { $0 / 1_000_000 } ?? -1)
            """)
        for client in ends.keys.sorted() { try noteSlow(client) }
    }

    // MARK: Observers

    private func registration(
        _ transport: Transport, _ beginning: PastBeginning?
    ) -> ObserverRegistration {
        var terms = ObserverTerms()
        let behaviors: [SuspensionBehavior] = [.hold, .hold, .coalesce, .drop]
        terms.suspensionBehavior = dice.pick(behaviors) ?? .hold
        terms.endsWithConnection = transport == .events || dice.oneIn(5)
        if transport == .mailbox { terms.endsWithConnection = false }
        terms.holdLimit = 1_000
        terms.acknowledges = transport == .webSocket && dice.oneIn(6)
        terms.lease = dice.oneIn(4) ? Int64(dice.number(in: 500...9_000)) * 1_000_000 : nil
        var name: [UInt8]?
        var filter = FilterTerms()
        switch dice.below(8) {
        case 0: filter.namePrefix = dice.pick(Self.prefixes)
        case 1: filter.names = Array(Self.names.prefix(dice.number(in: 2...3)))
        case 2: break
        default: name = dice.pick(Self.names)
        }
        if dice.oneIn(5) { filter.condition = Self.condition }
        let object = dice.oneIn(3) ? dice.pick(Self.objects) ?? nil : nil
        var registration = ObserverRegistration(
            serial: number(), tokenHash: SecretHash(high: lastNumber, low: 1), name: name,
            object: object, selector: [UInt8]("s"), terms: terms,
            role: filter.isFiner ? .filtered(filter, target: nil) : .plain)
        registration.beginning = beginning
        return registration
    }

    private static let condition: JSONCondition = {
        let text = [UInt8](#"{"n":{"atLeast":2}}"#)
        guard let condition = try? JSONCondition(text.span) else {
            preconditionFailure("the condition is refused")
        }
        return condition
    }()

    private func someBeginning() -> (PastBeginning?, since: UInt64?) {
        switch dice.below(9) {
        case 0: (nil, nil)
        case 1...3:
            (nil, dice.oneIn(4) ? 0 : UInt64(max(0, Int(center.sequence) - dice.below(25))))
        case 4: (.from(wall - Int64(dice.below(3_000))), nil)
        case 5, 6: (.oldest, nil)
        case 7: (.last(dice.number(in: 1...4)), nil)
        default: (.lastEach(dice.number(in: 1...2)), nil)
        }
    }

    private func connectSome() throws(Violation) {
        switch dice.below(4) {
        case 0, 1: _ = try connect(.webSocket)
        case 2:
            let (beginning, since) = someBeginning()
            let client = try connect(
                .events,
                (0..<dice.number(in: 1...2)).map { _ in registration(.events, beginning) },
                since: since)
            try judgeBeginning(of: client)
        default:
            let (beginning, since) = someBeginning()
            let registration = registration(.mailbox, beginning)
            let client = try connect(.mailbox, [registration], since: since)
            try judgeMailboxBeginning(registration.serial, of: client, beginning)
        }
    }

    private func addObserver() throws(Violation) {
        guard watchers.count < 9,
            let client = pick({ $0.connection != nil && $0.transport == .webSocket })
        else { return }
        let (beginning, since) = someBeginning()
        let isAtRest = center.client(client)?.state == .live && ends[client]?.isFlushing == false
        let registration = registration(.webSocket, beginning)
        try meetDeadlines()
        note(registration, of: client, since: since)
        try submit(
            .addObserver(registration, client: client, since: since),
            "c\(client) addObserver \(Self.text([registration], since))")
        if isAtRest { try judgeBeginning(of: client, registration.serial) }
        try noteSlow(client)
    }

    private func removeObserver() throws(Violation) {
        guard let serial = dice.pick(watchers.keys.sorted()), dice.oneIn(3) else { return }
        try submit(.removeObserver(serial: serial, by: .broker), "removeObserver o\(serial)")
    }

    private func suspend() throws(Violation) {
        guard let client = pick({ $0.connection != nil && $0.transport == .webSocket }),
            let isAsked = ends[client]?.isAsked
        else { return }
        ends[client]?.isAsked = !isAsked
        try submit(
            .setSuspended(client: client, !isAsked), "setSuspended c\(client) \(!isAsked)")
        try noteSlow(client)
    }
}
