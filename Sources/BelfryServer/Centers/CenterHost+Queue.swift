import BelfryBytes
import BelfryAccess
import BelfryCenter
import BelfryWire

// The queue: who may look at it, and who may take entries out of it (rule Q20).

extension CenterHost {
    /// Removes queue entries that the caller may post; tells how many.
    mutating func dequeue(
        _ request: DequeueRequest, _ submission: Submission, _ outbox: inout Outbox
    ) throws(Problem) -> Int {
        let grants = submission.caller.grants
        guard grants.allowSome(.post, center: submission.center.span) else {
            throw Problem.lacking("post", submission.caller, center: submission.center)
        }
        guard let position = centers.position(of: submission.center) else {
            throw Problem.noCenter
        }
        let scope = grants.postScope(center: submission.center)
        switch request {
        case .entry(let id):
            submitCommand(.dequeueEntry(id, scope: scope), to: position, &outbox)
        case .matching(let name, let object, let mask):
            let match = QueueMatch(name: name, object: object, mask: mask, scope: scope)
            submitCommand(.dequeue(match), to: position, &outbox)
        }
        try checkOutcome()
        guard case .dequeued(let count) = effects.outcome else { return 0 }
        return count
    }

    /// Answers the removal of queue entries: of one by its id with 204, of others with their count.
    mutating func answerDequeue(
        _ request: DequeueRequest, _ submission: Submission, _ outbox: inout Outbox
    ) throws(Problem) -> Answer {
        let count = try dequeue(request, submission, &outbox)
        if case .entry = request { return .empty }
        Shape.append(removedCount: count, to: &outbox.content)
        return .json
    }

    /// Appends a page of the queue; entries show only where `inspect` covers name and object.
    mutating func appendQueue(
        _ query: ObserverQuery, _ position: Int, visible: NotificationCenter.Visibility,
        _ outbox: inout Outbox
    ) {
        outbox.work.countLook(through: centers[position].queueCount)
        let page = centers[position].queue(after: query.cursor, limit: query.limit) {
            (query.name == nil || query.name == $0) && (query.object == nil || query.object == $1)
                && visible($0, $1)
        }
        Shape.append(queue: page, to: &outbox.content)
    }

    /// Appends one queue entry.
    mutating func appendQueueEntry(
        _ id: NotificationID, _ position: Int, visible: NotificationCenter.Visibility,
        _ outbox: inout Outbox
    ) throws(Problem) {
        guard let row = centers[position].queueEntry(id), Self.isVisible(row.content, visible)
        else {
            throw Problem(Refusal.unknownEntry)
        }
        Shape.append(queueEntry: row, to: &outbox.content)
    }

    private static func isVisible(
        _ content: Notification.Content, _ visible: NotificationCenter.Visibility
    ) -> Bool {
        let name = [UInt8](copying: content.name)
        var object: [UInt8]?
        if let span = content.object { object = [UInt8](copying: span) }
        return visible(name, object)
    }
}

extension Problem {
    /// What is said of a center that is not there: a look makes none.
    static let noCenter = Problem(.notFound, "There is no such center.")
}
