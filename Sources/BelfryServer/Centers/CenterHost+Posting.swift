import BelfryAccess
import BelfryCenter
import BelfryHTTP
import BelfryLoop
import BelfrySystem
import BelfryWire

// Posts: their permission, their terms, and their receipts.

extension CenterHost {
    /// The position of a center for a post without a ``Submission``; nil is the default center.
    @inline(__always)
    func position(ofPost center: [UInt8]?) -> Int? {
        if centers.hasSequencer { return nil }
        guard let center else { return centers.defaultPosition }
        return centers.position(of: center)
    }

    /// Makes a post that every caller may make, and whose reply depends on a context alone.
    ///
    /// Nearly all posts take this path. The long path, by a ``Submission``, has the same result.
    ///
    /// - Parameters:
    ///   - prefix: the beginning of its fate's URL, if it may wait in the queue.
    ///   - address: its sender, if its place in the queue counts for addresses.
    /// - Returns: the part that answers it.
    mutating func post(
        _ content: consuming Notification.Content, _ options: PostOptions?, at position: Int,
        _ context: ResponseContext, prefix: [UInt8], from id: ConnectionID,
        _ address: NetworkAddress?, _ outbox: inout Outbox
    ) -> PostAnswer {
        let isQueued = options?.isQueued ?? false
        let number = centers.nextNotificationID(at: position, &outbox)
        promises.awaitedTicket = 0
        var terms = PostTerms(kept, outbox)
        terms.wait = completions.hasRoom ? min(Self.defaultWait, maxWait) : 0
        if isQueued, outbox.shares.countsAddresses {
            let owner = centers.owner(outbox.anonymous.local, at: address, &outbox)
            kept.assign(owner, to: &terms, &outbox)
        }
        submitCommand(
            .post(Post(id: number, content: content, options: options), terms), to: position,
            &outbox)
        promiseChanges()
        if case .done = effects.outcome, promises.awaitedTicket == 0,
            let receipt = effects.receipts.first
        {
            outbox.counters.posts += 1
            if receipt.isPosted, receipt.matched == 0 { outbox.counters.unmatchedPosts += 1 }
            fanOut(&outbox)
            if receipt.isPosted {
                outbox.write(receipt, for: context, to: id)
            } else {
                answerLocation.removeAll(keepingCapacity: true)
                receipt.id.appendLocation(prefix: prefix, to: &answerLocation)
                outbox.write(receipt, location: answerLocation, for: context, to: id)
            }
            return .written
        }
        var reply = HTTPReply(context: context)
        if isQueued { reply.details.pathPrefix = prefix }
        return endUnusually(
            Reply(loop: outbox.number, connection: id, form: .http(reply), encoding: .plain),
            &outbox)
    }

    /// Answers a post that was refused, or that waits for its observers or for the store.
    private mutating func endUnusually(_ reply: Reply, _ outbox: inout Outbox) -> PostAnswer {
        outbox.content.removeAll(keepingCapacity: outbox.content.capacity <= 1 << 20)
        fanOut(&outbox)
        if case .refused(let refusal) = effects.outcome {
            promises.deliver(outbox.problemAnswer(Problem(refusal)), reply, &outbox)
            return .delivered
        }
        switch endPosts([], reply, .everything, &outbox) {
        case .answer(let answer): promises.deliver(answer, reply, &outbox)
        case .waiting(let form):
            park(reply, form, .everything, &outbox)
            return .waiting
        case .written, .later: break
        }
        return .delivered
    }

    /// Counts posts that were applied, and answers with their receipts.
    mutating func endPosts(
        _ form: ReceiptForm, _ reply: Reply, _ sight: Sight, _ outbox: inout Outbox
    ) -> Ending {
        switch effects.outcome {
        case .waiting:
            outbox.counters.countPosts(effects.receipts)
            return .waiting(form)
        case .replayed(let form):
            var answer = ReceiptForm(rawValue: form).appendAnswer(
                effects.receipts, effects.reports, reply, sight, &outbox)
            answer.fields.append(.isReplayed)
            return .answer(answer)
        case .done, .awaiting, .registered, .removed, .resumed, .dequeued, .asked, .written,
            .refused:
            outbox.counters.countPosts(effects.receipts)
            return .answer(
                form.appendAnswer(effects.receipts, effects.reports, reply, sight, &outbox))
        }
    }

    /// The terms of a post; parts that few posts need are made for those alone.
    ///
    /// - Parameter client: the client whose call posts, if a call does.
    mutating func terms(
        _ wishes: PostWishes?, _ form: ReceiptForm, hasStyle: Bool, hasTimer: Bool = false,
        client: UInt64? = nil, _ submission: Submission, _ outbox: inout Outbox
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
        if key != nil || isScoped || hasTimer {
            let scope =
                isScoped ? caller.grants.scope(center: submission.center) : .everything
            let setter = hasTimer ? setter(client, terms.owner, caller, &outbox) : nil
            terms.details = PostTerms.Details(scope: scope, key: key, setter: setter)
        }
        return terms
    }

    /// The setter of a timer.
    private func setter(
        _ client: UInt64?, _ owner: Owner, _ caller: Caller, _ outbox: inout Outbox
    ) -> PostTerms.TimerSetter {
        PostTerms.TimerSetter(
            client: client,
            principal: TimerRecord.Principal(name: caller.principal, hasKey: caller.hasKey),
            byteRoom: kept.timerByteRoom(for: owner, &outbox))
    }

    /// The default wait of a poster, in nanoseconds.
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

extension PostTerms {
    /// The terms of every post; the caller's preferences are added later.
    @inline(__always)
    fileprivate init(_ kept: borrowing KeptWatch, _ outbox: borrowing Outbox) {
        self.init()
        canStore = kept.shared.canStore
        queueByteRoom = kept.queueByteRoom(outbox)
    }
}

/// The part that tells a connection that its post, made without a ``Submission``, is answered.
enum PostAnswer {
    /// The caller of the post: the answer was written.
    case written
    /// The delivery of the answer, as soon as it may leave.
    case delivered
    /// None yet: the answer comes later.
    case waiting
}
