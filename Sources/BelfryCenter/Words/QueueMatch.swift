/// Which queue entries a dequeue removes: all that are equal in what the mask names (rule Q20).
public struct QueueMatch: Sendable {
    /// The name to compare, if the mask names it.
    public let name: [UInt8]?
    /// The object to compare, if the mask names the sender; none equals none.
    public let object: [UInt8]?
    /// What is compared.
    public let mask: Coalescing
    /// What the caller may post; other entries stay.
    public let scope: PostScope

    /// Joins the parts.
    public init(name: [UInt8]?, object: [UInt8]?, mask: Coalescing, scope: PostScope) {
        self.name = name
        self.object = object
        self.mask = mask
        self.scope = scope
    }
}
