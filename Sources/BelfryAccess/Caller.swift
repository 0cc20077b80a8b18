/// Who asks, and what they may do.
///
/// It is one reference, because every request on its way to a center carries it.
public final class Caller: Sendable {
    /// The name under which they are listed.
    public let principal: [UInt8]
    /// What they may do.
    public let grants: Grants

    /// Joins both.
    public init(principal: String, grants: Grants) {
        self.principal = Array(principal.utf8)
        self.grants = grants
    }

    /// A caller without credentials.
    public static func anonymous(_ grants: Grants) -> Caller {
        Caller(principal: "anonymous", grants: grants)
    }
}

extension Grants {
    /// What anonymous callers may do on a loopback address: all but `admin` and `forever`.
    public static let loopbackDefault = Grants([
        Grant(Verbs.all.subtracting([.admin, .forever]))
    ])
}
