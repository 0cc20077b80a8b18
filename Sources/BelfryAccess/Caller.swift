/// The principal of a request, with its credentials and its grants.
///
/// A reference, because every request on its way to a center carries it.
public final class Caller: Sendable {
    /// The name under which they are listed.
    public let principal: [UInt8]
    /// The permissions of the caller.
    public let grants: Grants
    /// From when their credentials are good, in milliseconds since 1970.
    public let validFrom: Int64
    /// When their credentials expire, in milliseconds since 1970; `Int64.max` is never.
    public let expiresAt: Int64
    /// The kind of credentials that the caller presented.
    let origin: Origin
    /// Whether credentials could give them more: then a lack of rights is 401, and not 403.
    public let mayAuthenticate: Bool
    /// Whether local callers may do more without credentials, and this one is not local.
    public let isStranger: Bool

    /// The kinds of credentials by which a caller is identified.
    enum Origin: Sendable, Equatable {
        /// Nothing.
        case anonymous
        /// A key, by the hash of its secret.
        case key(TokenDigest)
        /// A token that is signed with a key.
        case token(VerificationKey.Mark)
    }

    init(
        principal: [UInt8], grants: Grants, origin: Origin, validFrom: Int64 = .min,
        expiresAt: Int64 = .max
    ) {
        self.principal = principal
        self.grants = grants
        self.origin = origin
        self.validFrom = validFrom
        self.expiresAt = expiresAt
        mayAuthenticate = false
        isStranger = false
    }

    /// A caller without credentials.
    ///
    /// - Parameters:
    ///   - mayAuthenticate: whether there are keys that would let them do more.
    ///   - isStranger: whether local ones may do more, and this one is not local.
    public init(
        anonymous grants: Grants, mayAuthenticate: Bool = false, isStranger: Bool = false
    ) {
        principal = Self.anonymousPrincipal
        self.grants = grants
        origin = .anonymous
        validFrom = .min
        expiresAt = .max
        self.mayAuthenticate = mayAuthenticate
        self.isStranger = isStranger
    }

    /// A caller without credentials.
    public static func anonymous(_ grants: Grants) -> Caller { Caller(anonymous: grants) }

    /// Whether they showed no credentials.
    public var isAnonymous: Bool { origin == .anonymous }

    /// Whether they showed a key of the broker's file.
    public var hasKey: Bool {
        if case .key = origin { true } else { false }
    }

    /// Why their credentials are not good at a time, in milliseconds since 1970.
    public func fault(at time: Int64) -> TokenFault? {
        if time >= expiresAt { return .expired }
        return time < validFrom ? .notYetValid : nil
    }

    static let anonymousPrincipal = Array("anonymous".utf8)
    /// Names that the broker gives itself.
    private static let reservedPrincipals = [anonymousPrincipal, Array("broker".utf8)]

    /// The prefix before the `kid` in the principal of a token without a subject.
    static let tokenPrefix = Array("jwt:".utf8)

    /// Whether the broker gives this name itself: to itself, to clients (such as c1) or to tokens.
    private static func isReserved(_ name: [UInt8]) -> Bool {
        let isClient =
            name.count > 1 && name[0] == UInt8(ascii: "c")
            && name.dropFirst().allSatisfy { (48...57).contains($0) }
        return isClient || name.starts(with: tokenPrefix) || reservedPrincipals.contains(name)
    }

    /// Whether a key or a token may speak for this name, which the broker must not give itself.
    public static func isPrincipal(_ name: [UInt8]) -> Bool {
        isName(name) && !isReserved(name)
    }

    /// The rule for such a name, worded to follow the name of a field.
    public static let principalRule =
        "must be 1 to 255 characters without controls, not anonymous, broker, c1 or jwt:1"

    /// Whether a text can be a name: 1 to 255 scalars, none of them a control.
    static func isName(_ name: [UInt8]) -> Bool {
        let scalars = String(decoding: name, as: UTF8.self).unicodeScalars
        return (1...255).contains(scalars.count)
            && scalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7F }
    }
}

extension Grants {
    /// The grants of local callers without credentials by default: all but `admin` and `forever`.
    public static let loopbackDefault = Grants([
        Grant(Verbs.all.subtracting([.admin, .forever]))
    ])
}
