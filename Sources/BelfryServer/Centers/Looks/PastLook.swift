import BelfryAccess
import BelfryCenter
import BelfryWire

/// A look at what archives keep, a share in each turn (rule A18).
struct PastLook {
    let request: PastRequest
    /// The page so far; nil at first.
    let progress: PastPage?

    /// Goes on with the page, and answers when it is complete.
    ///
    /// - Returns: whether the request is answered.
    func perform(
        _ host: inout CenterHost, _ submission: Submission, _ context: inout LoopContext
    ) -> Bool {
        let position: Int
        do throws(Problem) {
            position = try self.position(host, submission)
        } catch {
            host.refuse(error, submission, &context)
            return true
        }
        context.work.countLook()
        var page = progress ?? PastPage(of: request.query)
        let center = submission.center
        let grants = submission.caller.grants
        host.centers[position].read(&page, of: request.query, at: context.commandTime) {
            grants.allow(
                .observe, center: center.span, name: $0.content.name, object: $0.content.object,
                userInfo: $0.content.userInfo)
        }
        guard page.isDone else {
            var rest = submission
            rest.request = .archives(.past(request, progress: page))
            host.postponed.add(.request(rest), &context)
            return false
        }
        return host.deliver(submission, &context) { answer, host, context throws(Problem) in
            let after = request.query.after
            let isLost =
                request.tellsGaps && page.lostThrough > after
                && !submission.isUnderCondition(request.query)
            request.append(
                page, lost: isLost ? after + 1...page.lostThrough : nil,
                sequence: host.centers[position].sequence, epoch: host.centers[position].epoch,
                to: &answer.content)
            answer.isCompressible = true
        }
    }

    /// The center, if the caller may see something of the past there.
    private func position(
        _ host: borrowing CenterHost, _ submission: Submission
    ) throws(Problem) -> Int {
        let query = request.query
        let grants = submission.caller.grants
        let isAllowed =
            query.name.map {
                query.object == nil
                    ? grants.allowSome(.observe, center: submission.center.span, name: $0.span)
                    : grants.allow(
                        .observe, center: submission.center, name: $0, object: query.object)
            } ?? grants.allowSome(.observe, center: submission.center.span)
        guard isAllowed else {
            throw Problem.lacking(
                "observe", submission.caller, center: submission.center, name: query.name,
                object: query.object)
        }
        for name in query.reach.names {  // Bound: terms
            guard let name, name.starts(with: "belfry.".utf8) else { continue }
            try submission.check(.inspect, "inspect", name: name, object: query.reach.object)
        }
        guard let position = host.centers.position(of: submission.center) else {
            throw query.name == nil ? Problem.noCenter : Problem.notArchived
        }
        if let name = query.name, !host.centers[position].archives.keep(name) {
            throw Problem.notArchived
        }
        return position
    }
}

extension PastQuery {
    /// The names and objects that are asked for.
    var reach: FilterReach { FilterReach(name: name, object: object, terms: terms) }
}

extension Submission {
    /// Whether the caller may not know of some of the past, so that no loss is told.
    fileprivate func isUnderCondition(_ query: PastQuery) -> Bool {
        query.reach.names.contains { name in
            let object = query.reach.object
            return !caller.grants.allow(.observe, center: center, name: name, object: object)
                || !caller.grants.conditions(
                    of: .observe, center: center, name: name, object: object
                ).isEmpty
        }
    }
}

extension Problem {
    /// The problem of a channel of which nothing is kept.
    static let notArchived = Problem(
        .notArchived, "No archive keeps this channel; an admin can make one with PUT /v1/archives.")
}
