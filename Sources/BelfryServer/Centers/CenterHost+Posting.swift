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
    /// - Returns: the part that answers it.
    @inline(__always)
    mutating func post(
        _ content: consuming Notification.Content, _ options: PostOptions?, at position: Int,
        _ origin: PostOrigin, from id: ConnectionID, _ context: inout LoopContext
    ) -> PostAnswer {
        let isQueued = options?.isQueued ?? false
        let number = centers.nextNotificationID(at: position, &context)
        var terms = PostTerms(kept, context)
        terms.wait = completions.hasRoom ? min(Self.defaultWait, maxWait) : 0
        if isQueued, context.shares.countsAddresses {
            let owner = centers.owner(context.anonymous.local, at: origin.address, &context)
            kept.assign(owner, to: &terms, &context)
        }
        submitCommand(
            .post(Post(id: number, content: content, options: options), terms), to: position,
            &context)
        let ticket = ticketOfChanges
        if case .done = effects.outcome, ticket == 0,
            let receipt = effects.receipts.first
        {
            context.counters.posts += 1
            if receipt.isPosted, receipt.matched == 0 { context.counters.unmatchedPosts += 1 }
            fanOut(&context)
            if receipt.isPosted {
                context.write(receipt, for: origin.context, to: id)
            } else {
                answerLocation.removeAll(keepingCapacity: true)
                receipt.id.appendLocation(prefix: origin.prefix, to: &answerLocation)
                context.write(receipt, location: answerLocation, for: origin.context, to: id)
            }
            return .written
        }
        var reply = HTTPReply(context: origin.context)
        if isQueued { reply.details.pathPrefix = origin.prefix }
        return endUnusually(
            Reply(loop: context.number, connection: id, form: .http(reply), encoding: .plain),
            ticket, &context)
    }

    /// Answers a post that was refused, or that waits for its observers or for the store.
    private mutating func endUnusually(
        _ reply: Reply, _ ticket: UInt64, _ context: inout LoopContext
    ) -> PostAnswer {
        var answer = context.outbox.answers.make()
        answer.wait(until: ticket)
        fanOut(&context)
        if case .refused(let refusal) = effects.outcome {
            context.refuse(Problem(refusal), in: &answer)
        } else if case .waiting(let form) = endPosts([], &answer, reply, .everything, &context) {
            park(reply, form, .everything, after: ticket, &context)
            context.outbox.answers.reclaim(answer)
            return .waiting
        }
        promises.deliver(answer, reply, &context)
        return .delivered
    }

    /// Counts posts that were applied, and answers with their receipts.
    mutating func endPosts(
        _ form: ReceiptForm, _ answer: inout Answer, _ reply: Reply, _ sight: Sight,
        _ context: inout LoopContext
    ) -> Ending {
        switch effects.outcome {
        case .waiting:
            context.counters.countPosts(effects.receipts)
            return .waiting(form)
        case .replayed(let form):
            ReceiptForm(rawValue: form).fill(
                &answer, effects.receipts, effects.reports, reply, sight)
            answer.fields.append(.isReplayed)
            return .answered
        case .done, .awaiting, .registered, .removed, .resumed, .dequeued, .asked, .written,
            .archive, .forgot, .refused:
            context.counters.countPosts(effects.receipts)
            form.fill(&answer, effects.receipts, effects.reports, reply, sight)
            return .answered
        }
    }

    /// The terms of a post; parts that few posts need are made for those alone.
    ///
    /// - Parameter client: the client whose call posts, if a call does.
    mutating func terms(
        _ wishes: PostWishes?, _ form: ReceiptForm, hasStyle: Bool, hasTimer: Bool = false,
        client: UInt64? = nil, _ submission: Submission, _ context: inout LoopContext
    ) -> PostTerms {
        var terms = PostTerms(kept, context)
        terms.wait = completions.hasRoom ? min(wishes?.wait ?? Self.defaultWait, maxWait) : 0
        terms.reportsObservers = form.contains(.observers)
        let caller = submission.caller
        if hasStyle || wishes?.key != nil {
            kept.assign(centers.owner(of: submission, &context), to: &terms, &context)
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
            let setter = hasTimer ? setter(client, terms.owner, caller, &context) : nil
            terms.details = PostTerms.Details(scope: scope, key: key, setter: setter)
        }
        return terms
    }

    /// The setter of a timer.
    private func setter(
        _ client: UInt64?, _ owner: Owner, _ caller: Caller, _ context: inout LoopContext
    ) -> PostTerms.TimerSetter {
        PostTerms.TimerSetter(
            client: client,
            principal: TimerRecord.Principal(name: caller.principal, hasKey: caller.hasKey),
            byteRoom: kept.timerByteRoom(for: owner, &context))
    }

    /// The default wait of a poster, in nanoseconds.
    static let defaultWait: Int64 = 5_000_000_000

    /// A post of this moment, with the identifier that its answer has.
    mutating func makePost(
        _ request: borrowing PostRequest, for position: Int, _ context: inout LoopContext
    ) -> Post {
        Post(
            id: centers.nextNotificationID(at: position, &context), content: request.content,
            causedBy: request.causedBy,
            options: request.options)
    }

}

extension PostTerms {
    /// The terms of every post; the caller's preferences are added later.
    @inline(__always)
    fileprivate init(_ kept: borrowing KeptWatch, _ context: borrowing LoopContext) {
        self.init()
        canStore = kept.shared.canStore
        queueByteRoom = kept.queueByteRoom(context)
    }
}

/// The facts about a post without a ``Submission`` besides its content and its options.
struct PostOrigin {
    /// The center that the path names; nil is the default center.
    let center: [UInt8]?
    let context: ResponseContext
    /// The beginning of its fate's URL, if it may wait in the queue.
    let prefix: [UInt8]
    /// The sender, if its place in the queue counts for addresses.
    let address: NetworkAddress?
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
