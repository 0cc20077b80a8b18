import BelfryClient
import BelfrySystem

/// Repeats requests while the broker is away, and reports that on standard error.
struct Attempts {
    private let url: BrokerURL
    private let reconnects: Bool
    /// Whether the broker was there once: a mistyped URL is told at once.
    private var hasSucceeded = false
    private var teller = ConnectionTeller()
    private var backOff = BackOff(ClientOptions())
    /// Since when the broker answers; nil while it is away.
    private var answersSince: MonotonicTime?
    private var random = SystemRandom()

    init(at url: BrokerURL, reconnects: Bool) {
        self.url = url
        self.reconnects = reconnects
    }

    /// The successful answer of a broker; nil when the task is cancelled.
    mutating func answer(to request: HTTPRequest) async throws(ToolError) -> HTTPAnswer? {
        while !Task.isCancelled {
            do throws(ClientError) {
                let answer = try await request.acceptedAnswer(from: url)
                noteSuccess()
                return answer
            } catch {
                try await pause(after: error)
            }
        }
        return nil
    }

    /// The broker is there.
    mutating func noteSuccess() {
        hasSucceeded = true
        tell(.open)
        answersSince = answersSince ?? .now()
    }

    /// Waits before the next attempt, or ends where none may go better.
    mutating func pause(after error: ClientError) async throws(ToolError) {
        if error == .cancelled { return }
        guard hasSucceeded, reconnects, error.isWorthRetrying else {
            throw .failure("\(url): \(error)")
        }
        tell(.away(error))
        if let answersSince, MonotonicTime.now() - answersSince >= BackOff.steadyTime {
            backOff.reset()
        }
        answersSince = nil
        if error.isOverload { backOff.giveWay() }
        // A cancelled task ends the sleep early; its caller checks for that.
        try? await Task.sleep(
            for: backOff.nextPause(announced: error.retryAfter, using: &random))
    }

    private mutating func tell(_ state: ConnectionState) {
        if let text = teller.text(of: state) { Program.say("belfry: \(text)", to: .error) }
    }
}
