/// One of the two streams of a log.
enum NATSStream: UInt64, CaseIterable {
    case log, snapshots
}
