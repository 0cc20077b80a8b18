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
        _ host: inout CenterHost, _ submission: Submission, _ context: inout LoopContext
    ) throws(Problem) {
        if isAmongOthers {
            try host.deliveryBound.bound(
                [request], of: submission.center, in: host.centers,
                limit: context.configuration.batchDeliveryLimit)
        }
        try submission.checkPost(request, place: nil)
        let timer = request.options?.timer
        if let timer { try submission.checkTimer(timer, of: request, place: nil, &context) }
        guard let position = try host.makeCenter(for: submission, &context) else { return }
        let hasStyle = request.options?.style != nil
        let terms = host.terms(
            wishes, form, hasStyle: hasStyle, hasTimer: timer != nil, client: client, submission,
            &context)
        let post = host.makePost(request, for: position, &context)
        host.submitCommand(
            .post(post, terms), to: position, at: timer == nil ? nil : context.arrivalTime, &context
        )
    }

    func finish(
        _ answer: inout Answer, _ host: inout CenterHost, _ submission: Submission,
        _ context: inout LoopContext
    ) -> Ending {
        host.endPosts(form, &answer, submission.reply, submission.sight, &context)
    }
}

/// Several posts in one callout, all or none.
struct MakePosts: Operation {
    static let answersFirst = false
    let requests: [PostRequest]
    let wishes: PostWishes?
    let form: ReceiptForm

    func begin(
        _ host: inout CenterHost, _ submission: Submission, _ context: inout LoopContext
    ) throws(Problem) {
        var hasStyle = false
        var hasTimer = false
        for place in requests.indices {  // Bound: batch
            try submission.checkPost(requests[place], place: place)
            if requests[place].options?.style != nil { hasStyle = true }
            if let timer = requests[place].options?.timer {
                hasTimer = true
                try submission.checkTimer(timer, of: requests[place], place: place, &context)
            }
        }
        try host.deliveryBound.bound(
            requests, of: submission.center, in: host.centers,
            limit: context.configuration.batchDeliveryLimit)
        guard let position = try host.makeCenter(for: submission, &context) else { return }
        var posts: [Post] = []
        posts.reserveCapacity(requests.count)
        // Bound: batch
        for request in requests { posts.append(host.makePost(request, for: position, &context)) }
        let terms = host.terms(
            wishes, form, hasStyle: hasStyle, hasTimer: hasTimer, submission, &context)
        host.submitCommand(
            .postBatch(posts, terms), to: position, at: hasTimer ? context.arrivalTime : nil,
            &context)
    }

    func finish(
        _ answer: inout Answer, _ host: inout CenterHost, _ submission: Submission,
        _ context: inout LoopContext
    ) -> Ending {
        host.endPosts(form, &answer, submission.reply, submission.sight, &context)
    }
}
