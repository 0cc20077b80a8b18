@testable import BelfryCenter

/// The verbs of timers; times are in milliseconds.
extension Scenario {
    /// Posts a text later, and tells its identifier; the receipt is in the effects.
    @discardableResult
    mutating func later(
        _ text: String, after: Int64? = nil, at: Int64? = nil, every: Int64? = nil,
        lease: Int64? = 86_400_000, replaces: Bool = false, style: PostingStyle = .asap,
        coalesce: Coalescing = [.onName, .onSender], modes: [String] = ["default"],
        ttl: Int64? = nil, causedBy: NotificationID? = nil, by client: UInt64? = nil,
        scope: PostScope = .everything, _ change: (inout PostTerms) -> Void = { _ in }
    ) -> NotificationID {
        let timing = TimerTerms(
            start: after.map { .after($0 * 1_000_000) } ?? at.map { .at($0) },
            period: every.map { $0 * 1_000_000 }, lease: lease.map { $0 * 1_000_000 },
            replaces: replaces)
        return setTimer(
            text, timing, style: style, coalesce: coalesce, modes: modes, ttl: ttl,
            causedBy: causedBy, by: client, scope: scope, change)
    }

    /// Posts a text when a client has been disconnected.
    @discardableResult
    mutating func farewell(
        _ text: String, after: Int64 = 0, replaces: Bool = false, by client: UInt64
    ) -> NotificationID {
        setTimer(
            text,
            TimerTerms(
                start: .after(after * 1_000_000), replaces: replaces, isFarewell: true),
            by: client)
    }

    private mutating func setTimer(
        _ text: String, _ timing: TimerTerms, style: PostingStyle = .asap,
        coalesce: Coalescing = [.onName, .onSender], modes: [String] = ["default"],
        ttl: Int64? = nil, causedBy: NotificationID? = nil, by client: UInt64? = nil,
        scope: PostScope = .everything, _ change: (inout PostTerms) -> Void = { _ in }
    ) -> NotificationID {
        let plain = newPost(text: text, style: .asap)
        let post = Post(
            id: plain.id, content: plain.content, causedBy: causedBy,
            options: PostOptions(
                style: style, coalescing: coalesce, modes: modes.map { bytes($0) },
                timeToLive: ttl, timer: timing))
        var terms = PostTerms()
        terms.details = PostTerms.Details(
            scope: scope,
            setter: PostTerms.TimerSetter(
                client: client,
                principal: TimerRecord.Principal(name: bytes("anonymous"), hasKey: false),
                byteRoom: .max))
        change(&terms)
        apply(.post(post, terms))
        return post.id
    }

    /// Lets time pass, and the turn end in which it has passed; tells what was posted, as texts.
    mutating func turn(after count: Int64 = 0) -> [String] {
        milliseconds += count
        var texts: [String] = []
        repeat {
            apply(.passTime(workLimit: .max))
            apply(.endTurn(workLimit: .max))
            texts += effects.notifications.map { $0.content.text }
        } while center.needs.timerDeadline <= time.timerNanoseconds
        return texts
    }

    /// The listed timers: text, due time from the scenario's start, and repetitions.
    var timerTexts: [String] {
        center.timers(after: 0, limit: 1_000) { _, _ in true }.rows.map { row in
            var text = row.content.text
            if let dueAt = row.timer?.dueAt { text += " at \(dueAt - 1_000)" }
            if let repetition = row.timer?.repetition {
                text += " fired \(repetition.fired) missed \(repetition.missed)"
            }
            return text
        }
    }

    /// The state of a post.
    func fate(_ id: NotificationID) -> Receipt.State? { account(id)?.state }

    /// Enters a mode, and tells its number.
    mutating func enter(_ mode: String, _ serial: UInt64) {
        apply(
            .enterMode(
                ModeEntry(
                    serial: serial, tokenHash: SecretHash(high: 1, low: serial), mode: bytes(mode),
                    client: nil, lease: nil)))
    }
}
