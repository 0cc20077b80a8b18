import BelfryJSON
import BelfryTLS

/// The file of `--jwks`: a JSON Web Key Set (RFC 7517 §5).
///
/// Keys of other kinds and for other uses are ignored, as that section asks for: an issuer's set
/// may hold more than the broker needs. A key that could be used, and is faulty, is an error.
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
                let members = try KeyMembers(place, &reader)
                guard let algorithm = members.algorithm else { return }
                let fault = reader.fault(
                    place, "is not a key for \(algorithm.rawValue), or is too weak")
                guard let material = members.material else { throw fault }
                let mark = VerificationKey.Mark(
                    id: members.id, algorithm: algorithm, material: material)
                marks.append((mark, fault))
            }
        }
        try reader.finish()
        guard hasKeys else { throw reader.fault(.root, "has no keys") }
        self.marks = marks
    }
}

/// The members of a JSON Web Key (RFC 7517 §4).
private struct KeyMembers {
    private var texts: [String: [UInt8]] = [:]
    /// The operations that the key is for (RFC 7517 §4.3); nil where the key names none.
    private var operations: [[UInt8]]?

    /// How many operations a key may name; there are eight.
    private static let operationLimit = 100

    /// Reads one key; whatever says what a key is for must have the kind that it should have.
    init(_ place: JSONPointer, _ reader: inout AccessFileReader) throws(AccessError) {
        var texts: [String: [UInt8]] = [:]
        var operations: [[UInt8]]?
        try reader.object(place) { key, place, reader throws(AccessError) in
            switch key {
            case "kty", "crv", "use", "alg", "kid": texts[key] = try reader.bytes(place)
            case "key_ops":
                var names: [[UInt8]] = []
                try reader.array(place, limit: Self.operationLimit) {
                    place, reader throws(AccessError) in
                    names.append(try reader.bytes(place))
                }
                operations = names
            case "n", "e", "x", "y", "k":
                // A key of another type may have any value here.
                guard try reader.kind(place) == .string else { return try reader.skip(place) }
                texts[key] = try reader.bytes(place)
            default: try reader.skip(place)
            }
        }
        self.texts = texts
        self.operations = operations
    }

    /// Its name; empty where it has none.
    var id: [UInt8] { texts["kid"] ?? [] }

    /// The algorithm that the key is for; nil when it is for nothing here.
    var algorithm: SignatureAlgorithm? {
        if let use = texts["use"], !use.elementsEqual("sig".utf8) { return nil }
        if let operations, !operations.contains(where: { $0.elementsEqual("verify".utf8) }) {
            return nil
        }
        guard let possible = Self.algorithms(kind: text("kty"), curve: text("crv")) else {
            return nil
        }
        // A key says which algorithm it is for, and is used for no other one.
        guard let name = texts["alg"] else { return possible.first }
        return SignatureAlgorithm(name).flatMap { possible.contains($0) ? $0 : nil }
    }

    /// The algorithms for a kind of key; a key that names none of them is for the first one.
    private static func algorithms(kind: String, curve: String) -> [SignatureAlgorithm]? {
        switch (kind, curve) {
        case ("RSA", _): [.rs256, .rs384, .rs512, .ps256, .ps384, .ps512]
        case ("EC", "P-256"): [.es256]
        case ("EC", "P-384"): [.es384]
        case ("EC", "P-521"): [.es512]
        case ("OKP", "Ed25519"), ("OKP", "Ed448"): [.eddsa]
        case ("oct", _): [.hs256, .hs384, .hs512]
        default: nil
        }
    }

    /// The key material (RFC 7518 §6, RFC 8037 §2); nil when a part of it is missing.
    var material: SignatureKey.Material? {
        switch text("kty") {
        case "RSA":
            guard let modulus = decoded("n"), let exponent = decoded("e") else { return nil }
            return .modulus(modulus, exponent: exponent)
        case "EC":
            guard let x = decoded("x"), let y = decoded("y") else { return nil }
            return .point(x: x, y: y)
        case "OKP":
            guard let curve = SignatureKey.EdwardsCurve(rawValue: text("crv")), let x = decoded("x")
            else { return nil }
            return .edwards(curve, x: x)
        case "oct": return decoded("k").map { .secret($0) }
        default: return nil
        }
    }

    private func text(_ key: String) -> String {
        String(decoding: texts[key] ?? [], as: UTF8.self)
    }

    private func decoded(_ key: String) -> [UInt8]? {
        texts[key].flatMap { Base64URL.decode($0) }
    }
}
