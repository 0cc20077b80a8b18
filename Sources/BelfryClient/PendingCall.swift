internal import Synchronization

/// The wait of one task for an answer; it ends with the answer or the task's cancellation.
final class PendingCall<Value: Sendable>: Sendable {
    typealias Outcome = Result<Value, ClientError>

    private enum State {
        case waiting(CheckedContinuation<Outcome, Never>?)
        case over
    }

    private let state = Mutex(State.waiting(nil))

    /// Whether the task still waits.
    var isWanted: Bool {
        state.withLock { state in
            if case .over = state { false } else { true }
        }
    }

    /// Begins to wait, unless the task was cancelled before; tells whether it does.
    func begin(_ continuation: CheckedContinuation<Outcome, Never>) -> Bool {
        let isWaiting = state.withLock { state in
            if case .over = state { return false }
            state = .waiting(continuation)
            return true
        }
        if !isWaiting { continuation.resume(returning: .failure(.cancelled)) }
        return isWaiting
    }

    /// Ends the wait; a later outcome is ignored.
    func end(_ outcome: Outcome) {
        let continuation = state.withLock { state -> CheckedContinuation<Outcome, Never>? in
            guard case .waiting(let continuation) = state else { return nil }
            state = .over
            return continuation
        }
        continuation?.resume(returning: outcome)
    }
}
