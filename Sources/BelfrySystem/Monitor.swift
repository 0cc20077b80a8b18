internal import CBelfrySystem

// SENDABLE: the value is touched under the lock alone, and the lock is the system's own.
/// A value that threads share, and wait at until it is as they want it.
///
/// It is for threads that may block; a loop has its mailbox.
@safe public final class Monitor<State: Sendable>: @unchecked Sendable {
    private let monitor: OpaquePointer
    private var state: State

    /// Starts with a value.
    public init(_ state: State) {
        // SAFETY: the monitor is made here and destroyed in `deinit`; nil means no memory.
        guard let monitor = unsafe belfry_monitor_create() else {
            preconditionFailure("there is no memory for a lock")
        }
        unsafe self.monitor = monitor
        self.state = state
    }

    deinit {
        // SAFETY: nobody holds a reference any more, so no thread is inside.
        unsafe belfry_monitor_destroy(monitor)
    }

    /// Changes the value, and wakes whoever waits for it.
    public func change<Result: Sendable>(_ body: (inout State) -> Result) -> Result {
        // SAFETY: the monitor lives as long as this object.
        unsafe belfry_monitor_lock(monitor)
        defer {
            // SAFETY: as above.
            unsafe belfry_monitor_wake(monitor)
            unsafe belfry_monitor_unlock(monitor)
        }
        return body(&state)
    }

    /// Waits until the body takes something out of the value, or until the deadline.
    ///
    /// The body is asked at once, after each change, and a last time at the deadline.
    public func take<Result: Sendable>(
        until deadline: MonotonicTime = .distantFuture, _ body: (inout State) -> Result?
    ) -> Result? {
        // SAFETY: the monitor lives as long as this object.
        unsafe belfry_monitor_lock(monitor)
        defer {
            // SAFETY: as above.
            unsafe belfry_monitor_unlock(monitor)
        }
        var isInTime = true
        while true {
            if let result = body(&state) { return result }
            guard isInTime else { return nil }
            // SAFETY: the lock is held, which the wait needs.
            isInTime = unsafe belfry_monitor_wait(monitor, deadline.nanoseconds)
        }
    }
}
