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
    /// The terms of a finer filter, as a role: that has one word where there are none.
    private let role: ObserverRole

    /// The terms of a finer filter.
    public var terms: FilterTerms? { role.filter }

    /// The names and objects that the observer could match.
    public var reach: FilterReach { FilterReach(name: name, object: object, terms: terms) }

    /// Joins the parts.
    public init(
        tokenHash: SecretHash, removedAt: Int64, removedBy: Remover, reason: RemovalReason,
        name: [UInt8]?, object: [UInt8]?, terms: FilterTerms? = nil
    ) {
        self.tokenHash = tokenHash
        self.removedAt = removedAt
        self.removedBy = removedBy
        self.reason = reason
        self.name = name
        self.object = object
        role = terms.map { .filtered($0, target: nil) } ?? .plain
    }
}
