internal import CBelfrySystem

/// How many descriptors this process may have open (`RLIMIT_NOFILE`).
public struct DescriptorLimit: Equatable, Sendable {
    /// The count that holds now.
    public let soft: Int
    /// The count that the process may raise it to.
    public let hard: Int

    /// Reads the limit.
    public static func current() throws(SystemCallError) -> DescriptorLimit {
        try DescriptorLimit(belfry_descriptor_limit(), call: "getrlimit")
    }

    /// Raises the soft limit to the hard one and tells both.
    public static func raise() throws(SystemCallError) -> DescriptorLimit {
        try DescriptorLimit(belfry_raise_descriptor_limit(), call: "setrlimit")
    }

    private init(_ limit: belfry_limit, call: String) throws(SystemCallError) {
        _ = try checked(limit.status, call)
        soft = Int(clamping: limit.soft)
        hard = Int(clamping: limit.hard)
    }
}
