/// Why a life has ended.
public enum FenceReason: String, Sendable, Equatable, CaseIterable {
    /// The broker has heard neither the engine nor another broker.
    case heardNothing = "heard-nothing"
    /// Another broker has ended the life.
    case declaredDown = "declared-down"
    /// The log has stood still for too long.
    case noQuorum = "no-quorum"
    /// The log has given up entries that were not applied yet, or forgotten the past of an entry.
    case tooSlow = "too-slow"
}
