/// The reason why an observer was removed.
public enum RemovalReason: UInt8, Sendable, CaseIterable {
    /// A caller asked for the removal.
    case removed
    /// The connection of its client ended, and it was registered only until then.
    case connectionClosed
    /// Its client was removed.
    case clientRemoved
    /// Its lease ended (rule O7).
    case expired
    /// Another responder took its address over (rule R1).
    case replaced
}
