import ArgumentParser
import BelfryClient
import BelfrySystem

/// `belfry mailbox follow`.
struct FollowMailbox: ClientCommand {
    static let configuration = CommandConfiguration(
        commandName: "follow",
        abstract: "Print what comes into a mailbox, and acknowledge what is printed, until Ctrl-C.",
        discussion: """
            It prints lines as `belfry observe` does. What was printed is acknowledged with the next look, and at the end: \
            after a crash the last ones may come again, and none is lost.
            """)

    @OptionGroup var mailbox: MailboxToken

    @Option(help: .value("End after this many notifications.", "N"))
    var count: Int?

    @Flag(
        inversion: .prefixedNo,
        help: "Ask again when the broker is away, and say so on standard error; or end.")
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
        let work = Task { () -> Result<Void, ToolError> in
            do throws(ToolError) {
                return .success(try await follow(url))
            } catch {
                return .failure(error)
            }
        }
        let stopping = Task {
            await signals.wait()
            work.cancel()
        }
        defer { stopping.cancel() }
        try await work.value.get()
    }

    /// Looks and prints until it is enough, nobody reads any more, or the task is cancelled.
    private func follow(_ url: BrokerURL) async throws(ToolError) {
        let shape = try NotificationLine(report)
        var attempts = Attempts(reconnects: reconnect)
        var printedCount = 0
        var position: UInt64?
        while true {
            let look = try mailbox.look(
                after: position, limit: count.map { min($0 - printedCount, 1_000) },
                wait: Self.wait)
            guard let answer = try await attempts.answer(to: look, from: url) else { break }
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

/// A request that is asked again while the broker is away.
struct Attempts {
    private let reconnects: Bool
    private var teller = ConnectionTeller()
    private var backOff = BackOff(ClientOptions())
    private var random = SystemRandom()

    init(reconnects: Bool) {
        self.reconnects = reconnects
    }

    /// The answer of a broker that did what was asked; nil when the task is cancelled.
    mutating func answer(
        to request: HTTPRequest, from url: BrokerURL
    ) async throws(ToolError) -> HTTPAnswer? {
        while !Task.isCancelled {
            do throws(ClientError) {
                let answer = try await request.answer(from: url)
                guard answer.isSuccess else { throw answer.refusal }
                tell(.open)
                backOff.reset()
                return answer
            } catch {
                if error == .cancelled { return nil }
                guard reconnects, error.isWorthRetrying else { throw .failure("\(url): \(error)") }
                tell(.away(error))
                // One that is cancelled meanwhile ends above.
                try? await Task.sleep(for: backOff.nextPause(using: &random))
            }
        }
        return nil
    }

    private mutating func tell(_ state: ConnectionState) {
        if let text = teller.text(of: state) { Program.say("belfry: \(text)", to: .error) }
    }
}
