/// Why a life has ended.
public enum FenceReason: Sendable, Equatable {
    /// The broker has heard neither the engine nor another broker.
    case heardNothing
    /// Another broker has ended the life.
    case declaredDown
    /// The log has stood still for too long.
    case noQuorum
    /// Entries behind those that were applied are given up, or the log has forgotten what an entry says of the past.
    case tooSlow
}
