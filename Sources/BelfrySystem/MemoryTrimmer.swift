internal import CBelfrySystem

/// The memory that the allocator of the process has handed out.
public enum AllocatedMemory {
    /// The bytes of all blocks that are allocated now; nil where the C library does not tell.
    public static var byteCount: Int? {
        let byteCount = belfry_allocated_bytes()
        return byteCount < 0 ? nil : Int(byteCount)
    }

    /// Gives free memory back to the system.
    ///
    /// Threads that allocate meanwhile wait for nearly all of the time that it takes.
    public static func trim() {
        belfry_trim_memory()
    }

    /// The bytes of the process that are in memory; nil where the system does not tell.
    public static var residentByteCount: Int? {
        let byteCount = belfry_resident_bytes()
        return byteCount < 0 ? nil : Int(byteCount)
    }
}

/// Gives memory back to the system after a peak, on a thread of its own.
///
/// The allocator keeps memory that was freed below a block that is still in use: after 12,000
/// failed handshakes these were 740 MiB. While memory is given back, each thread that allocates
/// waits: 67 ms after 710 MiB were freed, and 1.4 ms after 17 MiB. So it is requested in small
/// steps (``PeakWatch``).
///
/// Memory that is taken and freed within a turn is in no account, and still leaves free memory
/// behind: 47,000 refused calls left 13 MiB. A check every few seconds finds that.
public final class MemoryTrimmer: Sendable {
    /// By how much the process has grown, in bytes, when a look finds it worth a trim.
    public static let step = 4 << 20

    private enum Wish {
        case look
        case trim
        case end
    }

    private struct State {
        var wish: Wish?
        /// How many wishes were done.
        var doneCount = 0
    }

    private let state = Monitor(State())

    /// Makes one whose thread does not run yet.
    public init() {}

    /// Asks for memory to be given back soon.
    public func ask() {
        state.change { if $0.wish != .end { $0.wish = .trim } }
    }

    /// Asks for memory to be given back if the process has grown by a step since the last time.
    public func look() {
        state.change { if $0.wish == nil { $0.wish = .look } }
    }

    /// Starts the thread.
    ///
    /// - Parameters:
    ///   - residentByteCount: how much of the process is in memory.
    ///   - trim: gives free memory back.
    public func start(
        residentByteCount: @escaping @Sendable () -> Int? = {
            AllocatedMemory.residentByteCount
        },
        trim: @escaping @Sendable () -> Void = AllocatedMemory.trim
    ) throws(SystemCallError) -> SystemThread {
        try SystemThread { [self] in
            var settled = residentByteCount() ?? 0
            while true {
                let wish = nextWish()
                if wish == .end { return }
                let growth = (residentByteCount() ?? 0) - settled
                if wish == .trim || growth >= Self.step {
                    trim()
                    settled = residentByteCount() ?? 0
                }
                state.change { $0.doneCount += 1 }
            }
        }
    }

    /// Ends the thread.
    public func close() {
        state.change { $0.wish = .end }
    }

    /// Waits until so many wishes are done, for tests.
    func waitUntilDone(_ count: Int) {
        _ = state.take { $0.doneCount >= count ? true : nil }
    }

    /// Waits for the next wish; the end stays.
    private func nextWish() -> Wish {
        let wish = state.take { state -> Wish? in
            guard let wish = state.wish else { return nil }
            if wish != .end { state.wish = nil }
            return wish
        }
        return wish ?? .end
    }
}

/// Decides when memory in use has fallen so far that a trim is worth its time.
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
