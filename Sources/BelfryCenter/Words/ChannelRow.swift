/// A channel as a listing shows it.
public struct ChannelRow: Sendable, Equatable {
    /// The notification name.
    public let name: [UInt8]
    /// Observers that match this name, whatever their objects and conditions (rule L12).
    public var observerCount: Int
    /// Those of them that have this name in their filter, alone or in a set, or as a selector.
    public let namedCount: Int
    /// Posts of this name since the center remembers it.
    public let postCount: UInt64
    /// How often these were delivered at once; later deliveries of held ones do not count.
    public let deliveryCount: UInt64
    /// Posts that no observer matched.
    public let unmatchedCount: UInt64
    /// The time of the last post, in milliseconds since 1970.
    public let lastPostedAt: Int64?
}
