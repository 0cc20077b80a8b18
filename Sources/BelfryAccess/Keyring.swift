/// All keys of a broker.
public struct Keyring: Sendable {
    /// The callers of keys, by the first word of the hash.
    private var callers: [UInt64: [(digest: TokenDigest, caller: Caller)]] = [:]
    /// The keys of tokens; a set has few.
    private var tokenKeys: [VerificationKey] = []
    /// The ids and principals of keys, which no token may have.
    private var keyNames: Set<[UInt8]> = []
    /// How many keys there are that callers show.
    public private(set) var keyCount = 0

    /// The longest token that is looked at, in bytes.
    public static let tokenByteLimit = 8 << 10

    /// No keys.
    public init() {}

    /// Reads the files of `--keys` and of `--jwks`.
    ///
    /// - Throws: `malformedFile` and `invalidFile`.
    public init(
        keys: [UInt8]?, keySet: [UInt8]?, rules: TokenRules = TokenRules()
    ) throws(AccessError) {
        var marks: [(mark: VerificationKey.Mark, fault: AccessError)] = []
        if let keys {
            let file = try KeyFile(keys)
            for row in file.keys { callers[row.digest.bucket, default: []].append(row) }
            keyCount = file.keys.count
            keyNames = file.names
            marks = file.marks
        }
        if let keySet { marks += try KeySetFile(keySet).marks }
        var ids: Set<[UInt8]> = []
        for (mark, fault) in marks {
            var mark = mark
            mark.rules = rules
            guard mark.id.isEmpty || ids.insert(mark.id).inserted else {
                throw fault.saying("repeats a kid")
            }
            guard let key = VerificationKey(mark) else { throw fault }
            tokenKeys.append(key)
        }
    }

    /// Whether there is no key.
    public var isEmpty: Bool { keyCount == 0 && tokenKeys.isEmpty }
    /// How many keys there are that tokens are signed with.
    public var tokenKeyCount: Int { tokenKeys.count }

    /// The caller whose key has this hash.
    public func caller(_ digest: TokenDigest) -> Caller? {
        callers[digest.bucket]?.first { $0.digest == digest }?.caller
    }

    /// The grants of the keys with this name that are valid at a time, in milliseconds since 1970.
    ///
    /// - Complexity: linear in the keys; it is for what happens rarely.
    public func grants(ofKeysNamed principal: [UInt8], at time: Int64) -> [Grants] {
        callers.values.joined().map(\.caller)
            .filter { $0.principal == principal && $0.fault(at: time) == nil }.map(\.grants)
    }

    /// Reads a token as far as that costs little, and finds its key.
    ///
    /// - Throws: `refusedToken`.
    public func token(_ text: [UInt8]) throws(AccessError) -> SignedToken {
        guard text.count <= Self.tokenByteLimit else { throw .refusedToken(.tooLong) }
        let token = try CompactToken(text)
        let key: VerificationKey?
        if let id = token.keyID {
            key = tokenKeys.first { $0.mark.id == id && !id.isEmpty }
        } else {
            // A token may leave its key unnamed where there is no choice.
            let possible = tokenKeys.filter { $0.mark.algorithm == token.algorithm }
            key = possible.count == 1 ? possible.first : nil
        }
        guard let key else { throw .refusedToken(.unknownKey) }
        // The key says which algorithm is used, never the token (RFC 8725 §3.1).
        guard key.mark.algorithm == token.algorithm else { throw .refusedToken(.algorithm) }
        return SignedToken(key: key, token)
    }

    /// The part of a caller's credentials that is not secret.
    ///
    /// Brokers with the same keys identify the caller by it. It is the hash of a key, or a token
    /// without its signature.
    /// That is the hash of a key, or a token without its signature.
    ///
    /// - Parameter token: the credentials that the caller presented, which were valid.
    public static func shown(_ token: [UInt8], by caller: Caller) -> [UInt8] {
        if case .key(let digest) = caller.origin { return Array(digest.text.utf8) }
        let end = token.lastIndex(of: UInt8(ascii: ".")) ?? token.startIndex
        return Array(token[..<end])
    }

    /// The caller that another broker authenticated, by the public part of its credentials.
    ///
    /// - Throws: `refusedToken`, where these keys say otherwise.
    public func caller(byShown shown: [UInt8]) throws(AccessError) -> Caller {
        guard let digest = TokenDigest(text: shown) else {
            return try token(shown + [UInt8(ascii: ".")]).holder()
        }
        guard let caller = caller(digest) else { throw .refusedToken(.unknownKey) }
        return caller
    }

    /// Whether a caller's key is still there with the same permissions.
    ///
    /// A token's subject must not be the name of a key: it would pass for the holder of that key.
    public func stillHas(_ caller: Caller) -> Bool {
        switch caller.origin {
        case .anonymous: true
        case .key(let digest):
            self.caller(digest).map {
                $0.principal == caller.principal && $0.grants == caller.grants
                    && $0.expiresAt == caller.expiresAt
            } ?? false
        case .token(let mark):
            !keyNames.contains(caller.principal) && tokenKeys.contains { $0.mark == mark }
        }
    }
}

extension AccessError {
    /// The same place of a file with another reason.
    func saying(_ reason: String) -> AccessError {
        guard case .invalidFile(let pointer, let line, _) = self else { return self }
        return .invalidFile(pointer, line: line, reason: reason)
    }
}
