public import BelfryAccess
internal import BelfryJSON
public import BelfryWire

extension CallerRow {
    /// Makes the row of a caller.
    ///
    /// - Parameter center: the center whose grants are shown; nil shows all.
    public init(_ caller: Caller, in center: [UInt8]? = nil) {
        let grants = caller.grants.grants.filter { grant in
            center.map { name in grant.centers.contains { $0.covers(name.span) } } ?? true
        }
        self.init(
            principal: caller.isAnonymous ? nil : caller.principal,
            grants: grants.map(Grant.init),
            expiresAt: caller.expiresAt == .max ? nil : caller.expiresAt)
    }
}

extension CallerRow.Grant {
    fileprivate init(_ grant: BelfryAccess.Grant) {
        self.init(
            verbs: Verbs.names.filter { grant.verbs.contains($0.verb) }.map { Array($0.name.utf8) },
            names: grant.names.map(\.text), objects: grant.objects.map(\.text),
            centers: grant.centers.map(\.text), condition: grant.condition?.text)
    }
}
