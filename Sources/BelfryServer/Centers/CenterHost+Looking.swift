import BelfryAccess
import BelfryCenter
import BelfryWire

// Looking inside changes nothing and makes no center (Protocol.md section 4).

extension CenterHost {
    /// Answers what only looks; its content goes to that of the outbox.
    mutating func look(
        _ request: CenterRequest, _ submission: Submission, _ outbox: inout Outbox
    ) throws(Problem) -> Answer {
        let grants = submission.caller.grants
        let name = submission.center
        outbox.work.countLook()
        switch request {
        case .fate(let id):
            guard
                grants.allowSome(.post, center: name.span)
                    || grants.allowSome(.inspect, center: name.span)
            else { throw Problem.lacking("post", submission.caller, center: name) }
            return try lookAtFate(id, center: name, &outbox)
        case .readObserver(let secret):
            return try lookAtObserver(secret, submission, &outbox)
        default:
            guard grants.allowSome(.inspect, center: name.span) else {
                throw Problem.lacking("inspect", submission.caller, center: name)
            }
        }
        guard let position = centers.position(of: name) else {
            throw Problem.noCenter
        }
        try appendListing(request, position, submission.caller, &outbox)
        return .listing
    }

    private mutating func lookAtFate(
        _ id: NotificationID, center name: [UInt8], _ outbox: inout Outbox
    ) throws(Problem) -> Answer {
        let position = centers.position(of: name)
        guard
            let receipt = position.flatMap({ centers[$0].receipt(of: id, at: outbox.commandTime) })
        else {
            throw Problem(.notFound, "No such post is known: a fate is remembered for 5 minutes.")
        }
        Shape.append(fate: receipt, to: &outbox.content)
        return .json
    }

    private mutating func lookAtObserver(
        _ secret: Secret, _ submission: Submission, _ outbox: inout Outbox
    ) throws(Problem) -> Answer {
        let row = try observer(secret, orBy: .inspect, submission).row
        Shape.append(observer: row, center: submission.center, to: &outbox.content)
        return .json
    }

    /// Appends a listing of a center; rows show only where `inspect` covers name and object.
    private mutating func appendListing(
        _ request: CenterRequest, _ position: Int, _ caller: Caller, _ outbox: inout Outbox
    ) throws(Problem) {
        let center = centers[position]
        let name = center.name
        let isVisible: NotificationCenter.Visibility = {
            caller.grants.allow(.inspect, center: name, name: $0, object: $1)
        }
        switch request {
        case .observers(let query):
            let page = center.observers(
                matching: query, scanLimit: takeScan(of: center.observerCount), visible: isVisible)
            Shape.append(observers: page, center: name, to: &outbox.content)
        case .clients(let query):
            var page = center.clients(
                after: query.cursor, limit: query.limit, principal: query.principal,
                state: query.state)
            // A client has neither name nor object, so only who may see all of them sees any.
            if !isVisible(nil, nil) {
                page.rows = []
                page.next = nil
            }
            let unsent = page.rows.map { outbox.unsentByteCount(of: $0) }
            let unsentOf = Dictionary(uniqueKeysWithValues: zip(page.rows.map(\.id), unsent))
            Shape.append(
                clients: page, unsentByteCount: { unsentOf[$0.id] ?? nil }, to: &outbox.content)
        case .channels(let cursor, let limit, let channel):
            let page = center.channels(
                after: cursor, limit: limit, name: channel, visible: isVisible)
            Shape.append(channels: page, to: &outbox.content)
        case .queue(let query):
            appendQueue(query, position, visible: isVisible, &outbox)
        case .queueEntry(let id):
            try appendQueueEntry(id, position, visible: isVisible, &outbox)
        case .modes:
            Shape.append(modes: center.modes, to: &outbox.content)
        case .explain(let request):
            // A name that is compared letter by letter takes as long as sixteen rows.
            let explanation = center.explain(
                name: request.name, object: request.object, after: request.cursor,
                limit: request.limit, scanLimit: takeScan(of: 16 * center.observerCount),
                visible: isVisible)
            Shape.append(explanation: explanation, to: &outbox.content)
        case .leaks(let cursor, let limit):
            Shape.append(
                leaks: center.leaks(
                    after: cursor, limit: limit, at: outbox.commandTime, visible: isVisible),
                to: &outbox.content)
        case .unmatched(let limit):
            Shape.append(
                unmatched: center.unmatched(limit: limit, visible: isVisible), to: &outbox.content)
        case .post, .postBatch, .connect, .disconnect, .becomeSlow, .drain, .addObserver,
            .removeObserver, .readObserver, .readMailbox, .openStream, .endPoll, .detachReader,
            .removeClient, .suspendClient, .dequeue, .enterMode, .leaveMode, .endCenter, .fate,
            .centers, .calls:
            preconditionFailure("these are no listings of a center")
        }
    }

    /// How many rows one more look of this turn goes through: half of what is left, and a few always.
    ///
    /// A batch of a thousand calls that look through large tables would otherwise hold up everybody
    /// for seconds. Pages may be short anyway, and near misses few.
    private mutating func takeScan(of rowCount: Int) -> Int {
        let share = max(Self.leastScan, scanBudget / 2)
        scanBudget = max(0, scanBudget - min(share, rowCount + Self.leastScan))
        return share
    }

    /// How many rows all looks of a turn go through, about.
    static let turnScanLimit = 200_000

    /// How many rows each look goes through at least.
    private static let leastScan = 100

    // MARK: All centers

    /// Adds the centers of this loop; the last loop sorts them and answers.
    ///
    /// - Returns: whether it is answered.
    mutating func listCenters(
        _ earlier: [CenterRow], cursor: UInt64, limit: Int, _ submission: Submission,
        _ outbox: inout Outbox
    ) -> Bool {
        let grants = submission.caller.grants
        var rows = earlier
        for position in 0..<centers.count {
            let center = centers[position]
            guard grants.allowSome(.inspect, center: center.name.span) else { continue }
            rows.append(CenterRow(center))
        }
        if outbox.number + 1 < outbox.configuration.loopCount {
            let request = CenterRequest.centers(rows: rows, cursor: cursor, limit: limit)
            outbox.send(
                Submission(
                    center: submission.center, request: request, caller: submission.caller,
                    reply: submission.reply), to: outbox.number + 1)
            return false
        }
        rows.sort { $0.name.lexicographicallyPrecedes($1.name) }
        // A cursor is a place in the order of names.
        let start = Int(clamping: cursor)
        let page = Array(rows.dropFirst(start).prefix(limit))
        let end = start + page.count
        Shape.append(
            centers: page, next: end < rows.count ? UInt64(end) : nil, to: &outbox.content)
        deliver(.listing, submission.reply, &outbox)
        return true
    }
}
