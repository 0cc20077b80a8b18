internal import CBelfrySystem
internal import Glibc

/// A thread of its own, without a pool and without tasks.
public struct SystemThread: ~Copyable {
    private let thread: pthread_t

    /// Starts a thread that runs the body once; what the body captures goes over to it.
    ///
    /// It blocks all signals, so that they come to the thread that waits for them, whenever it
    /// begins.
    ///
    /// - Throws: `SystemCallError` when the system has no room for one more thread.
    public init(_ body: sending @escaping () -> Void) throws(SystemCallError) {
        var thread = pthread_t()
        // SAFETY: the box is retained here and released exactly once: by the new thread, or below
        // when there is none.
        let box = unsafe Unmanaged.passRetained(Box(body))
        let status = unsafe belfry_thread_create(
            &thread,
            { raw in
                guard let raw = unsafe raw else { return nil }
                unsafe Unmanaged<Box>.fromOpaque(raw).takeRetainedValue().body()
                return nil
            }, box.toOpaque())
        guard status == 0 else {
            unsafe box.release()
            throw SystemCallError(call: "pthread_create", errno: status)
        }
        self.thread = thread
    }

    deinit {
        pthread_detach(thread)
    }

    /// Waits until the body has returned.
    public consuming func join() {
        // The thread is neither joined nor detached yet, and no result is asked for.
        _ = pthread_join(thread, nil)
        discard self
    }

    private final class Box {
        let body: () -> Void

        init(_ body: @escaping () -> Void) {
            self.body = body
        }
    }
}
