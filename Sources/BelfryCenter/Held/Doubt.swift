/// A loss that an ended connection may have caused: its client is told when it comes back.
struct Doubt: Blockless, Sendable {
    /// The serial number of the observer.
    let observer: UInt64
    let gap: GapRecord
    let kind: Kind

    enum Kind: UInt8 {
        /// The notification may have been written: the number that the client names decides.
        case written
        /// The loss may have been reported: a second report does no harm.
        case told
        /// The notification is certainly lost, and no replay ring has it.
        case lost
    }
}

extension Doubt: Coded {
    init(_ known: Doubt?, by coder: inout some Coder) throws(CodeError) {
        observer = try coder(known?.observer)
        gap = try coder(known?.gap)
        kind = try coder(known?.kind)
    }
}

extension Doubt.Kind: Coded {}
