internal import CBelfrySystem

/// The events that a watcher waits for, or that were found ready.
public struct Readiness: OptionSet, Hashable, Sendable {
    /// The bits of the set.
    public let rawValue: UInt32

    /// Creates a set from its bits.
    public init(rawValue: UInt32) {
        self.rawValue = rawValue
    }

    /// Bytes to read, a connection to accept, or the end of the input.
    public static let readable = Readiness(rawValue: 1)
    /// Room to write, or the end of a connection attempt.
    public static let writable = Readiness(rawValue: 2)
    /// The descriptor failed or both directions are shut; reported without being asked for.
    public static let failed = Readiness(rawValue: 4)
    /// The end of the input, perhaps behind unread bytes.
    public static let ending = Readiness(rawValue: 8)
}

/// One descriptor that was found ready.
public struct ReadyEntry: Equatable, Sendable {
    /// The token that the descriptor is watched with.
    public var token: UInt64
    /// The events that are ready.
    public var readiness: Readiness

    /// Creates an entry.
    public init(token: UInt64, readiness: Readiness) {
        self.token = token
        self.readiness = readiness
    }
}

/// The kernel's list of watched descriptors, level-triggered (epoll(7)).
@safe public struct Epoll: ~Copyable {
    /// The most entries that one wait hands out.
    private static let readyLimit = 512

    private let descriptor: Descriptor
    // SAFETY: it has room for `readyLimit` entries from `init` to `deinit`, and never leaves this
    // type; each wait would take and give back as much otherwise.
    private let found: UnsafeMutablePointer<belfry_ready>

    /// Creates an empty list.
    ///
    /// - Throws: `SystemCallError` when the process may have no more descriptors.
    public init() throws(SystemCallError) {
        descriptor = Descriptor(owning: try checked(belfry_epoll_create(), "epoll_create1"))
        // SAFETY: as many entries are initialized as there is room for.
        unsafe found = .allocate(capacity: Self.readyLimit)
        // SAFETY: see above; the count is the same.
        unsafe found.initialize(repeating: belfry_ready(), count: Self.readyLimit)
    }

    deinit {
        // SAFETY: it was allocated in `init`, and nothing points into it.
        unsafe found.deallocate()
    }

    /// Starts to watch a descriptor; closing it ends that.
    public func watch(
        _ number: Int32, token: UInt64, for interest: Readiness
    ) throws(SystemCallError) {
        let outcome = belfry_epoll_add(descriptor.rawValue, number, token, interest.rawValue)
        _ = try checked(outcome, "epoll_ctl")
    }

    /// Changes what a watched descriptor is watched for.
    public func rewatch(
        _ number: Int32, token: UInt64, for interest: Readiness
    ) throws(SystemCallError) {
        let outcome = belfry_epoll_modify(descriptor.rawValue, number, token, interest.rawValue)
        _ = try checked(outcome, "epoll_ctl")
    }

    /// Replaces `ready` by what is ready now, or by what becomes so within the timeout.
    ///
    /// A wait that a signal ends finds nothing. No timeout means to wait for as long as it takes.
    public func wait(
        timeoutNanoseconds: Int64?, into ready: inout [ReadyEntry]
    ) throws(SystemCallError) {
        if !ready.isEmpty { ready.removeAll(keepingCapacity: true) }
        let nanoseconds = timeoutNanoseconds.map { max($0, 0) } ?? -1
        // SAFETY: epoll_wait writes at most as many entries as there is room for.
        let outcome = unsafe belfry_epoll_wait(
            descriptor.rawValue, found, Int32(Self.readyLimit), nanoseconds)
        for index in 0..<min(max(Int(outcome), 0), Self.readyLimit) {
            // SAFETY: the index is below `readyLimit`, and the entry was written by the wait.
            let entry = unsafe found[index]
            ready.append(
                ReadyEntry(token: entry.token, readiness: Readiness(rawValue: entry.events)))
        }
        _ = try checked(outcome, "epoll_wait")
    }
}
