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
        /// Whether a task has waited for a signal.
        var isAwaited = false
        var waiters: [(number: UInt64, continuation: CheckedContinuation<Bool, Never>)] = []
        var nextNumber: UInt64 = 0
        var status: Int32?
    }

    // The numbers of signal(7) on Linux.
    private static let numbers: [Int32] = [2, 15]

    private let state = Mutex(State())

    private init() {}

    /// Runs an asynchronous program while this thread, the main one, waits for signals.
    ///
    /// An asynchronous `main` cannot do that: there the main thread handles signals by their
    /// default action, which ends the process at once.
    ///
    /// - Returns: the result of the body, or 1 for a signal that no task waits for: one before
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

    /// Waits for the first signal, or until this task is cancelled.
    ///
    /// - Returns: whether a signal has come.
    @discardableResult
    public func wait() async -> Bool {
        let number = state.withLock { state in
            state.isAwaited = true
            state.nextNumber += 1
            return state.nextNumber
        }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let hasCome: Bool? = state.withLock { state in
                    // A task that is cancelled before it waits finds its mark here, in the same
                    // lock.
                    if state.hasCome || Task.isCancelled { return state.hasCome }
                    state.waiters.append((number, continuation))
                    return nil
                }
                if let hasCome { continuation.resume(returning: hasCome) }
            }
        } onCancel: {
            let waiter = state.withLock { state in
                state.waiters.firstIndex { $0.number == number }.map {
                    state.waiters.remove(at: $0)
                }
            }
            waiter?.continuation.resume(returning: false)
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

    /// Reports a signal to the waiting tasks; true for the first one if a task has waited for it.
    private func take() -> Bool {
        let (isExpected, waiters) = state.withLock { state in
            defer {
                state.hasCome = true
                state.waiters = []
            }
            return (state.isAwaited && !state.hasCome, state.waiters)
        }
        for waiter in waiters { waiter.continuation.resume(returning: true) }
        return isExpected
    }
}
