import BelfryClient

/// Prints an event stream, and opens it again behind the last event when it ends.
struct StreamFollower {
    let url: BrokerURL
    let filter: NotificationFilter
    let start: Beginning?
    let count: Int?
    let reconnects: Bool
    let shape: NotificationLine

    /// Prints until the count is reached, the reader is gone, or the task is cancelled.
    func run() async throws(ToolError) {
        var attempts = Attempts(at: url, reconnects: reconnects)
        var position: String?
        var hasOpened = false
        var printedCount = 0
        while !Task.isCancelled {
            do throws(ClientError) {
                let observation = try await EventStream.observe(
                    url, for: filter, since: start, lastEventID: position,
                    options: .printing(past: start != nil))
                attempts.noteSuccess()
                // The line broke before the broker sent its position: notifications since are
                // unknown.
                let isWhole = start?.isSteady ?? false
                if hasOpened, position == nil, !isWhole {
                    Following.sayLoss(nil, "unknown", "notifications")
                }
                hasOpened = true
                defer { position = observation.position ?? position }
                for try await notification in observation {
                    Following.sayLoss(notification, of: "notifications")
                    guard Following.write(shape.line(notification)) else { break }
                    printedCount += 1
                    if printedCount == count { break }
                }
                // The stream is gone with its connection in any case.
                try? await observation.removeObserver()
                return
            } catch {
                try await attempts.pause(after: error)
            }
        }
    }
}
