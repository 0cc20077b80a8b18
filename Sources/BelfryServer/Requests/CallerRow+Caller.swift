public import BelfryAccess
public import BelfryWire

extension CallerRow {
    /// Who asks.
    public init(_ caller: Caller) {
        self.init(
            principal: caller.isAnonymous ? nil : caller.principal,
            grants: caller.grants.grants.map(Grant.init),
            expiresAt: caller.expiresAt == .max ? nil : caller.expiresAt)
    }
}

extension CallerRow.Grant {
    fileprivate init(_ grant: BelfryAccess.Grant) {
        self.init(
            verbs: Verbs.names.filter { grant.verbs.contains($0.verb) }.map { Array($0.name.utf8) },
            names: grant.names.map(\.text), objects: grant.objects.map(\.text),
            centers: grant.centers.map(\.text))
    }
}
