/// The progress of writing to a connection, where several brokers share a log.
///
/// Each broker writes what it applies, so the connection got nothing of the entries that its broker
/// had not applied before the connection ended, although posts among them were `delivered` by their
/// receipts.
public final class WrittenThrough: Sendable {
    /// The last sequence number of the center up to which all was written; nil if that is unknown.
    let sequence: UInt64?
    /// Whether its broker reported that nothing above it was written; else that is unknown.
    let isCertain: Bool
    /// Deliveries that were due behind it, too, and have no greater number.
    let late: [LateDelivery]

    init(sequence: UInt64?, isCertain: Bool, late: [LateDelivery]) {
        self.sequence = sequence
        self.isCertain = isCertain
        self.late = late
    }
}

/// A delivery to an observer that the sequence number does not cover.
struct LateDelivery: Sendable {
    /// The serial number of the observer.
    let observer: UInt64
    let content: Content

    enum Content: Sendable {
        /// The first, and lowest, of the notifications that were held for it until then.
        case notification(UInt64)
        /// An action that is not answered: the replay ring does not have it.
        case action(UInt64)
        /// A loss.
        case gap(GapRecord)
    }
}
