import ArgumentParser
import BelfryClient
import BelfrySystem

/// `belfry mailbox follow`.
struct FollowMailbox: ClientCommand {
    static let configuration = CommandConfiguration(
        commandName: "follow",
        abstract: "Print what comes into a mailbox, and acknowledge what is printed, until Ctrl-C.",
        discussion: """
            It prints lines as `belfry observe` does. What was printed is acknowledged with the \
            next look, and at the end: after a crash the last ones may come again, and none is lost.
            """)

    @OptionGroup var mailbox: MailboxToken

    @Option(help: .value("End after this many notifications.", "N"))
    var count: Int?

    @Flag(
        inversion: .prefixedNo,
        help: "Retry while the broker is unavailable, and report that on standard error; or exit.")
    var reconnect = true

    @OptionGroup var place: PlaceOptions
    @OptionGroup var report: ReportOptions

    /// The longest wait that every broker takes.
    private static let wait = Duration.seconds(60)

    func validate() throws {
        if let count, count < 1 { throw ValidationError("--count must be at least 1") }
    }

    func perform(_ signals: StopSignals) async throws(ToolError) {
        let url = try place.brokerURL()
        try await signals.run { () async throws(ToolError) in
            try await follow(url)
        }
    }

    /// Polls and prints until the count is reached, the reader is gone, or the task is cancelled.
    private func follow(_ url: BrokerURL) async throws(ToolError) {
        let shape = try NotificationLine(report)
        var attempts = Attempts(at: url, reconnects: reconnect)
        var printedCount = 0
        var position: UInt64?
        while true {
            let look = try mailbox.look(
                after: position, limit: count.map { min($0 - printedCount, 1_000) },
                wait: Self.wait)
            guard let answer = try await attempts.answer(to: look) else { break }
            let page = try MailboxPage(answer)
            page.sayGaps()
            var isRead = true
            for notification in page.notifications where isRead {
                isRead = Following.write(shape.line(notification))
                if isRead { position = notification.sequence }
                printedCount += 1
            }
            if isRead { position = max(position ?? 0, page.next) }
            if !isRead || printedCount == count { break }
        }
        guard let position else { return }
        // Not in this task, whose requests end when it is cancelled.
        let last = try mailbox.look(after: position, limit: 1)
        _ = await Task { try? await last.requiredAnswer(from: url) }.value
    }
}
