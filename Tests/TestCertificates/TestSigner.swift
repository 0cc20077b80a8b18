internal import COpenSSL

/// Signs as the issuers of tokens do (RFC 7515): with SHA-256, or with Ed25519.
@safe public final class TestSigner: Sendable {
    /// The kind of the signing key.
    public enum Kind: Sendable, Equatable {
        /// HMAC with this secret.
        case secret([UInt8])
        /// PKCS #1 with the RSA key of this PEM text.
        case rsa(pem: [UInt8])
        /// ECDSA with a new key on P-256.
        case p256
        /// A new key of Ed25519.
        case ed25519
    }

    private let kind: Kind
    // SENDABLE: nothing changes it after the initializer.
    nonisolated(unsafe) private let key: OpaquePointer?

    /// Makes a signer; the PEM text must be a key.
    public init(_ kind: Kind) {
        self.kind = kind
        // SAFETY: the key is freed once, by `deinit`; libcrypto reads as many bytes as is said.
        switch kind {
        case .secret(let bytes):
            unsafe key = EVP_PKEY_new_raw_private_key(EVP_PKEY_HMAC, nil, bytes, bytes.count)
        case .rsa(let pem):
            let bio = unsafe BIO_new_mem_buf(pem, Int32(pem.count))
            unsafe key = PEM_read_bio_PrivateKey(bio, nil, nil, nil)
            unsafe BIO_free(bio)
        case .p256: unsafe key = makeKey(.p256)
        case .ed25519: unsafe key = makeKey(.ed25519)
        }
        unsafe precondition(key != nil, "a key that is no key")
    }

    deinit {
        // SAFETY: the initializer made it.
        unsafe EVP_PKEY_free(key)
    }

    /// The PEM text of the public half.
    public var publicPEM: [UInt8] {
        // SAFETY: the key is only read.
        unsafe text { bio in unsafe PEM_write_bio_PUBKEY(bio, key) }
    }

    /// Signs some bytes; an ECDSA signature is two numbers of 32 bytes (RFC 7518 §3.4).
    public func sign(_ bytes: [UInt8]) -> [UInt8] {
        // SAFETY: the context is freed once, and libcrypto says how long the signature may become.
        let context = unsafe EVP_MD_CTX_new()
        defer { unsafe EVP_MD_CTX_free(context) }
        let hash = unsafe kind == .ed25519 ? nil : EVP_sha256()
        unsafe precondition(EVP_DigestSignInit(context, nil, hash, nil, key) == 1)
        var count = 0
        unsafe precondition(EVP_DigestSign(context, nil, &count, bytes, bytes.count) == 1)
        var signature = [UInt8](repeating: 0, count: count)
        unsafe precondition(EVP_DigestSign(context, &signature, &count, bytes, bytes.count) == 1)
        signature.removeLast(signature.count - count)
        return kind == .p256 ? Self.numbers(of: signature) : signature
    }

    private static func numbers(of der: [UInt8]) -> [UInt8] {
        var first = [UInt8](repeating: 0, count: 32)
        var second = first
        // SAFETY: the pair is freed once, and its numbers are written to 32 bytes each.
        unsafe der.withUnsafeBufferPointer { buffer in
            var place = buffer.baseAddress
            let pair = unsafe d2i_ECDSA_SIG(nil, &place, buffer.count)
            unsafe precondition(BN_bn2binpad(ECDSA_SIG_get0_r(pair), &first, 32) == 32)
            unsafe precondition(BN_bn2binpad(ECDSA_SIG_get0_s(pair), &second, 32) == 32)
            unsafe ECDSA_SIG_free(pair)
        }
        return first + second
    }
}
