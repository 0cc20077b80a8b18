internal import Glibc

// SENDABLE: the value is touched under the lock alone, and the lock is the system's own.
/// A value that threads share, and wait at until it is as they want it.
///
/// It is for threads that may block; a loop has its mailbox. The condition of the library has no
/// wait with a deadline, so this is the one of POSIX.
@safe public final class Monitor<State: Sendable>: @unchecked Sendable {
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private let changed: UnsafeMutablePointer<pthread_cond_t>
    private var state: State

    /// Starts with a value.
    public init(_ state: State) {
        self.state = state
        var attributes = pthread_condattr_t()
        // SAFETY: room for one of each is made here and freed in `deinit`; the calls fill it in,
        // and the attributes outlive them.
        unsafe mutex = .allocate(capacity: 1)
        unsafe changed = .allocate(capacity: 1)
        unsafe pthread_condattr_init(&attributes)
        unsafe pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
        unsafe pthread_mutex_init(mutex, nil)
        unsafe pthread_cond_init(changed, &attributes)
        unsafe pthread_condattr_destroy(&attributes)
    }

    deinit {
        // SAFETY: nobody holds a reference any more, so no thread is inside.
        unsafe pthread_cond_destroy(changed)
        unsafe pthread_mutex_destroy(mutex)
        unsafe changed.deallocate()
        unsafe mutex.deallocate()
    }

    /// Changes the value, and wakes the threads that wait for it.
    public func change<Result: Sendable>(_ body: (inout State) -> Result) -> Result {
        // SAFETY: both live as long as this object.
        unsafe pthread_mutex_lock(mutex)
        defer {
            // SAFETY: as above.
            unsafe pthread_cond_broadcast(changed)
            unsafe pthread_mutex_unlock(mutex)
        }
        return body(&state)
    }

    /// Waits until the body takes something out of the value, or until the deadline.
    ///
    /// The body is asked at once, after each change, and a last time at the deadline.
    public func take<Result: Sendable>(
        until deadline: MonotonicTime = .distantFuture, _ body: (inout State) -> Result?
    ) -> Result? {
        // SAFETY: the mutex lives as long as this object.
        unsafe pthread_mutex_lock(mutex)
        defer {
            // SAFETY: as above.
            unsafe pthread_mutex_unlock(mutex)
        }
        var isInTime = true
        while true {
            if let result = body(&state) { return result }
            guard isInTime else { return nil }
            isInTime = wait(until: deadline)
        }
    }

    /// Waits for a change, with the lock held; tells whether the deadline has not come yet.
    private func wait(until deadline: MonotonicTime) -> Bool {
        guard deadline != .distantFuture else {
            // SAFETY: both live as long as this object, and the lock is held.
            unsafe pthread_cond_wait(changed, mutex)
            return true
        }
        // A time before all others is over; the system would not take it for one.
        let nanoseconds = max(deadline.nanoseconds, 0)
        var time = timespec(
            tv_sec: Int(nanoseconds / 1_000_000_000), tv_nsec: Int(nanoseconds % 1_000_000_000))
        // SAFETY: as above, and the time outlives the call.
        return unsafe pthread_cond_timedwait(changed, mutex, &time) != ETIMEDOUT
    }
}
