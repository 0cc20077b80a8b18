/// The counts of an observer's notifications.
public struct ObserverTally: Sendable, Equatable {
    /// Notifications that were sent to it; no promise of arrival.
    public var delivered: UInt64 = 0
    /// ``lastDeliveredAt``, with the lowest number for nil: an optional is 8 bytes longer.
    var lastTime = Int64.min
    /// Notifications that replaced an older one.
    public var coalesced: UInt64 = 0
    /// Notifications that were lost for it.
    public var dropped: UInt64 = 0

    /// The time of the last delivery, in milliseconds since 1970.
    public var lastDeliveredAt: Int64? { lastTime == .min ? nil : lastTime }

    /// Counts a delivery.
    @inline(__always)
    mutating func recordDelivery(at time: Int64) {
        delivered &+= 1
        lastTime = time
    }
}
