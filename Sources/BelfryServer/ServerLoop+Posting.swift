import BelfryAccess
import BelfryCenter
import BelfryLoop
import BelfrySystem
import BelfryWire

// Posts: may the caller make them, what did the center do with them, and their receipts.

extension ServerLoop {
    /// Lets the observers have what was posted, and answers with the receipts.
    mutating func answerPosts(isBatch: Bool, _ reply: Reply) -> Answer {
        fanOut()
        guard case .http(let http) = reply.form else { return .json }
        if http.isMinimal { return .empty }
        appendReceipts(isBatch: isBatch, reportsObservers: http.reportsObservers)
        return .json
    }

    /// Applies a post that the caller may make; `effects` has what it brought about.
    mutating func applyPost(
        _ request: PostRequest, caller: Caller, center name: [UInt8]
    ) throws(Problem) {
        guard
            caller.grants.allow(
                .post, center: name.span, name: request.content.name,
                object: request.content.object)
        else { throw Problem.lacking("post") }
        let position = try makeCenter(name)
        submitCommand(.post(makePost(request), postTerms), to: position)
        try countPosts()
    }

    /// Applies posts that the caller may make in one callout, all or none.
    mutating func applyPosts(
        _ requests: [PostRequest], caller: Caller, center name: [UInt8]
    ) throws(Problem) {
        for place in requests.indices {
            let content = requests[place].content
            guard
                caller.grants.allow(
                    .post, center: name.span, name: content.name, object: content.object)
            else { throw Problem.lacking("post", place: place) }
        }
        let position = try makeCenter(name)
        var posts: [Post] = []
        posts.reserveCapacity(requests.count)
        for request in requests { posts.append(makePost(request)) }
        submitCommand(.postBatch(posts, postTerms), to: position)
        try countPosts()
    }

    private mutating func countPosts() throws(Problem) {
        try checkOutcome()
        counters.posts += UInt64(effects.receipts.count)
        counters.deliveries += UInt64(effects.deliveries.count)
        for receipt in effects.receipts where receipt.matched == 0 { counters.unmatchedPosts += 1 }
    }

    mutating func makePost(_ request: PostRequest) -> Post {
        let id = NotificationID(
            milliseconds: loop.wallNow.milliseconds,
            random: (UInt16(truncatingIfNeeded: random.next()), random.next()))
        return Post(id: id, content: request.content, causedBy: request.causedBy)
    }

    /// Appends the receipts of the last posts to the answer.
    mutating func appendReceipts(isBatch: Bool, reportsObservers: Bool) {
        if !isBatch, let receipt = effects.receipts.first {
            Shape.append(
                receipt: receipt, rows: reportsObservers ? reportRows(notification: 0) : nil,
                to: &answerContent)
            return
        }
        let rows =
            reportsObservers ? effects.receipts.indices.map { reportRows(notification: $0) } : nil
        Shape.append(
            receipts: effects.receipts, rows: rows, to: &answerContent)
    }

    /// The observers of one notification in registration order.
    func reportRows(notification: Int) -> [ReportRow] {
        effects.deliveries.filter { $0.notification == UInt32(notification) }
            .map { ReportRow(observer: $0.observer, outcome: .delivered) }
    }
}
