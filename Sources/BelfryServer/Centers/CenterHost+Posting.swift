import BelfryAccess
import BelfryCenter
import BelfryHTTP
import BelfryLoop
import BelfrySystem
import BelfryWire

// Posts: may the caller make them, what did the center do with them, and their receipts.

extension CenterHost {
    /// Answers a plain post to the default center.
    ///
    /// It is the way of nearly all posts: whoever may post everything sends an object as JSON. The long
    /// way, by a ``Submission``, has the same result.
    ///
    /// - Returns: whether it is answered; nil, with nothing done, where the center is on another loop.
    mutating func postPlainly(
        _ content: consuming Notification.Content, _ http: borrowing HTTPReply,
        from id: ConnectionID, _ outbox: inout Outbox
    ) -> Bool? {
        guard !centers.hasSequencer, let position = centers.defaultPosition else { return nil }
        let number = centers.nextNotificationID(at: position, &outbox)
        return answer(
            Post(id: number, content: content), at: position, http, prefix: [], from: id, nil,
            &outbox)
    }

    /// Answers a post to a center of this loop that anybody may make.
    ///
    /// - Returns: whether it is answered; nil, with nothing done, where the center is not here.
    mutating func postPlainly(
        _ request: borrowing PostRequest, _ path: borrowing RoutedPath,
        _ http: borrowing HTTPReply, from id: ConnectionID, _ address: NetworkAddress?,
        _ outbox: inout Outbox
    ) -> Bool? {
        guard !centers.hasSequencer, let position = centers.position(of: path.center) else {
            return nil
        }
        let post = makePost(request, for: position, &outbox)
        // Only what may wait in the queue is answered with a place.
        let prefix = post.options?.isQueued == true ? path.prefix : []
        return answer(post, at: position, http, prefix: prefix, from: id, address, &outbox)
    }

    /// Makes a post without a ``Submission``; tells whether it is answered.
    @inline(__always)
    private mutating func answer(
        _ post: consuming Post, at position: Int, _ http: borrowing HTTPReply, prefix: [UInt8],
        from id: ConnectionID, _ address: NetworkAddress?, _ outbox: inout Outbox
    ) -> Bool {
        let isQueued = post.options?.isQueued ?? false
        promises.awaitedTicket = 0
        var terms = PostTerms(kept, outbox)
        terms.wait = completions.hasRoom ? min(Self.defaultWait, maxWait) : 0
        if isQueued, outbox.shares.countsAddresses {
            kept.assign(centers.owner(outbox.anonymous, at: address, &outbox), to: &terms, &outbox)
        }
        submitCommand(.post(consume post, terms), to: position, &outbox)
        promiseChanges()
        if case .done = effects.outcome, promises.awaitedTicket == 0,
            let receipt = effects.receipts.first
        {
            outbox.counters.posts += 1
            if receipt.isPosted, receipt.matched == 0 { outbox.counters.unmatchedPosts += 1 }
            fanOut(&outbox)
            if receipt.isPosted {
                outbox.write(receipt, for: http.context, to: id)
            } else {
                answerLocation.removeAll(keepingCapacity: true)
                receipt.appendLocation(prefix: prefix, to: &answerLocation)
                outbox.write(receipt, location: answerLocation, for: http.context, to: id)
            }
            return true
        }
        var reply = copy http
        if isQueued { reply.details.pathPrefix = prefix }
        return endUnusually(
            Reply(loop: outbox.number, connection: id, form: .http(reply)), &outbox)
    }

    /// Answers a plain post that was refused, waits for its observers or for the store.
    private mutating func endUnusually(_ reply: Reply, _ outbox: inout Outbox) -> Bool {
        outbox.content.removeAll(keepingCapacity: outbox.content.capacity <= 1 << 20)
        fanOut(&outbox)
        if case .refused(let refusal) = effects.outcome {
            promises.deliver(outbox.problemAnswer(Problem(refusal)), reply, &outbox)
            return true
        }
        switch endPosts([], reply, &outbox) {
        case .answer(let answer): promises.deliver(answer, reply, &outbox)
        case .waiting(let form):
            park(reply, form, &outbox)
            return false
        case .written, .later: break
        }
        return true
    }

    /// Counts posts that were applied, and answers with their receipts.
    mutating func endPosts(
        _ form: ReceiptForm, _ reply: Reply, _ outbox: inout Outbox
    ) -> Ending {
        switch effects.outcome {
        case .waiting:
            outbox.counters.countPosts(effects.receipts)
            return .waiting(form)
        case .replayed(let form):
            var answer = ReceiptForm(rawValue: form).appendAnswer(
                effects.receipts, effects.reports, reply, &outbox)
            answer.fields.append(.isReplayed)
            return .answer(answer)
        case .done, .registered, .removed, .resumed, .dequeued, .refused:
            outbox.counters.countPosts(effects.receipts)
            return .answer(
                form.appendAnswer(effects.receipts, effects.reports, reply, &outbox))
        }
    }

    /// Under which terms a post is accepted; what few posts need is made for those alone.
    mutating func terms(
        _ wishes: PostWishes?, _ form: ReceiptForm, hasStyle: Bool, _ submission: Submission,
        _ outbox: inout Outbox
    ) -> PostTerms {
        var terms = PostTerms(kept, outbox)
        terms.wait = completions.hasRoom ? min(wishes?.wait ?? Self.defaultWait, maxWait) : 0
        terms.reportsObservers = form.contains(.observers)
        let caller = submission.caller
        if hasStyle || wishes?.key != nil {
            kept.assign(centers.owner(of: submission, &outbox), to: &terms, &outbox)
        }
        let key = wishes?.key.map { key in
            IdempotencyKey(
                principal: caller.principal, text: key.text, requestHash: key.requestHash,
                form: form.rawValue, owner: terms.owner)
        }
        // Only a styled post touches entries of others.
        let isScoped = hasStyle && !caller.grants.allowEverywhere(.post)
        if key != nil || isScoped {
            let scope =
                isScoped ? caller.grants.postScope(center: submission.center) : .everything
            terms.details = PostTerms.Details(scope: scope, key: key)
        }
        return terms
    }

    /// How many nanoseconds a poster waits that does not say how long.
    static let defaultWait: Int64 = 5_000_000_000

    /// A post of this moment, with the identifier that its answer has.
    mutating func makePost(
        _ request: borrowing PostRequest, for position: Int, _ outbox: inout Outbox
    ) -> Post {
        Post(
            id: centers.nextNotificationID(at: position, &outbox), content: request.content,
            causedBy: request.causedBy,
            options: request.options)
    }

}

extension Grants {
    /// What the holder may post in a center, as data for commands.
    func postScope(center: [UInt8]) -> PostScope {
        if allowEverywhere(.post) { return .everything }
        let patterns = patterns(of: .post, center: center.span).map { grant in
            PostScope.Pattern(names: Self.texts(grant.names), objects: Self.texts(grant.objects))
        }
        return .some(patterns)
    }

    /// The texts of patterns; none stands for all, and for what is absent.
    private static func texts(_ patterns: [Pattern]) -> [PostScope.Text] {
        if patterns.contains(.any) { return [] }
        return patterns.map { $0.isPrefix ? .prefix($0.bytes) : .exact($0.bytes) }
    }
}

extension PostTerms {
    /// The terms that every post has; whoever makes the post adds what the caller asked for.
    @inline(__always)
    fileprivate init(_ kept: borrowing KeptWatch, _ outbox: borrowing Outbox) {
        self.init()
        canStore = kept.shared.canStore
        queueByteRoom = kept.queueByteRoom(outbox)
    }
}
