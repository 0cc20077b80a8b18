import BelfryJSON

/// The file of `--jwks`: a JSON Web Key Set (RFC 7517 §5).
///
/// Keys of other kinds and for other uses are passed by, as that section asks for: an issuer's set
/// may hold more than what is needed here.
package struct KeySetFile {
    /// The keys that can be used, with the fault of each if it is none after all.
    var marks: [(mark: VerificationKey.Mark, fault: AccessError)] = []

    /// Reads a set; that its keys are keys is seen when they are made.
    package init(_ json: [UInt8]) throws(AccessError) {
        var marks: [(mark: VerificationKey.Mark, fault: AccessError)] = []
        var hasKeys = false
        var reader = AccessFileReader(json)
        try reader.object(.root) { key, place, reader throws(AccessError) in
            guard key == "keys" else { return try reader.skip(place) }
            hasKeys = true
            try reader.array(place, limit: KeyFile.countLimit) {
                place, reader throws(AccessError) in
                let members = try Self.members(place, &reader)
                guard let mark = Self.mark(members) else { return }
                let fault = reader.fault(
                    place, "is no key for \(mark.algorithm.rawValue), or too weak")
                marks.append((mark, fault))
            }
        }
        try reader.finish()
        guard hasKeys else { throw reader.fault(.root, "has no keys") }
        self.marks = marks
    }

    /// The members of a key that are text.
    private static func members(
        _ place: JSONPointer, _ reader: inout AccessFileReader
    ) throws(AccessError) -> [String: [UInt8]] {
        var members: [String: [UInt8]] = [:]
        try reader.object(place) { key, place, reader throws(AccessError) in
            guard try reader.kind(place) == .string else { return try reader.skip(place) }
            members[key] = try reader.bytes(place)
        }
        return members
    }

    /// What a key is for; nil when it is for nothing here.
    private static func mark(_ members: [String: [UInt8]]) -> VerificationKey.Mark? {
        func text(_ key: String) -> String { String(decoding: members[key] ?? [], as: UTF8.self) }
        if let use = members["use"], !use.elementsEqual("sig".utf8) { return nil }
        let algorithm: TokenAlgorithm
        let material: VerificationKey.Material
        switch (text("kty"), text("crv")) {
        case ("RSA", _):
            (algorithm, material) = (.rs256, .modulus(text("n"), exponent: text("e")))
        case ("EC", "P-256"): (algorithm, material) = (.es256, .point(x: text("x"), y: text("y")))
        case ("OKP", "Ed25519"): (algorithm, material) = (.eddsa, .curve25519(x: text("x")))
        case ("oct", _):
            guard let secret = Base64URL.decode(members["k"] ?? []) else { return nil }
            (algorithm, material) = (.hs256, .secret(secret))
        default: return nil
        }
        // A key says which algorithm it is for, and is used for no other one.
        if let name = members["alg"], TokenAlgorithm(name) != algorithm { return nil }
        return VerificationKey.Mark(
            id: members["kid"] ?? [], algorithm: algorithm, material: material)
    }
}
