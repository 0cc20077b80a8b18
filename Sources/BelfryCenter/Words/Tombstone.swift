/// The trace of a removed observer (law 4).
public struct Tombstone: Sendable, Equatable {
    /// The hash of the secret half of its token.
    public let tokenHash: SecretHash
    /// When it was removed, in milliseconds since 1970.
    public let removedAt: Int64
    /// The remover.
    public let removedBy: Remover
    /// The reason of the removal.
    public let reason: RemovalReason
    /// The name of its filter; access control needs the filter to decide about a reader.
    public let name: [UInt8]?
    /// The object of its filter.
    public let object: [UInt8]?

    /// Joins the parts.
    public init(
        tokenHash: SecretHash, removedAt: Int64, removedBy: Remover, reason: RemovalReason,
        name: [UInt8]?, object: [UInt8]?
    ) {
        self.tokenHash = tokenHash
        self.removedAt = removedAt
        self.removedBy = removedBy
        self.reason = reason
        self.name = name
        self.object = object
    }
}
