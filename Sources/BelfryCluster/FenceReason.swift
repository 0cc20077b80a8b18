/// Why a life has ended.
public enum FenceReason: String, Sendable, Equatable, CaseIterable {
    /// The broker has heard neither the engine nor another broker.
    case heardNothing = "heard-nothing"
    /// Another broker has ended the life.
    case declaredDown = "declared-down"
    /// The log has stood still for too long.
    case noQuorum = "no-quorum"
    /// Entries behind those that were applied are given up, or the log has forgotten what an entry says of the past.
    case tooSlow = "too-slow"
}
