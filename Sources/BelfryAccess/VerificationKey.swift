import JWTKit

/// The algorithms that a token may be signed with (RFC 7518 §3.1, RFC 8037 §3.1).
enum TokenAlgorithm: String, Sendable, CaseIterable {
    case hs256 = "HS256"
    case rs256 = "RS256"
    case es256 = "ES256"
    case eddsa = "EdDSA"

    init?(_ text: [UInt8]) {
        guard let known = Self.allCases.first(where: { $0.rawValue.utf8.elementsEqual(text) })
        else { return nil }
        self = known
    }
}

/// A key that tokens are verified with, for one algorithm alone (RFC 8725 §3.1).
struct VerificationKey: Sendable {
    /// What tells it from other keys; a reload keeps the callers of a key that is still the same.
    let mark: Mark
    private let algorithm: any JWTAlgorithm

    struct Mark: Sendable, Equatable {
        /// Its name; empty for a key of a set that gives it none.
        let id: [UInt8]
        let algorithm: TokenAlgorithm
        let material: Material
        /// Under which rules its tokens are read.
        var rules = TokenRules()
    }

    /// What a file tells of a key.
    enum Material: Sendable, Equatable {
        case secret([UInt8])
        case pem(String)
        case modulus(String, exponent: String)
        case point(x: String, y: String)
        case curve25519(x: String)
    }

    /// Makes a key out of what a file tells.
    ///
    /// - Returns: nil when that is no key for the algorithm, or one that is too weak.
    init?(_ mark: Mark) async {
        self.mark = mark
        let keys = JWTKeyCollection()
        do {
            switch (mark.algorithm, mark.material) {
            case (.hs256, .secret(let secret)):
                // RFC 7518 §3.2: no shorter than the hash.
                guard secret.count >= 32 else { return nil }
                await keys.add(hmac: HMACKey(from: secret), digestAlgorithm: .sha256)
            case (.rs256, .pem(let text)):
                await keys.add(
                    rsa: try Insecure.RSA.PublicKey(pem: text), digestAlgorithm: .sha256)
            case (.rs256, .modulus(let modulus, let exponent)):
                let key = try Insecure.RSA.PublicKey(modulus: modulus, exponent: exponent)
                await keys.add(rsa: key, digestAlgorithm: .sha256)
            case (.es256, .pem(let text)):
                await keys.add(ecdsa: try ES256PublicKey(pem: text))
            case (.es256, .point(let x, let y)):
                await keys.add(ecdsa: try ES256PublicKey(parameters: (x: x, y: y)))
            case (.eddsa, .pem(let text)):
                await keys.add(eddsa: try EdDSA.PublicKey(pem: text))
            case (.eddsa, .curve25519(let x)):
                await keys.add(eddsa: try EdDSA.PublicKey(x: x, curve: .ed25519))
            case (.hs256, _), (.rs256, _), (.es256, _), (.eddsa, _):
                return nil
            }
            algorithm = try await keys.getKey()
        } catch {
            return nil
        }
        guard algorithm.name == mark.algorithm.rawValue else { return nil }
    }

    /// Whether these bytes were signed with the other half of the key.
    func isValid(signature: [UInt8], of signed: [UInt8]) -> Bool {
        do {
            return try algorithm.verify(signature, signs: signed)
        } catch {
            // A signature that cannot be one of this algorithm is none.
            return false
        }
    }
}
