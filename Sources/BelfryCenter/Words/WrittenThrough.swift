/// How far a connection was written what its center had brought about, where several brokers share a log.
///
/// Each broker writes what it applies, so a connection that has ended was written nothing of the entries that its broker
/// had not applied by then: posts among them were `delivered` by their receipts.
public final class WrittenThrough: Sendable {
    /// The last sequence number of the center of which all was written; nil where nobody knows any more.
    let sequence: UInt64?
    /// Whether nothing was written behind it, by the word of its broker; else nobody knows.
    let isCertain: Bool
    /// What was to be written behind it, too, and has no greater number.
    let late: [LateDelivery]

    init(sequence: UInt64?, isCertain: Bool, late: [LateDelivery]) {
        self.sequence = sequence
        self.isCertain = isCertain
        self.late = late
    }
}

/// Something that an observer was to be written, where the number of its center does not tell whether it was.
struct LateDelivery: Sendable {
    /// The serial number of the observer.
    let observer: UInt64
    let content: Content

    enum Content: Sendable {
        /// The first, and lowest, of what was held for it until then.
        case notification(UInt64)
        /// An action that is not answered: no replay ring has it.
        case action(UInt64)
        /// A loss.
        case gap(GapRecord)
    }
}
