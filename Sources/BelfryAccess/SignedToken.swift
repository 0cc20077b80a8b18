import BelfryJSON
import BelfryTLS

/// A signed token whose key was found, and whose signature is not verified yet.
///
/// Verifying takes as long as some posts do, so it is done off the loop.
public struct SignedToken: Sendable {
    private let key: VerificationKey
    private let signed: [UInt8]
    private let payload: [UInt8]
    private let signature: [UInt8]

    init(key: VerificationKey, _ compact: CompactToken) {
        self.key = key
        signed = compact.signed
        payload = compact.payload
        signature = compact.signature
    }

    /// The holder of the token, if its signature and its claims are valid.
    ///
    /// The user of the caller checks whether the token is valid at the time.
    public func verify() throws(AccessError) -> Caller {
        guard key.isValid(signature: signature, of: signed) else {
            throw .refusedToken(.signature)
        }
        return try holder()
    }

    /// A sentence on the claim that is wrong or missing, if there is one.
    ///
    /// The sentence is for the owner of the token, and not for a caller.
    public var claimFault: String? {
        do throws(AccessError) {
            return try TokenClaims(payload).sentence(under: key.mark.rules)
        } catch {
            guard case .invalidFile(let pointer, _, let reason) = error, pointer != .root else {
                return "its claims are not a JSON object"
            }
            return "`\(pointer.description.dropFirst(2))` \(reason)"
        }
    }

    /// The holder, if the claims are as they must be; another broker has looked at the signature.
    func holder() throws(AccessError) -> Caller {
        let claims: TokenClaims
        do throws(AccessError) {
            claims = try TokenClaims(payload)
        } catch {
            throw .refusedToken(.claims)
        }
        if let fault = claims.fault(under: key.mark.rules) { throw .refusedToken(fault) }
        let leeway = key.mark.rules.leeway / .milliseconds(1)
        return Caller(
            // A token without a subject speaks for its key.
            principal: claims.subject ?? Caller.tokenPrefix + key.mark.id, grants: claims.grants,
            origin: .token(key.mark),
            validFrom: claims.validFrom == .min ? .min : claims.validFrom - Int64(leeway),
            expiresAt: claims.expiresAt ?? .min)
    }
}

/// The three parts of a token in compact form (RFC 7515 §7.1), and what its header says.
package struct CompactToken {
    /// The signed bytes: the header, a dot, and the payload, as they came.
    package let signed: [UInt8]
    /// The claims, decoded and not yet read.
    package let payload: [UInt8]
    let signature: [UInt8]
    let algorithm: SignatureAlgorithm
    let keyID: [UInt8]?

    /// Splits a token into its parts.
    ///
    /// - Throws: `refusedToken`.
    package init(_ text: [UInt8]) throws(AccessError) {
        let parts = text.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count == 3, let header = Base64URL.decode(parts[0]),
            let payload = Base64URL.decode(parts[1]), let signature = Base64URL.decode(parts[2])
        else { throw .refusedToken(.malformed) }
        var algorithm: [UInt8]?
        var keyID: [UInt8]?
        var fault: TokenFault?
        do throws(AccessError) {
            var reader = AccessFileReader(header)
            try reader.object(.root) { key, place, reader throws(AccessError) in
                switch key {
                case "alg": algorithm = try reader.bytes(place)
                case "kid": keyID = try reader.bytes(place)
                case "typ":
                    if !Self.isKnown(type: try reader.bytes(place)) { fault = .type }
                case "crit":
                    try reader.skip(place)
                    fault = .critical
                default:
                    // Also jku, jwk, x5u and x5c: a token brings no key of its own.
                    try reader.skip(place)
                }
            }
            try reader.finish()
        } catch {
            throw .refusedToken(.malformed)
        }
        if let fault { throw .refusedToken(fault) }
        guard let known = SignatureAlgorithm(algorithm ?? []) else {
            throw .refusedToken(.algorithm)
        }
        self.algorithm = known
        self.keyID = keyID
        self.payload = payload
        self.signature = signature
        signed = Array(text[..<parts[1].endIndex])
    }

    /// `JWT`, `at+jwt` (RFC 9068), with or without `application/`, in any case.
    private static func isKnown(type: [UInt8]) -> Bool {
        let type = String(decoding: lowercase(type), as: UTF8.self)
        return ["jwt", "at+jwt", "application/jwt", "application/at+jwt"].contains(type)
    }
}
