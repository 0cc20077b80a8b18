import BelfryCenter
import BelfryWire

/// One post, asked for by a request or a call.
struct MakePost: Operation {
    static let answersFirst = false
    let request: PostRequest
    let wishes: PostWishes?
    let form: ReceiptForm
    /// Whether it is one of several calls in a frame.
    var isAmongOthers = false
    /// The client that calls, if a call posts.
    var client: UInt64?

    func begin(
        _ host: inout CenterHost, _ submission: Submission, _ outbox: inout Outbox
    ) throws(Problem) {
        if isAmongOthers {
            try host.deliveryBound.bound(
                [request], of: submission.center, in: host.centers,
                limit: outbox.configuration.batchDeliveryLimit)
        }
        try submission.checkPost(request, place: nil)
        let timer = request.options?.timer
        if let timer { try submission.checkTimer(timer, of: request, place: nil, &outbox) }
        guard let position = try host.makeCenter(for: submission, &outbox) else { return }
        let hasStyle = request.options?.style != nil
        let terms = host.terms(
            wishes, form, hasStyle: hasStyle, hasTimer: timer != nil, client: client, submission,
            &outbox)
        let post = host.makePost(request, for: position, &outbox)
        host.submitCommand(
            .post(post, terms), to: position, at: timer == nil ? nil : outbox.arrivalTime, &outbox)
    }

    func finish(
        _ host: inout CenterHost, _ submission: Submission, _ outbox: inout Outbox
    ) -> Ending {
        host.endPosts(form, submission.reply, submission.sight, &outbox)
    }
}

/// Several posts in one callout, all or none.
struct MakePosts: Operation {
    static let answersFirst = false
    let requests: [PostRequest]
    let wishes: PostWishes?
    let form: ReceiptForm

    func begin(
        _ host: inout CenterHost, _ submission: Submission, _ outbox: inout Outbox
    ) throws(Problem) {
        var hasStyle = false
        var hasTimer = false
        for place in requests.indices {  // Bound: batch
            try submission.checkPost(requests[place], place: place)
            if requests[place].options?.style != nil { hasStyle = true }
            if let timer = requests[place].options?.timer {
                hasTimer = true
                try submission.checkTimer(timer, of: requests[place], place: place, &outbox)
            }
        }
        try host.deliveryBound.bound(
            requests, of: submission.center, in: host.centers,
            limit: outbox.configuration.batchDeliveryLimit)
        guard let position = try host.makeCenter(for: submission, &outbox) else { return }
        var posts: [Post] = []
        posts.reserveCapacity(requests.count)
        // Bound: batch
        for request in requests { posts.append(host.makePost(request, for: position, &outbox)) }
        let terms = host.terms(
            wishes, form, hasStyle: hasStyle, hasTimer: hasTimer, submission, &outbox)
        host.submitCommand(
            .postBatch(posts, terms), to: position, at: hasTimer ? outbox.arrivalTime : nil,
            &outbox)
    }

    func finish(
        _ host: inout CenterHost, _ submission: Submission, _ outbox: inout Outbox
    ) -> Ending {
        host.endPosts(form, submission.reply, submission.sight, &outbox)
    }
}
