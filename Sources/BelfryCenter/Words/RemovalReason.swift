/// Why an observer was removed.
public enum RemovalReason: UInt8, Sendable, CaseIterable {
    /// Somebody asked for it.
    case removed
    /// Its connection ended, and it was registered for no longer than that.
    case connectionClosed
    /// Its client was removed.
    case clientRemoved
    /// Its lease ended (rule O7).
    case expired
    /// Another responder took its address over (rule R1).
    case replaced
}
