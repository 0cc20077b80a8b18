import BelfryJSON
import BelfryTLS

/// The file of `--keys`: keys that callers show, and keys that tokens are signed with.
///
/// ```
/// {"keys": [{"id": "till", "hash": "sha256:…", "grants": [{"verbs": ["post"]}]}],
///  "jwt": [{"kid": "2026", "alg": "ES256", "pem": "-----BEGIN PUBLIC KEY-----…"}]}
/// ```
package struct KeyFile {
    /// The callers, each with the hash of its key.
    var keys: [(digest: TokenDigest, caller: Caller)] = []
    /// The ids and the principals of these.
    var names: Set<[UInt8]> = []
    /// The keys of tokens, with the place of each in the file.
    var marks: [(mark: VerificationKey.Mark, fault: AccessError)] = []

    /// How many keys of one kind a file may have.
    static let countLimit = 100_000

    /// Reads a file; that its keys are keys is seen when they are made.
    package init(_ json: [UInt8]) throws(AccessError) {
        var ids: Set<[UInt8]> = []
        var keys: [(digest: TokenDigest, caller: Caller)] = []
        var marks: [(mark: VerificationKey.Mark, fault: AccessError)] = []
        var digests: Set<TokenDigest> = []
        var reader = AccessFileReader(json)
        try reader.object(.root) { key, place, reader throws(AccessError) in
            switch key {
            case "keys":
                try reader.array(place, limit: Self.countLimit) {
                    place, reader throws(AccessError) in
                    let row = try Self.key(place, &reader)
                    guard ids.insert(row.id).inserted, digests.insert(row.digest).inserted else {
                        throw reader.fault(place, "repeats an id or a hash")
                    }
                    keys.append((row.digest, row.caller))
                }
            case "jwt":
                try reader.array(place, limit: Self.countLimit) {
                    place, reader throws(AccessError) in
                    marks.append(try Self.mark(place, &reader))
                }
            default: throw reader.fault(place, "is not a member of a key file")
            }
        }
        try reader.finish()
        self.keys = keys
        names = ids.union(keys.map(\.caller.principal))
        self.marks = marks
    }

    private static func key(
        _ place: JSONPointer, _ reader: inout AccessFileReader
    ) throws(AccessError) -> (id: [UInt8], digest: TokenDigest, caller: Caller) {
        var id: [UInt8]?
        var principal: [UInt8]?
        var digest: TokenDigest?
        var grants: Grants?
        var expiresAt = Int64.max
        try reader.object(place) { key, place, reader throws(AccessError) in
            switch key {
            case "id": id = try name(place, &reader)
            case "principal": principal = try name(place, &reader)
            case "hash":
                digest = TokenDigest(text: try reader.bytes(place))
                guard digest != nil else {
                    throw reader.fault(place, "must be sha256: and 64 digits 0-9 or a-f")
                }
            case "grants": grants = try Grants.read(place, &reader)
            case "expires":
                guard let time = UTCTime.milliseconds(try reader.bytes(place)) else {
                    throw reader.fault(place, "must be a time such as 2027-01-31T12:00:00Z")
                }
                expiresAt = time
            default: throw reader.fault(place, "is not a member of a key")
            }
        }
        guard let id, let digest, let grants else {
            throw reader.fault(place, "must have id, hash and grants")
        }
        let caller = Caller(
            principal: principal ?? id, grants: grants, origin: .key(digest), expiresAt: expiresAt)
        return (id, digest, caller)
    }

    private static func name(
        _ place: JSONPointer, _ reader: inout AccessFileReader
    ) throws(AccessError) -> [UInt8] {
        let name = try reader.bytes(place)
        guard Caller.isPrincipal(name) else {
            throw reader.fault(place, Caller.principalRule)
        }
        return name
    }

    private static func mark(
        _ place: JSONPointer, _ reader: inout AccessFileReader
    ) throws(AccessError) -> (VerificationKey.Mark, AccessError) {
        var id: [UInt8]?
        var algorithm: SignatureAlgorithm?
        var material: SignatureKey.Material?
        try reader.object(place) { key, place, reader throws(AccessError) in
            switch key {
            case "kid":
                id = try reader.bytes(place)
                guard let id, Caller.isName(id) else {
                    throw reader.fault(place, "must be 1 to 255 characters without controls")
                }
            case "alg":
                algorithm = SignatureAlgorithm(try reader.bytes(place))
                guard algorithm != nil else {
                    let names = SignatureAlgorithm.allCases.map(\.rawValue)
                    throw reader.fault(place, "must be one of \(names.joined(separator: ", "))")
                }
            case "secret", "pem":
                guard material == nil else {
                    throw reader.fault(place, "cannot be combined with another key")
                }
                if key == "pem" {
                    material = .pem(try reader.bytes(place))
                } else {
                    guard let secret = Base64URL.decode(try reader.bytes(place)) else {
                        throw reader.fault(place, "must be base64url without padding")
                    }
                    material = .secret(secret)
                }
            default: throw reader.fault(place, "is not a member of a key of tokens")
            }
        }
        guard let id, let algorithm, let material else {
            throw reader.fault(place, "must have kid, alg, and secret or pem")
        }
        return (
            VerificationKey.Mark(id: id, algorithm: algorithm, material: material),
            reader.fault(place, "is not a key for \(algorithm.rawValue), or is too weak")
        )
    }
}
