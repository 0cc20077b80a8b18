import ArgumentParser
import BelfryClient
import BelfrySystem

/// `belfry mailbox follow`.
struct FollowMailbox: ClientCommand {
    static let configuration = CommandConfiguration(
        commandName: "follow",
        abstract: "Print what comes into a mailbox, or run a command for it, until Ctrl-C.",
        usage: "belfry mailbox follow <TOKEN> [<options>] [-- <COMMAND> ...]",
        discussion: """
            Without COMMAND it prints lines as `belfry observe` does. Printed notifications are \
            acknowledged with the next look, and at the end. A pipe is not an acknowledgement: \
            lines that a killed reader has not read are lost.

            COMMAND is run once for each notification, one after the other, with the userInfo as \
            its standard input, and ASK_ID, ASK_NAME and ASK_OBJECT in its environment. Exit code \
            0 acknowledges the notification. After any other one COMMAND is run again for the \
            same notification, after pauses that grow to 30 s. So each notification is done at \
            least once, also when this program is killed, and one may be done twice. COMMAND gets \
            SIGTERM on Ctrl-C. Its outputs may have 1 MiB each, and a run must be shorter than the \
            lease of the mailbox.
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

    @Argument(
        parsing: .postTerminator,
        help: .value("The command that runs for each notification, behind the word --.", "COMMAND"))
    var command: [String] = []

    /// The longest wait that every broker takes.
    private static let wait = Duration.seconds(60)

    func validate() throws {
        if let count, count < 1 { throw ValidationError("--count must be at least 1") }
    }

    func perform(_ signals: StopSignals) async throws(ToolError) {
        let url = try place.brokerURL()
        try await signals.run { () async throws(ToolError) in
            guard command.isEmpty else {
                return try await follow(
                    url, NotificationWorker(command: try NotificationCommand(command)))
            }
            try await follow(url, NotificationPrinter(shape: try NotificationLine(report)))
        }
    }

    /// Looks and hands on until the count is reached, the reader is gone, or the task is cancelled.
    private func follow(
        _ url: BrokerURL, _ consumer: some MailboxConsumer
    ) async throws(ToolError) {
        var consumer = consumer
        var attempts = Attempts(at: url, reconnects: reconnect)
        var (doneCount, position, isOver) = (0, UInt64?.none, false)
        var toldGaps: [[UInt8]] = []
        while !isOver, doneCount != count {
            let limit = min(count.map { $0 - doneCount } ?? .max, consumer.pageLimit)
            let look = try mailbox.look(after: position, limit: limit, wait: Self.wait)
            guard let answer = try await attempts.answer(to: look) else { break }
            let page = try MailboxPage(answer)
            // A gap comes again with each look, until what follows it is acknowledged.
            if page.gaps.map(\.json) != toldGaps { page.sayGaps() }
            toldGaps = page.gaps.map(\.json)
            var outcome = MailboxOutcome.done
            for notification in page.notifications where outcome == .done {
                outcome = try await consumer.take(notification)
                if outcome == .done {
                    position = notification.sequence
                    doneCount += 1
                }
            }
            if outcome == .done { position = max(position ?? 0, page.next) }
            isOver = outcome == .over
        }
        guard let position else { return }
        // Not in this task, whose requests end when it is cancelled.
        let last = try mailbox.look(after: position, limit: 1)
        _ = await Task { try? await last.requiredAnswer(from: url) }.value
    }
}
