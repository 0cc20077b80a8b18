internal import CBelfrySystem

/// What the allocator of the process has handed out.
public enum AllocatedMemory {
    /// The bytes of all blocks that are allocated now; nil where the C library does not tell.
    public static var byteCount: Int? {
        let byteCount = belfry_allocated_bytes()
        return byteCount < 0 ? nil : Int(byteCount)
    }

    /// Gives back to the system what is free.
    ///
    /// Threads that allocate meanwhile wait for nearly all of the time that it takes.
    public static func trim() {
        belfry_trim_memory()
    }
}

/// Gives memory back to the system after a peak, on a thread of its own.
///
/// The allocator keeps what was freed below a block that is still in use: after 12,000 handshakes that
/// came to nothing these were 740 MiB. While memory is given back, whoever allocates waits: 67 ms after
/// 710 MiB were freed, and 1.4 ms after 17 MiB. So it is asked for in small steps (``PeakWatch``).
public final class MemoryTrimmer: Sendable {
    private struct State {
        var isAsked = false
        var isClosed = false
        var trimCount = 0
    }

    private let state = Monitor(State())

    /// Makes one whose thread does not run yet.
    public init() {}

    /// Asks for memory to be given back soon.
    public func ask() {
        state.change { $0.isAsked = true }
    }

    /// Starts the thread.
    ///
    /// - Parameter trim: gives back what is free.
    public func start(
        trim: @escaping @Sendable () -> Void = AllocatedMemory.trim
    ) throws(SystemCallError) -> SystemThread {
        try SystemThread { [self] in
            while waitUntilAsked() {
                trim()
                state.change { $0.trimCount += 1 }
            }
        }
    }

    /// Ends the thread.
    public func close() {
        state.change { $0.isClosed = true }
    }

    /// Waits until so many trims are done, for tests.
    func waitForTrims(_ count: Int) {
        _ = state.take { $0.trimCount >= count ? true : nil }
    }

    /// False once it was closed.
    private func waitUntilAsked() -> Bool {
        let isAsked = state.take { state -> Bool? in
            if state.isClosed { return false }
            guard state.isAsked else { return nil }
            state.isAsked = false
            return true
        }
        return isAsked == true
    }
}

/// Tells when what is kept has fallen so far that its memory is worth giving back.
public struct PeakWatch: Sendable {
    /// The step in which it is given back, in bytes.
    public static let step = 8 << 20

    private var peak = 0

    /// Begins with nothing.
    public init() {}

    /// Notes how much is kept now.
    ///
    /// - Returns: whether that is a step less than the most since it returned `true` last.
    @inline(__always)
    public mutating func hasFallen(to byteCount: Int) -> Bool {
        if byteCount >= peak {
            peak = byteCount
            return false
        }
        guard peak - byteCount >= Self.step else { return false }
        peak = byteCount
        return true
    }
}
