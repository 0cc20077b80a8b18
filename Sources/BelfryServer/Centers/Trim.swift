import BelfryCenter

/// A kind of which too much is kept, by one owner, or by all together.
struct Trim: Hashable {
    let kind: KeptKind
    let owner: Owner
}
