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

    /// The names and prefixes of a finer filter; conditions are not kept, as no reader gets them.
    public var terms: FilterTerms? { role.filter }

    /// The names and objects that the observer could match.
    public var reach: FilterReach { FilterReach(name: name, object: object, terms: terms) }

    /// Joins the parts; of the terms without their conditions.
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
        let kept = terms?.withoutCondition
        role = kept.flatMap { $0.isFiner ? .filtered($0, target: nil) : nil } ?? .plain
    }
}
