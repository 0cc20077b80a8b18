internal import COpenSSL

/// A key that signatures are verified with, for one algorithm alone (RFC 8725 §3.1).
///
/// It never changes, so any thread may use it.
@safe package final class SignatureKey: Sendable {
    private let algorithm: SignatureAlgorithm
    /// The secret of HMAC; empty for a public key.
    private let secret: [UInt8]
    /// The length of each signature, in bytes.
    private let signatureByteCount: Int
    // SENDABLE: libcrypto locks what verifying changes of a key, and nothing here sets anything
    // after the initializer. It is nil for a secret.
    nonisolated(unsafe) private let raw: OpaquePointer?

    /// The material of a key in a file.
    package enum Material: Sendable, Equatable {
        /// The bytes of an octet sequence (RFC 7518 §6.4).
        case secret([UInt8])
        /// The PEM text of a public key, and nothing else.
        case pem([UInt8])
        /// An RSA key (RFC 7518 §6.3.1), highest byte first.
        case modulus([UInt8], exponent: [UInt8])
        /// A point of the curve that its algorithm is for (RFC 7518 §6.2.1).
        case point(x: [UInt8], y: [UInt8])
        /// A point of an Edwards curve (RFC 8037 §2).
        case edwards(EdwardsCurve, x: [UInt8])
    }

    /// The curves of EdDSA (RFC 8032); each has the name that libcrypto knows it by.
    package enum EdwardsCurve: String, Sendable {
        case ed25519 = "Ed25519"
        case ed448 = "Ed448"
    }

    /// Makes a key out of what a file tells.
    ///
    /// - Returns: nil when that is not a key for the algorithm, or one that is too weak.
    package init?(_ material: Material, for algorithm: SignatureAlgorithm) {
        defer { ErrorQueue.clear() }
        self.algorithm = algorithm
        switch (algorithm.scheme, material) {
        case (.hmac(let byteCount), .secret(let bytes)):
            guard bytes.count >= byteCount else { return nil }
            secret = bytes
            signatureByteCount = byteCount
            // SAFETY: there is nothing to free.
            unsafe raw = nil
        case (.hmac, _), (_, .secret):
            return nil
        case (let scheme, _):
            // SAFETY: `deinit` frees the key once, or the line that refuses it does.
            guard let key = unsafe Self.publicKey(material, for: scheme) else { return nil }
            guard let byteCount = unsafe Self.signatureByteCount(of: key, for: scheme) else {
                unsafe EVP_PKEY_free(key)
                return nil
            }
            secret = []
            signatureByteCount = byteCount
            unsafe raw = unsafe key
        }
    }

    deinit {
        // SAFETY: the initializer made it; libcrypto takes nil.
        unsafe EVP_PKEY_free(raw)
    }

    /// Whether these bytes were signed with the secret, or with the other half of the key.
    package func isValid(signature: [UInt8], of signed: [UInt8]) -> Bool {
        guard signature.count == signatureByteCount else { return false }
        defer { ErrorQueue.clear() }
        return switch algorithm.scheme {
        case .hmac: hasCode(signature, of: signed)
        case .ecdsa(_, let byteCount):
            verifies(Self.derForm(of: signature, coordinateByteCount: byteCount), signed)
        case .pkcs1, .pss, .eddsa: verifies(signature, signed)
        }
    }

    private func hasCode(_ code: [UInt8], of signed: [UInt8]) -> Bool {
        var expected = [UInt8](repeating: 0, count: signatureByteCount)
        // SAFETY: libcrypto reads as many bytes as is said, and writes as many as the hash has. The
        // comparison takes as long wherever the first difference is.
        let isMade =
            unsafe HMAC(
                algorithm.hash, secret, Int32(clamping: secret.count), signed, signed.count,
                &expected, nil) != nil
        return unsafe isMade && CRYPTO_memcmp(code, expected, signatureByteCount) == 0
    }

    private func verifies(_ signature: [UInt8], _ signed: [UInt8]) -> Bool {
        // SAFETY: the context is freed once, and owns the one of the key in it. libcrypto reads as
        // many bytes as is said.
        let context = unsafe EVP_MD_CTX_new()
        defer { unsafe EVP_MD_CTX_free(context) }
        var inner: OpaquePointer?
        guard unsafe EVP_DigestVerifyInit(context, &inner, algorithm.hash, nil, raw) == 1 else {
            return false
        }
        if algorithm.scheme == .pss {
            let isSet =
                unsafe EVP_PKEY_CTX_set_rsa_padding(inner, RSA_PKCS1_PSS_PADDING) == 1
                && EVP_PKEY_CTX_set_rsa_pss_saltlen(inner, RSA_PSS_SALTLEN_DIGEST) == 1
            guard isSet else { return false }
        }
        return unsafe EVP_DigestVerify(
            context, signature, signature.count, signed, signed.count) == 1
    }

    /// The numbers of an ECDSA signature (RFC 7518 §3.4) in DER (RFC 3279 §2.2.3) for libcrypto.
    private static func derForm(of signature: [UInt8], coordinateByteCount: Int) -> [UInt8] {
        // SAFETY: each half is as long as is said. The pair owns both numbers and is freed once,
        // and so is the buffer that libcrypto makes, of as many bytes as it returns.
        let count = Int32(coordinateByteCount)
        let first = unsafe BN_bin2bn(Array(signature.prefix(coordinateByteCount)), count, nil)
        let second = unsafe BN_bin2bn(Array(signature.suffix(coordinateByteCount)), count, nil)
        let pair = unsafe ECDSA_SIG_new()
        defer { unsafe ECDSA_SIG_free(pair) }
        unsafe precondition(ECDSA_SIG_set0(pair, first, second) == 1, "no memory")
        var bytes: UnsafeMutablePointer<UInt8>?
        let byteCount = unsafe i2d_ECDSA_SIG(pair, &bytes)
        defer { unsafe belfry_free(bytes) }
        return unsafe [UInt8](UnsafeBufferPointer(start: bytes, count: max(0, Int(byteCount))))
    }
}
