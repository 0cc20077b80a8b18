@testable import BelfryCenter

/// The verbs of the cases. Notifications are written as short texts: `a1/o` has the name
/// `a`, the userInfo `1` and the object `o`.
extension Scenario {
    // MARK: REG

    /// Registers an observer that outlives its connection, and tells its serial number.
    @discardableResult
    mutating func observe(
        _ name: String?, _ object: String? = nil, by client: UInt64,
        _ behavior: SuspensionBehavior, since: UInt64? = nil,
        _ change: (inout ObserverTerms) -> Void = { _ in }
    ) -> UInt64 {
        var terms = ObserverTerms()
        terms.suspensionBehavior = behavior
        change(&terms)
        let registration = registration(name, object, terms)
        apply(.addObserver(registration, client: client, since: since))
        return registration.serial
    }

    /// Registers an observer whose deliveries must be acknowledged.
    @discardableResult
    mutating func observeAcknowledging(
        _ name: String?, _ object: String? = nil, by client: UInt64,
        _ change: (inout ObserverTerms) -> Void = { _ in }
    ) -> UInt64 {
        observe(name, object, by: client, .hold) { terms in
            terms.acknowledges = true
            change(&terms)
        }
    }

    /// Makes a mailbox with one observer, and tells the observer.
    mutating func mailbox(
        _ name: String?, _ behavior: SuspensionBehavior = .hold, owner: Owner = .none,
        _ change: (inout ObserverTerms) -> Void = { _ in }
    ) -> UInt64 {
        var terms = ObserverTerms()
        terms.suspensionBehavior = behavior
        terms.lease = 86_400_000_000_000
        change(&terms)
        let registration = registration(name, nil, terms)
        _ = connect([registration], transport: .mailbox, owner: owner)
        return registration.serial
    }

    // MARK: SUSP, RES, CUT, BACK

    mutating func suspend(_ client: UInt64) { apply(.setSuspended(client: client, true)) }
    mutating func endSuspension(_ client: UInt64) { apply(.setSuspended(client: client, false)) }

    /// Ends the connection that a client has.
    @discardableResult
    mutating func cut(_ client: UInt64) -> Outcome {
        guard let row = center.client(client) else { return .refused(.unknownClient) }
        return apply(.disconnect(client: client, connection: row.connection))
    }

    /// A client comes back on a new connection.
    @discardableResult
    mutating func back(_ client: UInt64, after: UInt64? = nil) -> Outcome {
        let newcomer = connect()
        return apply(.resume(Resumption(newcomer: newcomer, client: client, after: after)))
    }

    func state(_ client: UInt64) -> ClientState? { center.client(client)?.state }

    // MARK: POST

    /// Makes a post of a text, with options if there are any.
    mutating func newPost(
        text: String, style: PostingStyle? = nil, coalesce: Coalescing = [.onName, .onSender],
        keepsLatest: Bool = false, modes: [String] = ["default"], maxDelay: Int64? = nil,
        isImmediate: Bool = false, ttl: Int64? = nil, causedBy: NotificationID? = nil
    ) -> Post {
        let parts = text.split(separator: "/", maxSplits: 1)
        let name = parts[0].prefix { !$0.isNumber }
        let userInfo = parts[0].dropFirst(name.count)
        let plain = newPost(
            String(name), parts.count > 1 ? String(parts[1]) : nil,
            userInfo: userInfo.isEmpty ? nil : String(userInfo), causedBy: causedBy)
        if style == nil, !isImmediate, ttl == nil { return plain }
        return Post(
            id: plain.id, content: plain.content, causedBy: causedBy,
            options: PostOptions(
                style: style, coalescing: coalesce, keepsLatest: keepsLatest,
                modes: modes.map { bytes($0) }, maxDelay: maxDelay, isImmediate: isImmediate,
                timeToLive: ttl))
    }

    /// Posts a text, and tells its identifier; the receipt is in the effects.
    @discardableResult
    mutating func say(
        _ text: String, style: PostingStyle? = nil, coalesce: Coalescing = [.onName, .onSender],
        keepsLatest: Bool = false, modes: [String] = ["default"], maxDelay: Int64? = nil,
        isImmediate: Bool = false, ttl: Int64? = nil, causedBy: NotificationID? = nil,
        _ change: (inout PostTerms) -> Void = { _ in }
    ) -> NotificationID {
        let post = newPost(
            text: text, style: style, coalesce: coalesce, keepsLatest: keepsLatest, modes: modes,
            maxDelay: maxDelay, isImmediate: isImmediate, ttl: ttl, causedBy: causedBy)
        var terms = PostTerms()
        change(&terms)
        apply(.post(post, terms))
        return post.id
    }

    /// Posts several texts in one callout.
    mutating func sayAll(
        _ texts: [String], style: PostingStyle? = nil, keepsLatest: Bool = false,
        coalesce: Coalescing = [.onName, .onSender], _ change: (inout PostTerms) -> Void = { _ in }
    ) {
        var posts: [Post] = []
        for text in texts {
            posts.append(
                newPost(
                    text: text, style: style, coalesce: coalesce, keepsLatest: keepsLatest))
        }
        var terms = PostTerms()
        change(&terms)
        apply(.postBatch(posts, terms))
    }

    @discardableResult
    mutating func acknowledge(
        _ observer: UInt64, _ sequence: UInt64, error: String? = nil
    ) -> Outcome {
        apply(
            .acknowledge(
                client: center.observer(observer)?.client ?? 0,
                DeliveryName(observer: observer, sequence: sequence),
                error.map { .refusal(bytes($0)) } ?? .result([])))
    }

    /// Lets time pass, and what is due with it.
    mutating func pass(milliseconds count: Int64) {
        milliseconds += count
        apply(.passTime(workLimit: .max))
    }

    // MARK: What came of it

    /// The deliveries of the last command as texts; `*` marks those that are redelivered.
    var frames: [String] { effects.deliveries.map { text(of: $0) } }

    /// Those of one connection.
    func frames(to connection: UInt64) -> [String] {
        effects.deliveries.filter { $0.connection.number == connection }.map { text(of: $0) }
    }

    private func text(of delivery: Delivery) -> String {
        let content = effects.notifications[Int(delivery.notification)].content
        return content.text + (delivery.isRedelivered ? "*" : "")
    }

    /// The gaps that the last command told.
    var gaps: [Gap] {
        effects.notices.compactMap { notice in
            if case .gap(_, _, let gap) = notice { gap } else { nil }
        }
    }

    /// The gaps as count and reason, which is most of what tests ask.
    var losses: [String] { gaps.map { "\($0.reason) \($0.lostCount.map { "\($0)" } ?? "?")" } }

    /// The gaps as count, reason and numbers.
    var lossRanges: [String] {
        zip(losses, gaps).map { "\($0) \($1.firstSequence)...\($1.lastSequence)" }
    }

    /// Whether the last command asked for a `drain` after its step of a flush.
    var flushGoesOn: Bool {
        effects.notices.contains { notice in
            if case .flushGoesOn = notice { true } else { false }
        }
    }

    /// The present account of a post.
    func account(_ id: NotificationID) -> Receipt? { center.receipt(of: id, at: time) }

    /// The texts of what a mailbox has.
    func mailTexts(_ observer: UInt64, after: UInt64 = 0, limit: Int = 100) -> [String] {
        let page = center.mailbox(of: observer, after: after, limit: limit)
        return page?.elements.map {
            $0.notification.content.text + ($0.isRedelivered ? "*" : "")
        } ?? ["none"]
    }

    /// The queue as it would be posted.
    var queueTexts: [String] {
        center.queue(matching: ObserverQuery(limit: 1_000) { $0.isWaiting = false }) { _, _ in true
        }.rows.map {
            "\($0.content.text) \($0.style)"
        }
    }
}

extension Notification.Content {
    /// Name, userInfo, slash and object.
    var text: String {
        String(decoding: nameBytes, as: UTF8.self)
            + (userInfoBytes.map { String(decoding: $0, as: UTF8.self) } ?? "")
            + (objectBytes.map { "/" + String(decoding: $0, as: UTF8.self) } ?? "")
    }
}
