import BelfryAccess
import BelfryCenter
import BelfryHTTP
import BelfryLoop
import BelfrySystem
import BelfryWire

// Posts: may the caller make them, what did the center do with them, and their receipts.

extension ServerLoop {
    /// Answers a plain post to the default center; false, with nothing done, when it is not one.
    ///
    /// It is the way of nearly all posts: whoever may post everything sends an object as JSON. The long
    /// way, by a ``Submission``, has the same result.
    mutating func postPlainly(
        _ name: Range<Int>, content: Span<UInt8>, from id: ConnectionID
    ) -> Bool {
        guard exchange.parser.head.isJSON, anonymous.grants.allowEverywhere(.post),
            let position = centers.defaultPosition,
            let content = requestReader.plainPost(
                name: exchange.parser.head.path.extracting(name), body: content)
        else { return false }
        let post = Post(id: makeNotificationID(at: centers[position].nextPlace), content: content)
        answer(post, at: position, prefix: [], id)
        return true
    }

    /// Answers a post to a center of this loop that anybody may make; false, with nothing done, when
    /// something about it is unusual.
    mutating func postPlainly(
        _ request: borrowing PostRequest, _ path: borrowing RoutedPath, from id: ConnectionID
    ) -> Bool {
        guard exchange.reply.isUsual, exchange.caller == nil,
            anonymous.grants.allowEverywhere(.post),
            request.options?.isImmediate != true || anonymous.grants.allowEverywhere(.immediate),
            shared.home(of: path.center) == number,
            let position = centers.position(of: path.center)
        else { return false }
        let post = makePost(request, at: centers[position].nextPlace)
        answer(post, at: position, prefix: path.prefix, id)
        return true
    }

    /// Makes a post without a ``Submission``, and answers it.
    private mutating func answer(
        _ post: consuming Post, at position: Int, prefix: [UInt8], _ id: ConnectionID
    ) {
        let isQueued = post.options?.isQueued ?? false
        promises.awaitedTicket = 0
        var terms = postTerms
        terms.wait = canWait ? min(Self.defaultWait, timeouts.maxWait) : 0
        if isQueued, countsAddresses {
            assign(owner(anonymous, at: askerAddress(of: id, exchange.origin?.address)), to: &terms)
        }
        let command = submitCommand(.post(post, terms), to: position)
        if case .done = effects.outcome, promises.awaitedTicket == 0,
            let receipt = effects.receipts.first
        {
            counters.posts += 1
            if receipt.isPosted, receipt.matched == 0 { counters.unmatchedPosts += 1 }
            fanOut()
            if receipt.isPosted {
                sendReceipt(receipt, to: id)
            } else {
                sendAcceptance(receipt, prefix: prefix, to: id)
            }
        } else {
            if isQueued { exchange.reply.details.pathPrefix = prefix }
            finishUnusually(
                command, Reply(loop: number, connection: id, form: .http(exchange.reply)))
        }
        fanOut()
    }

    /// Writes the usual answer to a post where it leaves from.
    private mutating func sendReceipt(_ receipt: Receipt, to id: ConnectionID) {
        let start = loop.output.count
        let context = exchange.reply.context
        renewDate()
        let contentStart = ResponseWriter.appendJSONHead(jsonHead, for: context, to: &loop.output)
        Shape.append(receipt: receipt, to: &loop.output)
        ResponseWriter.setLength(
            loop.output.count - contentStart, jsonHead, at: start, in: &loop.output)
        finishAnswer(from: start, to: id)
    }

    /// Writes the usual answer to a post that waits in the queue, or that another one stands for.
    private mutating func sendAcceptance(
        _ receipt: Receipt, prefix: [UInt8], to id: ConnectionID
    ) {
        let start = loop.output.count
        let context = exchange.reply.context
        renewDate()
        answerContent.removeAll(keepingCapacity: true)
        answerLocation.removeAll(keepingCapacity: true)
        Shape.append(receipt: receipt, to: &answerContent)
        Self.appendLocation(of: receipt, prefix: prefix, to: &answerLocation)
        ResponseWriter.appendJSON(
            answerContent, location: answerLocation, for: context, acceptedHead,
            to: &loop.output)
        finishAnswer(from: start, to: id)
    }

    /// Sends the usual answer that stands at the end of the output.
    @inline(__always)
    private mutating func finishAnswer(from start: Int, to id: ConnectionID) {
        loop.send(start..<loop.output.count, to: id, as: .answer)
        if !exchange.reply.context.keepsAlive || !connections.takesRequests(id) {
            follow(.none, on: id, exchange.reply)
        }
    }

    /// Appends where the fate of a post is found.
    private static func appendLocation(
        of receipt: Receipt, prefix: [UInt8], to location: inout [UInt8]
    ) {
        location.append(contentsOf: prefix)
        location.append(contentsOf: notificationsPath)
        receipt.id.append(to: &location)
    }

    private static let notificationsPath = Array("/notifications/".utf8)

    /// Answers a plain post that was refused, waits for its observers or for the store.
    private mutating func finishUnusually(_ command: CommandID, _ reply: Reply) {
        answerContent.removeAll(keepingCapacity: answerContent.capacity <= 1 << 20)
        do throws(Problem) {
            try countPosts()
            if let answer = finishPosts(command, [], reply) { deliver(answer, reply) }
        } catch {
            deliver(problemAnswer(error), reply)
        }
    }

    /// Posts what was asked for, and answers with the receipt; nil if the answer comes later.
    mutating func post(
        _ request: PostRequest, _ wishes: PostWishes?, _ submission: Submission
    ) throws(Problem) -> Answer? {
        let form = ReceiptForm(of: submission.reply, isBatch: false)
        let command = try applyPost(request, wishes, form, submission)
        return finishPosts(command, form, submission.reply)
    }

    /// Posts what was asked for in one callout, and answers with the receipts.
    mutating func post(
        _ requests: [PostRequest], _ wishes: PostWishes?, _ submission: Submission
    ) throws(Problem) -> Answer? {
        let form = ReceiptForm(of: submission.reply, isBatch: true)
        let command = try applyPosts(requests, wishes, form, submission)
        return finishPosts(command, form, submission.reply)
    }

    /// Lets the observers have what was posted, and answers; nil if the answer comes later.
    private mutating func finishPosts(
        _ command: CommandID, _ form: ReceiptForm, _ reply: Reply
    ) -> Answer? {
        fanOut()
        switch effects.outcome {
        case .waiting:
            park(command, reply, form)
            return nil
        case .replayed(let form):
            var answer = appendPostAnswer(
                effects.receipts, effects.reports, ReceiptForm(rawValue: form), reply)
            answer.fields.append(Self.isReplayed)
            return answer
        case .done, .registered, .removed, .resumed, .dequeued, .refused:
            return appendPostAnswer(effects.receipts, effects.reports, form, reply)
        }
    }

    /// Appends the receipts of posts in their form, and tells how they are answered.
    mutating func appendPostAnswer(
        _ receipts: [Receipt], _ reports: [[ReportRow]], _ form: ReceiptForm, _ reply: Reply
    ) -> Answer {
        var answer = form.contains(.minimal) ? Answer.empty : .json
        if !form.contains(.minimal) { appendReceipts(receipts, reports, form) }
        guard !form.contains(.batch), let receipt = receipts.first, !receipt.isPosted else {
            return answer
        }
        if !form.contains(.minimal) { answer.status = 202 }
        if case .http(let http) = reply.form {
            var location: [UInt8] = []
            Self.appendLocation(of: receipt, prefix: http.details.pathPrefix, to: &location)
            answer.fields.append(HTTPField("Location", location))
        }
        return answer
    }

    /// Applies a post that the caller may make; `effects` has what it brought about.
    mutating func applyPost(
        _ request: PostRequest, _ wishes: PostWishes?, _ form: ReceiptForm,
        _ submission: Submission
    ) throws(Problem) -> CommandID {
        try checkPost(request, submission, place: nil)
        let position = try makeCenter(for: submission)
        let hasStyle = request.options?.style != nil
        let terms = terms(wishes, form, hasStyle: hasStyle, submission)
        let post = makePost(request, at: centers[position].nextPlace)
        let command = submitCommand(.post(post, terms), to: position)
        try countPosts()
        return command
    }

    /// Applies posts that the caller may make in one callout, all or none.
    private mutating func applyPosts(
        _ requests: [PostRequest], _ wishes: PostWishes?, _ form: ReceiptForm,
        _ submission: Submission
    ) throws(Problem) -> CommandID {
        var hasStyle = false
        for place in requests.indices {
            try checkPost(requests[place], submission, place: place)
            if requests[place].options?.style != nil { hasStyle = true }
        }
        try boundDeliveries(of: requests, center: submission.center)
        let position = try makeCenter(for: submission)
        var posts: [Post] = []
        posts.reserveCapacity(requests.count)
        var place = centers[position].nextPlace
        for request in requests {
            posts.append(makePost(request, at: place))
            place += 1
        }
        let terms = terms(wishes, form, hasStyle: hasStyle, submission)
        let command = submitCommand(.postBatch(posts, terms), to: position)
        try countPosts()
        return command
    }

    private func checkPost(
        _ request: PostRequest, _ submission: Submission, place: Int?
    ) throws(Problem) {
        let grants = submission.caller.grants
        let content = request.content
        guard
            grants.allow(
                .post, center: submission.center.span, name: content.name, object: content.object)
        else { throw Problem.lacking("post", submission, content, place: place) }
        guard let options = request.options, options.isImmediate else { return }
        guard
            grants.allow(
                .immediate, center: submission.center.span, name: content.name,
                object: content.object)
        else { throw Problem.lacking("immediate", submission, content, place: place) }
    }

    /// Under which terms a post is accepted; what few posts need is made for those alone.
    private mutating func terms(
        _ wishes: PostWishes?, _ form: ReceiptForm, hasStyle: Bool, _ submission: Submission
    ) -> PostTerms {
        var terms = postTerms
        terms.wait = canWait ? min(wishes?.wait ?? Self.defaultWait, timeouts.maxWait) : 0
        terms.reportsObservers = form.contains(.observers)
        let caller = submission.caller
        if hasStyle || wishes?.key != nil { assign(owner(of: submission), to: &terms) }
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

    private mutating func countPosts() throws(Problem) {
        try checkOutcome()
        if case .replayed = effects.outcome { return }
        counters.posts += UInt64(effects.receipts.count)
        for receipt in effects.receipts where receipt.matched == 0 && receipt.isPosted {
            counters.unmatchedPosts += 1
        }
    }

    private mutating func makePost(_ request: borrowing PostRequest, at place: UInt64) -> Post {
        Post(
            id: makeNotificationID(at: place), content: request.content, causedBy: request.causedBy,
            options: request.options)
    }

    private mutating func makeNotificationID(at place: UInt64) -> NotificationID {
        NotificationID(
            milliseconds: loop.wallNow.milliseconds, place: place, random: random.next())
    }
}

extension Receipt {
    /// Whether it was dispatched; otherwise it waits in the queue, or something stands for it.
    var isPosted: Bool {
        if case .posted = state { true } else { false }
    }
}

extension ReceiptForm {
    /// The form in which posts are answered.
    init(of reply: Reply, isBatch: Bool) {
        self = isBatch ? .batch : []
        guard case .http(let http) = reply.form else { return }
        if http.isMinimal { insert(.minimal) }
        if http.reportsObservers { insert(.observers) }
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
