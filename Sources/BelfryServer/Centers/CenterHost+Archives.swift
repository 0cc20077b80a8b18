import BelfryAccess
import BelfryCenter
import BelfryWire

// Pages of what archives keep, a share in each turn (rule A18).

extension CenterHost {
    /// Goes on with a page of the past, and answers when it is complete.
    ///
    /// - Returns: whether the request is answered.
    mutating func readPast(
        _ request: PastRequest, _ progress: PastPage?, _ submission: Submission,
        _ context: inout LoopContext
    ) -> Bool {
        var page = progress ?? PastPage(of: request.query)
        let isAnswered = progress == nil ? check(request, submission, &context) : true
        guard isAnswered, let position = centers.position(of: submission.center) else {
            return true
        }
        context.work.countLook()
        let center = submission.center
        let grants = submission.caller.grants
        centers[position].read(&page, of: request.query, at: context.commandTime) {
            grants.allow(
                .observe, center: center.span, name: $0.content.name, object: $0.content.object,
                userInfo: $0.content.userInfo)
        }
        guard page.isDone else {
            var rest = submission
            rest.request = .past(request, progress: page)
            postponed.add(.request(rest), &context)
            return false
        }
        return deliver(submission, &context) { answer, host, context throws(Problem) in
            let query = request.query
            var lost: ClosedRange<UInt64>?
            if request.tellsGaps, !submission.isUnderCondition(query) {
                let last = host.centers[position].lostThrough(query)
                if last > query.after { lost = query.after + 1...last }
            }
            Shape.append(
                past: page, of: request, lost: lost, sequence: host.centers[position].sequence,
                epoch: host.centers[position].epoch, to: &answer.content)
            answer.isCompressible = true
        }
    }

    /// Refuses a request that may see nothing, or is for a channel that no archive keeps.
    ///
    /// - Returns: whether the request may go on.
    private mutating func check(
        _ request: PastRequest, _ submission: Submission, _ context: inout LoopContext
    ) -> Bool {
        do throws(Problem) {
            try checkPast(request, submission)
            return true
        } catch {
            refuse(error, submission, &context)
            return false
        }
    }

    private func checkPast(
        _ request: PastRequest, _ submission: Submission
    ) throws(Problem) {
        let query = request.query
        let grants = submission.caller.grants
        let isAllowed =
            query.name.map {
                grants.allowSome(.observe, center: submission.center.span, name: $0.span)
            } ?? grants.allowSome(.observe, center: submission.center.span)
        guard isAllowed else {
            throw Problem.lacking(
                "observe", submission.caller, center: submission.center, name: query.name)
        }
        let reach = FilterReach(name: query.name, object: query.object, terms: query.terms)
        for name in reach.names {  // Bound: terms
            guard let name, name.starts(with: "belfry.".utf8) else { continue }
            try submission.check(.inspect, "inspect", name: name, object: reach.object)
        }
        guard let position = centers.position(of: submission.center) else {
            throw query.name == nil ? Problem.noCenter : Problem.notArchived
        }
        if let name = query.name, !centers[position].isArchived(name) {
            throw Problem.notArchived
        }
    }
}

extension Submission {
    /// Whether the grants for some of the past have conditions: the caller may not know of the rest.
    fileprivate func isUnderCondition(_ query: PastQuery) -> Bool {
        let reach = FilterReach(name: query.name, object: query.object, terms: query.terms)
        let grants = caller.grants
        return reach.names.contains {
            !grants.conditions(
                of: .observe, center: center, name: $0, object: reach.object
            ).isEmpty || !grants.allow(.observe, center: center, name: $0, object: reach.object)
        }
    }
}

extension Problem {
    /// The problem of a channel of which nothing is kept.
    static let notArchived = Problem(
        .notArchived, "No archive keeps this channel; an admin can make one with PUT /v1/archives.")
}
