import BelfryJSON

/// The claims of a token about its holder (RFC 7519 §4.1), and `belfry` with its grants.
package struct TokenClaims {
    private(set) var subject: [UInt8]?
    private(set) var expiresAt: Int64?
    private(set) var validFrom = Int64.min
    private(set) var grants = Grants.none
    private var issuer: [UInt8]?
    private var audiences: [[UInt8]] = []

    /// Reads the payload of a token.
    package init(_ json: [UInt8]) throws(AccessError) {
        var claims = (subject: [UInt8]?.none, issuer: [UInt8]?.none, audiences: [[UInt8]]())
        var times = (end: Int64?.none, start: Int64.min)
        var grants = Grants.none
        var reader = AccessFileReader(json)
        try reader.object(.root) { key, place, reader throws(AccessError) in
            switch key {
            case "sub": claims.subject = try reader.bytes(place)
            case "iss": claims.issuer = try reader.bytes(place)
            case "aud": claims.audiences = try Self.audiences(place, &reader)
            case "exp": times.end = try reader.milliseconds(place)
            case "nbf": times.start = try reader.milliseconds(place)
            case "belfry":
                try reader.object(place) { key, place, reader throws(AccessError) in
                    guard key == "grants" else { throw reader.fault(place, "is not known") }
                    grants = try Grants.read(place, &reader, isToken: true)
                }
            default: try reader.skip(place)
            }
        }
        try reader.finish()
        (subject, issuer, audiences) = claims
        (expiresAt, validFrom) = times
        self.grants = grants
    }

    /// One audience, or several.
    private static func audiences(
        _ place: JSONPointer, _ reader: inout AccessFileReader
    ) throws(AccessError) -> [[UInt8]] {
        if try reader.kind(place) == .string { return [try reader.bytes(place)] }
        var audiences: [[UInt8]] = []
        try reader.array(place, limit: 100) { place, reader throws(AccessError) in
            audiences.append(try reader.bytes(place))
        }
        return audiences
    }

    /// The claim that breaks the rules, and why, for the issuer of the token.
    func sentence(under rules: TokenRules) -> String? {
        if expiresAt == nil { return "`exp` is missing: a token must have an end" }
        if let subject, !Caller.isPrincipal(subject) { return "`sub` \(Caller.principalRule)" }
        switch fault(under: rules) {
        case .issuer:
            return issuer == nil
                ? "`iss` is missing, and --jwt-issuer asks for one"
                : "`iss` is none of --jwt-issuer"
        case .audience where audiences.isEmpty:
            return "`aud` is missing, and --jwt-audience asks for one"
        case .audience where rules.audiences.isEmpty:
            return "`aud` names an audience, and --jwt-audience is not given"
        case .audience: return "`aud` has none of --jwt-audience"
        default: return nil
        }
    }

    /// Why the claims are not what the rules ask for; the time is looked at with each use.
    package func fault(under rules: TokenRules) -> TokenFault? {
        // A token without an end could be taken back only together with its key.
        guard expiresAt != nil else { return .claims }
        if let subject, !Caller.isPrincipal(subject) { return .claims }
        if !rules.issuers.isEmpty {
            let isKnown = rules.issuers.contains { issuer?.elementsEqual($0.utf8) == true }
            guard isKnown else { return .issuer }
        }
        let isOurs = audiences.contains { audience in
            rules.audiences.contains { $0.utf8.elementsEqual(audience) }
        }
        let namesNobody = rules.audiences.isEmpty && audiences.isEmpty
        return isOurs || namesNobody ? nil : .audience
    }
}
