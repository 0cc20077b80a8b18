/// A loss that an observer may have had with a connection that has ended: its client is told when it comes back.
struct Doubt: Blockless, Sendable {
    /// The serial number of the observer.
    let observer: UInt64
    let gap: GapRecord
    let kind: Kind

    enum Kind: UInt8 {
        /// It may have been written: a client that says what it has seen knows better.
        case written
        /// It is a loss that may have been told: nobody minds to hear of it twice.
        case told
        /// It is lost for certain, and no replay ring has it.
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
