internal import BelfryLoop
internal import BelfrySystem
internal import Synchronization

/// SIGINT and SIGTERM as something to wait for, so that a program removes its observers first.
///
/// ```
/// let status = try StopSignals.run { signals in … }
/// ```
public final class StopSignals: Sendable {
    private struct State {
        var hasCome = false
        var waiters: [CheckedContinuation<Void, Never>] = []
        var status: Int32?
    }

    // The numbers of signal(7) on Linux.
    private static let numbers: [Int32] = [2, 15]

    private let state = Mutex(State())

    private init() {}

    /// Runs an asynchronous program while this thread, the main one, waits for signals.
    ///
    /// An asynchronous `main` cannot do that: there the main thread takes signals by their default
    /// action, which ends the process at once.
    ///
    /// - Returns: what the body returns, or 1 when a signal comes that nobody waits for: before
    ///   `wait` was called, or a second one.
    /// - Throws: `ClientError.system`.
    public static func run(
        _ body: @escaping @Sendable (StopSignals) async -> Int32
    ) throws(ClientError) -> Int32 {
        do throws(SystemCallError) {
            try SignalDescriptor.ignoreBrokenPipe()
            var loop = try EventLoop(LoopConfiguration(), kernel: .linux)
            loop.reportsIdle = false
            // Blocked here before the first task starts a thread, and so in all of them.
            try loop.attach(try SignalDescriptor(numbers))
            let wake = try LoopWake()
            try loop.attach(wake)
            let signals = StopSignals()
            Task.detached {
                let status = await body(signals)
                signals.state.withLock { $0.status = status }
                wake.signal()
            }
            return try signals.status(&loop)
        } catch {
            throw .system(error)
        }
    }

    /// Waits for the first signal.
    public func wait() async {
        await withCheckedContinuation { continuation in
            let hasCome = state.withLock { state in
                if !state.hasCome { state.waiters.append(continuation) }
                return state.hasCome
            }
            if hasCome { continuation.resume() }
        }
    }

    private func status(_ loop: inout EventLoop) throws(SystemCallError) -> Int32 {
        var input: [UInt8] = [0]
        while true {
            switch try loop.nextEvent(into: &input) {
            case .signal: if !take() { return 1 }
            case .mail: if let status = state.withLock({ $0.status }) { return status }
            case .accepted, .refused, .arrived, .connected, .received, .endOfInput, .endAhead,
                .overHighWater,
                .drained,
                .closed, .deadline, .timer, .turnEnds, .idle, .waiting:
                break
            }
        }
    }

    /// Tells whoever waits of a signal, and returns whether there was anybody.
    private func take() -> Bool {
        let waiters = state.withLock { state in
            state.hasCome = true
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters { waiter.resume() }
        return !waiters.isEmpty
    }
}
