internal import CBelfrySystem

/// What a watcher waits for, or what was found ready.
public struct Readiness: OptionSet, Hashable, Sendable {
    /// The bits of the set.
    public let rawValue: UInt32

    /// Creates a set from its bits.
    public init(rawValue: UInt32) {
        self.rawValue = rawValue
    }

    /// There is something to read, to accept, or the end of the input.
    public static let readable = Readiness(rawValue: 1)
    /// There is room to write, or a connection attempt is over.
    public static let writable = Readiness(rawValue: 2)
    /// The descriptor failed or both directions are shut; reported without being asked for.
    public static let failed = Readiness(rawValue: 4)
}

/// One descriptor that was found ready.
public struct ReadyEntry: Equatable, Sendable {
    /// The token that the descriptor is watched with.
    public var token: UInt64
    /// What it is ready for.
    public var readiness: Readiness

    /// Creates an entry.
    public init(token: UInt64, readiness: Readiness) {
        self.token = token
        self.readiness = readiness
    }
}

/// The kernel's list of watched descriptors, level-triggered (epoll(7)).
public struct Epoll: ~Copyable {
    /// The most entries that one wait hands out.
    private static let readyLimit = 512

    private let descriptor: Descriptor

    /// Creates an empty list.
    ///
    /// - Throws: `SystemCallError` when the process may have no more descriptors.
    public init() throws(SystemCallError) {
        descriptor = Descriptor(owning: try checked(belfry_epoll_create(), "epoll_create1"))
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

    /// Stops watching a descriptor that stays open.
    public func unwatch(_ number: Int32) throws(SystemCallError) {
        _ = try checked(belfry_epoll_remove(descriptor.rawValue, number), "epoll_ctl")
    }

    /// Replaces `ready` by what is ready now, or by what becomes so within the timeout.
    ///
    /// A wait that a signal ends finds nothing. No timeout means to wait for as long as it takes.
    public func wait(
        timeoutNanoseconds: Int64?, into ready: inout [ReadyEntry]
    ) throws(SystemCallError) {
        ready.removeAll(keepingCapacity: true)
        let limit = Self.readyLimit
        let nanoseconds = timeoutNanoseconds.map { max($0, 0) } ?? -1
        // SAFETY: epoll_wait writes at most `limit` entries, and the buffer has room for as many;
        // only those it counted are read.
        let outcome = unsafe withUnsafeTemporaryAllocation(
            of: belfry_ready.self, capacity: limit
        ) { found in
            guard let base = found.baseAddress else { return Int32(0) }
            let count = unsafe belfry_epoll_wait(
                descriptor.rawValue, base, Int32(limit), nanoseconds)
            for index in 0..<max(Int(count), 0) {
                let entry = unsafe found[index]
                ready.append(
                    ReadyEntry(token: entry.token, readiness: Readiness(rawValue: entry.events)))
            }
            return count
        }
        _ = try checked(outcome, "epoll_wait")
    }
}
