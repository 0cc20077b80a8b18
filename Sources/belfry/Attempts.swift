import BelfryClient
import BelfrySystem

/// What is asked again while the broker is away, and what is said about that on standard error.
struct Attempts {
    private let url: BrokerURL
    private let reconnects: Bool
    private var teller = ConnectionTeller()
    private var backOff = BackOff(ClientOptions())
    private var random = SystemRandom()

    init(at url: BrokerURL, reconnects: Bool) {
        self.url = url
        self.reconnects = reconnects
    }

    /// Runs a body in a task that a signal cancels.
    static func run(
        until signals: StopSignals, _ body: @escaping @Sendable () async throws(ToolError) -> Void
    ) async throws(ToolError) {
        let work = Task { () -> Result<Void, ToolError> in
            do throws(ToolError) {
                return .success(try await body())
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

    /// The answer of a broker that did what was asked; nil when the task is cancelled.
    mutating func answer(to request: HTTPRequest) async throws(ToolError) -> HTTPAnswer? {
        while !Task.isCancelled {
            do throws(ClientError) {
                let answer = try await request.answer(from: url)
                guard answer.isSuccess else { throw answer.refusal }
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
        tell(.open)
        backOff.reset()
    }

    /// Waits before the next attempt, or ends where none may go better.
    mutating func pause(after error: ClientError) async throws(ToolError) {
        if error == .cancelled { return }
        guard reconnects, error.isWorthRetrying else { throw .failure("\(url): \(error)") }
        tell(.away(error))
        // Whoever is cancelled meanwhile looks for that.
        try? await Task.sleep(for: backOff.nextPause(using: &random))
    }

    private mutating func tell(_ state: ConnectionState) {
        if let text = teller.text(of: state) { Program.say("belfry: \(text)", to: .error) }
    }
}
