import BelfryBytes
import BelfryAccess
import BelfryCenter
import BelfryWire

// Looking at the queue.

extension CenterHost {
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
