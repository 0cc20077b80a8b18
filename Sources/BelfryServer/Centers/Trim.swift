import BelfryCenter

/// A kind that is over its limit, for one owner or for the whole broker.
struct Trim: Hashable {
    let kind: KeptKind
    let owner: Owner
}
