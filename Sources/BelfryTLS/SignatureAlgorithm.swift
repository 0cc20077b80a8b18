internal import COpenSSL

/// An algorithm of JSON Web Signatures (RFC 7518 §3.1, RFC 8037 §3.1); `none` is not among them.
package enum SignatureAlgorithm: String, Sendable, CaseIterable {
    case hs256 = "HS256"
    case hs384 = "HS384"
    case hs512 = "HS512"
    case rs256 = "RS256"
    case rs384 = "RS384"
    case rs512 = "RS512"
    case ps256 = "PS256"
    case ps384 = "PS384"
    case ps512 = "PS512"
    case es256 = "ES256"
    case es384 = "ES384"
    case es512 = "ES512"
    case eddsa = "EdDSA"

    /// Reads a name, byte by byte.
    package init?(_ name: [UInt8]) {
        guard let known = Self.allCases.first(where: { $0.rawValue.utf8.elementsEqual(name) })
        else { return nil }
        self = known
    }

    /// How a signature is made.
    enum Scheme: Equatable {
        /// HMAC with a secret of at least as many bytes as the hash has (RFC 7518 §3.2).
        case hmac(byteCount: Int)
        /// RSASSA-PKCS1-v1_5 (RFC 7518 §3.3).
        case pkcs1
        /// RSASSA-PSS with a salt as long as the hash (RFC 7518 §3.5).
        case pss
        /// ECDSA on a curve whose coordinates have so many bytes (RFC 7518 §3.4).
        case ecdsa(group: String, coordinateByteCount: Int)
        /// EdDSA on the curve of the key (RFC 8037 §3.1).
        case eddsa
    }

    var scheme: Scheme {
        switch self {
        case .hs256: .hmac(byteCount: 32)
        case .hs384: .hmac(byteCount: 48)
        case .hs512: .hmac(byteCount: 64)
        case .rs256, .rs384, .rs512: .pkcs1
        case .ps256, .ps384, .ps512: .pss
        case .es256: .ecdsa(group: SN_X9_62_prime256v1, coordinateByteCount: 32)
        case .es384: .ecdsa(group: SN_secp384r1, coordinateByteCount: 48)
        case .es512: .ecdsa(group: SN_secp521r1, coordinateByteCount: 66)
        case .eddsa: .eddsa
        }
    }

    /// The hash; nil for EdDSA, which has its own.
    var hash: OpaquePointer? {
        // SAFETY: a table of libcrypto that is never freed.
        switch self {
        case .hs256, .rs256, .ps256, .es256: unsafe EVP_sha256()
        case .hs384, .rs384, .ps384, .es384: unsafe EVP_sha384()
        case .hs512, .rs512, .ps512, .es512: unsafe EVP_sha512()
        case .eddsa: nil
        }
    }
}
