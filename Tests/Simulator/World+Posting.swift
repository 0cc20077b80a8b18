import BelfryCenter
import TestSupport

extension World {
    /// Posts something of this kind.
    func post(_ kind: StepKind) throws(Violation) {
        if kind == .postAgain {
            guard let again = dice.pick(keyed) else { return }
            // The same request; the loop gives its posts identifiers of their own.
            let posts = again.posts.map { post in
                Post(
                    id: someID(), content: post.content, causedBy: post.causedBy,
                    options: post.options)
            }
            var terms = again.terms
            if dice.oneIn(3), let details = terms.details, let key = details.key {
                // Whatever form it asks for now: the first answer is the answer.
                terms.details = PostTerms.Details(
                    scope: details.scope,
                    key: IdempotencyKey(
                        principal: key.principal, text: key.text, requestHash: key.requestHash,
                        form: key.form ^ 1, owner: key.owner))
            }
            try submitPosts(posts, isBatch: again.isBatch, terms)
            return
        }
        let isBatch = kind == .postBatch
        var posts: [Post] = []
        for _ in 0..<(isBatch ? dice.number(in: 1...6) : 1) {
            posts.append(somePost(style(of: kind), after: posts.map(\.id)))
        }
        var terms = PostTerms()
        if has(.wait) { terms.wait = someDuration() }
        terms.reportsObservers = has(.report)
        if has(.fullStore) { terms.canStore = false }
        if profile.limits.queueEntryLimit < 10, dice.oneIn(6) {
            terms.queueByteRoom = dice.below(60)
        }
        let scope = scope()
        var key: IdempotencyKey?
        if has(.key) {
            let principal = [UInt8](dice.oneIn(2) ? "p" : "q")
            key = IdempotencyKey(
                principal: principal, text: [UInt8]("key\(dice.below(4))"),
                requestHash: SecretHash(high: UInt64(dice.below(2)), low: 0),
                form: UInt8(dice.below(2)), owner: Owner(ofPrincipal: principal))
        }
        if scope != .everything || key != nil {
            terms.details = PostTerms.Details(scope: scope, key: key)
        }
        if key != nil {
            keyed.append(KeyedPost(posts: posts, isBatch: isBatch, terms: terms))
            if keyed.count > 4 { keyed.removeFirst() }
        }
        try submitPosts(posts, isBatch: isBatch, terms)
    }

    private func submitPosts(
        _ posts: [Post], isBatch: Bool, _ terms: PostTerms
    ) throws(Violation) {
        for post in posts {
            recentIDs.append(post.id)
            if recentIDs.count > 12 { recentIDs.removeFirst() }
        }
        if isBatch {
            try submit(.postBatch(posts, terms))
        } else if let post = posts.first {
            try submit(.post(post, terms))
        }
    }

    private func style(of kind: StepKind) -> PostingStyle? {
        switch kind {
        case .postNow: return .now
        case .postAsap: return .asap
        case .postIdle: return .idle
        case .postBatch:
            let style = dice.below(5)
            return style < 2 ? nil : [.now, .asap, .idle][style - 2]
        default: return nil
        }
    }

    private func someID() -> NotificationID {
        lastID += 1
        // The number is in the lower half, so that people can tell posts apart.
        return NotificationID(
            milliseconds: wall, place: lastID, random: incarnation << 48 | lastID)
    }

    private func somePost(_ style: PostingStyle?, after earlier: [NotificationID]) -> Post {
        let id = someID()
        var object: [UInt8]?
        if has(.object) { object = dice.pick(profile.objects).flatMap { $0 } }
        var userInfo: [UInt8]?
        if has(.userInfo) {
            let padding = String(repeating: "x", count: dice.oneIn(3) ? dice.below(80) : 0)
            userInfo =
                profile.filters.isUsed
                ? profile.filters.userInfo(lastID, padding: padding, &dice)
                : [UInt8](#"{"k":\#(lastID),"x":"\#(padding)"}"#)
        }
        let content = Notification.Content(
            name: dice.pick(profile.names) ?? [UInt8]("a"), object: object, userInfo: userInfo)
        let cause = has(.causedBy) ? dice.pick(recentIDs + earlier) : nil
        let isImmediate = has(.immediate)
        let timeToLive = has(.timeToLive) ? someDuration() : nil
        guard style != nil || isImmediate || timeToLive != nil else {
            return Post(id: id, content: content, causedBy: cause)
        }
        var coalescing: Coalescing = [.onName, .onSender]
        if has(.coalesceNone) {
            coalescing = .none
        } else if has(.coalesceName) {
            coalescing = .onName
        } else if has(.coalesceSender) {
            coalescing = .onSender
        }
        var modes = [Mode.default]
        if has(.modes) {
            modes = []
            for _ in 0..<dice.number(in: 1...3) {
                if let mode = dice.pick(profile.modes) { modes.append(mode) }
            }
        }
        let options = PostOptions(
            style: style, coalescing: coalescing, keepsLatest: has(.keepsLatest), modes: modes,
            maxDelay: style == .idle && has(.maxDelay) ? someDuration() : nil,
            isImmediate: isImmediate, timeToLive: timeToLive)
        return Post(id: id, content: content, causedBy: cause, options: options)
    }
}
