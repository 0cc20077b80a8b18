/// Names one connection of one loop for as long as the process lives.
///
/// The slot of a closed connection is used again with the next generation, so an id that is out of
/// date names nothing: every call with it does nothing.
public struct ConnectionID: Hashable, Sendable {
    /// The slot of the connection.
    public let index: UInt32
    /// How often the slot had been used before.
    public let generation: UInt32

    /// Creates an id from its parts.
    public init(index: UInt32, generation: UInt32) {
        self.index = index
        self.generation = generation
    }

    var token: UInt64 {
        UInt64(generation) << 32 | UInt64(index)
    }
}

/// Names a timer, for cancelling it.
public struct TimerID: Hashable, Sendable {
    let serial: UInt64
}

/// Whether bytes belong to a notification on its way to an observer, or answer a request.
///
/// In a turn, connections with deliveries alone are written before those with answers, so that
/// observers have a notification before its poster has the receipt. Connections with urgent output
/// and no answer go before all of them.
public enum OutputKind: Sendable {
    /// A delivery; it leaves in the first pass.
    case delivery
    /// Output that does not wait for other connections.
    ///
    /// Its time is measured, as of a pong, or it is not about them.
    case urgent
    /// An answer; it moves all that the connection sends in the turn to the second pass.
    case answer
}
