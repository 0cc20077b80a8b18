import BelfryAccess
import BelfryBytes
import BelfryCenter
import BelfryWire

// Looks read the present state of a center; rows show only where `inspect` covers name and object.

extension Look {
    /// Fills the answer to a look.
    func fill(
        _ answer: inout Answer, _ submission: Submission, _ centers: borrowing CenterTable,
        _ scan: inout ScanBudget, _ context: inout LoopContext
    ) throws(Problem) {
        let grants = submission.caller.grants
        let name = submission.center
        context.work.countLook()
        switch self {
        case .fate(let id):
            let position = centers.position(of: name)
            // Reading the state of an ask does not need the grant `post`.
            if let ask = position.flatMap({ centers[$0].ask(id, at: context.commandTime) }) {
                guard submission.owns(ask, orBy: .inspect) else { throw Problem.noFate }
                Shape.append(
                    askFate: ask.outcome, sight: submission.sight, to: &answer.content)
                return
            }
            guard
                grants.allowSome(.post, center: name.span)
                    || grants.allowSome(.inspect, center: name.span)
            else { throw Problem.lacking("post", submission.caller, center: name) }
            let fate = position.flatMap { centers[$0].receipt(of: id, at: context.commandTime) }
            guard let fate else { throw Problem.noFate }
            Shape.append(fate: fate, to: &answer.content)
        case .observer(let secret):
            let row = try centers.observer(secret, orBy: .inspect, submission).row
            Shape.append(observer: row, center: name, to: &answer.content)
        case .listing(let listing):
            guard grants.allowSome(.inspect, center: name.span) else {
                // An archive is not shown to those who may not know of it.
                if case .archive = listing { throw Problem(Refusal.unknownArchive) }
                throw Problem.lacking("inspect", submission.caller, center: name)
            }
            guard let position = centers.position(of: name) else { throw Problem.noCenter }
            try listing.append(
                of: centers[position], for: submission.caller, &scan, &answer, &context)
            answer.isCompressible = true
        case .caller:
            Shape.append(caller: CallerRow(submission.caller, in: name), to: &answer.content)
            answer.fields = [.noStore]
        }
    }
}

extension CenterListing {
    /// Appends a listing of a center.
    fileprivate func append(
        of center: borrowing NotificationCenter, for caller: Caller, _ scan: inout ScanBudget,
        _ answer: inout Answer, _ context: inout LoopContext
    ) throws(Problem) {
        let name = center.name
        let isVisible: NotificationCenter.Visibility = {
            caller.grants.allow(.inspect, center: name, name: $0, object: $1)
        }
        switch self {
        case .observers(let query):
            let page = center.observers(
                matching: query, scanLimit: scan.take(of: center.observerCount), visible: isVisible)
            Shape.append(observers: page, center: name, to: &answer.content)
        case .responders(let query):
            let page = center.responders(
                matching: query, scanLimit: scan.take(of: center.observerCount), visible: isVisible)
            Shape.append(responders: page, center: name, to: &answer.content)
        case .holders(let object):
            // A responder has no name: it is visible only to callers that may see all names.
            let rows = isVisible(nil, object) ? center.responders(at: object) : []
            if rows.isEmpty { throw Problem.noResponder }
            Shape.append(responders: rows, center: name, to: &answer.content)
        case .asks(let query):
            let page = center.asks(
                matching: query, scanLimit: scan.take(of: center.tally[.asks]), visible: isVisible)
            Shape.append(asks: page, sight: caller.sight(in: name), to: &answer.content)
        case .values(let query):
            let page = center.values(
                matching: query, scanLimit: scan.take(of: center.valueCount), visible: isVisible)
            Shape.append(values: page, to: &answer.content)
        case .clients(let query):
            // A client has no name: it is visible only to callers that may see all names.
            let page =
                isVisible(nil, nil)
                ? center.clients(
                    matching: query, scanLimit: scan.take(of: center.clientCount)) : Page()
            Self.append(clients: page, &context, to: &answer.content)
        case .channels(let query):
            let page = center.channels(
                matching: query, scanLimit: scan.take(of: center.channelCount), visible: isVisible)
            Shape.append(channels: page, to: &answer.content)
        case .queue(let query):
            context.work.countLook(through: center.queueCount)
            let page = center.queue(
                matching: query, scanLimit: scan.take(of: center.queueCount + center.timerCount),
                visible: isVisible)
            Shape.append(queue: page, to: &answer.content)
        case .queueEntry(let id):
            guard let row = center.queueEntry(id),
                isVisible(row.content.nameText, row.content.objectText)
            else { throw Problem(Refusal.unknownEntry) }
            Shape.append(queueEntry: row, to: &answer.content)
        case .modes: Shape.append(modes: center.modes, to: &answer.content)
        case .overview:
            let now = context.commandTime.wallMilliseconds
            Shape.append(overviewOf: center, at: now, to: &answer.content)
        case .explain(let request):
            try request.append(of: center, for: caller, &scan, to: &answer.content)
        case .leaks(let cursor, let limit):
            let page = center.leaks(
                after: cursor, limit: limit, at: context.commandTime, visible: isVisible)
            Shape.append(leaks: page, to: &answer.content)
        case .unmatched(let limit):
            Shape.append(
                unmatched: center.unmatched(limit: limit, visible: isVisible), to: &answer.content)
        case .archives(let query): center.archives.append(query, isVisible, to: &answer.content)
        case .archive(let name): try center.archives.append(name, isVisible, to: &answer.content)
        }
    }

    /// Appends clients, each with the bytes that its connection has not sent.
    private static func append(
        clients page: Page<ClientRow>, _ context: inout LoopContext, to content: inout [UInt8]
    ) {
        let unsent = page.rows.map { context.unsentByteCount(of: $0) }
        let unsentOf = Dictionary(uniqueKeysWithValues: zip(page.rows.map(\.id), unsent))
        Shape.append(
            clients: page, unsentByteCount: { unsentOf[$0.id] ?? nil }, to: &content)
    }
}

extension Archives {
    /// Appends an archive, if there is one and the caller may see it.
    fileprivate func append(
        _ name: ArchiveName, _ isVisible: NotificationCenter.Visibility,
        to content: inout [UInt8]
    ) throws(Problem) {
        guard let row = row(named: name), isVisible(name.reach, nil) else {
            throw Problem(Refusal.unknownArchive)
        }
        row.append(hasFigures: true, to: &content)
    }

    /// Appends a page of those that a caller may see; a cursor is a place in the order of names.
    fileprivate func append(
        _ query: ObserverQuery, _ isVisible: NotificationCenter.Visibility,
        to content: inout [UInt8]
    ) {
        let rows = listing().filter { isVisible($0.name.reach, nil) }
        let start = Int(clamping: query.cursor)
        let page = Array(rows.dropFirst(start).prefix(query.limit))
        let end = start + page.count
        ArchiveRow.append(
            Page(rows: page, next: end < rows.count ? UInt64(end) : nil), to: &content)
    }
}

extension ExplainRequest {
    /// Appends the receivers of a notification, or of an ask, as far as the caller may see them.
    fileprivate func append(
        of center: borrowing NotificationCenter, for caller: Caller, _ scan: inout ScanBudget,
        to content: inout [UInt8]
    ) throws(Problem) {
        let name = center.name
        let grants = caller.grants
        switch self {
        case .ask(let object, let selector):
            guard grants.allow(.inspect, center: name, name: selector, object: object) else {
                throw Problem.lacking(
                    "inspect", caller, center: name, name: selector, object: object)
            }
            let sight = Sight { _, address in
                grants.allow(.inspect, center: name, name: selector, object: address)
            }
            Shape.append(
                ask: center.explainAsk(object: object, selector: selector), sight: sight,
                to: &content)
        case .post(let request):
            // A name compared by letters counts as sixteen rows.
            let explanation = center.explain(
                name: request.name, object: request.object, userInfo: request.userInfo,
                after: request.cursor,
                limit: request.limit, scanLimit: scan.take(of: 16 * center.observerCount)
            ) { grants.allow(.inspect, center: name, name: $0, object: $1) }
            let sight = Sight { action, address in
                grants.allow(.inspect, center: name, name: action, object: address)
            }
            Shape.append(explanation: explanation, sight: sight, to: &content)
        }
    }
}

extension Problem {
    /// The problem of an unknown center: a look makes none.
    static let noCenter = Problem(
        .notFound, "There is no such center; its first post or observer creates it.")
    /// The problem of a post that was never made, or too long ago.
    static let noFate = Problem(
        .notFound,
        """
        No such notification is known; the outcome of a post is kept for 5 minutes, that of a \
        stored ask for --ask-fate-age.
        """)
    /// The problem of an address without a holder.
    static let noResponder = Problem(.notFound, "No responder holds this address.")
}
