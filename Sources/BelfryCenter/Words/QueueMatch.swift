/// A match for queue entries to remove: all that are equal in what the mask names (rule Q20).
public struct QueueMatch: Sendable {
    /// The name to compare, if the mask names it.
    public let name: [UInt8]?
    /// The object to compare, if the mask names the sender; nil equals a missing object.
    public let object: [UInt8]?
    /// The parts that are compared.
    public let mask: Coalescing
    /// The scope of the caller; entries outside it stay.
    public let scope: PostScope

    /// Joins the parts.
    public init(name: [UInt8]?, object: [UInt8]?, mask: Coalescing, scope: PostScope) {
        self.name = name
        self.object = object
        self.mask = mask
        self.scope = scope
    }
}
