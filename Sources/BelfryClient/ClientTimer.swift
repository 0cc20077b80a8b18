/// The meanings of the payload of a timer.
enum ClientTimer {
    static let reconnect: UInt64 = 1
    static let calls: UInt64 = 2
    static let lookup: UInt64 = 3
}
