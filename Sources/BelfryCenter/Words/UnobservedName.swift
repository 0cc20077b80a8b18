/// A name that was posted and that no observer ever matched.
public struct UnobservedName: Sendable, Equatable {
    /// The notification name.
    public let name: [UInt8]
    /// How often it was posted.
    public let postCount: UInt64
}
