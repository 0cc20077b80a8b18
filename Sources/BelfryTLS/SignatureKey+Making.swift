internal import COpenSSL

// Makes keys of libcrypto out of members of a JWK and PEM texts. The caller frees the key.

extension SignatureKey {
    /// The lengths of RSA keys that are taken, in bits (RFC 7518 §3.3).
    ///
    /// Above it a signature takes milliseconds, and no issuer has such a key.
    static let modulusBitCounts: ClosedRange<Int32> = 2_048...8_192
    /// The longest exponent of RSA, in bits; 65,537 has 17.
    static let exponentBitLimit: Int32 = 32

    /// Makes the key; nil when it is not one.
    static func publicKey(
        _ material: Material, for scheme: SignatureAlgorithm.Scheme
    ) -> OpaquePointer? {
        // SAFETY: each function gives a key that nobody else has.
        switch (scheme, material) {
        case (_, .pem(let text)): unsafe key(ofPEM: text)
        case (.pkcs1, .modulus(let modulus, let exponent)),
            (.pss, .modulus(let modulus, let exponent)):
            unsafe rsaKey(modulus, exponent)
        case (.ecdsa(let group, let byteCount), .point(let x, let y)):
            x.count == byteCount && y.count == byteCount
                ? unsafe ellipticKey(group, [uncompressed] + x + y) : nil
        case (.eddsa, .edwards(let curve, let x)):
            // It asks for the exact length.
            unsafe EVP_PKEY_new_raw_public_key_ex(nil, curve.rawValue, nil, x, x.count)
        case (.hmac, _), (.pkcs1, _), (.pss, _), (.ecdsa, _), (.eddsa, _): nil
        }
    }

    /// The length of each signature of a key, in bytes; nil when the key is not one for the scheme.
    static func signatureByteCount(
        of key: OpaquePointer, for scheme: SignatureAlgorithm.Scheme
    ) -> Int? {
        // SAFETY: the key lives until its owner frees it, and names end in a zero byte.
        switch scheme {
        case .hmac:
            return nil
        case .pkcs1, .pss:
            // Not the kind `RSA-PSS`, which may have conditions of its own.
            guard unsafe EVP_PKEY_is_a(key, "RSA") == 1, unsafe isRSAInRange(key) else {
                return nil
            }
            return unsafe Int(EVP_PKEY_get_size(key))
        case .ecdsa(let group, let byteCount):
            guard unsafe EVP_PKEY_is_a(key, "EC") == 1, unsafe groupName(of: key) == group else {
                return nil
            }
            return 2 * byteCount
        case .eddsa:
            let curves: [EdwardsCurve] = [.ed25519, .ed448]
            guard curves.contains(where: { unsafe EVP_PKEY_is_a(key, $0.rawValue) == 1 }) else {
                return nil
            }
            return unsafe Int(EVP_PKEY_get_size(key))
        }
    }

    private static func isRSAInRange(_ key: OpaquePointer) -> Bool {
        // SAFETY: both numbers are copies, which are freed once; libcrypto takes nil.
        var modulus: OpaquePointer?
        var exponent: OpaquePointer?
        defer {
            unsafe BN_free(modulus)
            unsafe BN_free(exponent)
        }
        let areThere =
            unsafe EVP_PKEY_get_bn_param(key, OSSL_PKEY_PARAM_RSA_N, &modulus) == 1
            && EVP_PKEY_get_bn_param(key, OSSL_PKEY_PARAM_RSA_E, &exponent) == 1
        // An odd number of two bits is 3.
        return unsafe areThere && modulusBitCounts.contains(BN_num_bits(modulus))
            && BN_is_odd(modulus) == 1 && (2...exponentBitLimit).contains(BN_num_bits(exponent))
            && BN_is_odd(exponent) == 1
    }

    private static func groupName(of key: OpaquePointer) -> String? {
        var name = [CChar](repeating: 0, count: 80)
        // SAFETY: libcrypto writes at most as many bytes as the buffer has, and a zero byte.
        guard unsafe EVP_PKEY_get_group_name(key, &name, name.count, nil) == 1 else { return nil }
        return String(
            decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    private static func rsaKey(_ modulus: [UInt8], _ exponent: [UInt8]) -> OpaquePointer? {
        // SAFETY: libcrypto reads as many bytes as is said; what it makes is freed once, and the
        // builder refers to the numbers only until it gives its parameters.
        let first = unsafe BN_bin2bn(modulus, Int32(clamping: modulus.count), nil)
        let second = unsafe BN_bin2bn(exponent, Int32(clamping: exponent.count), nil)
        let builder = unsafe OSSL_PARAM_BLD_new()
        defer {
            unsafe OSSL_PARAM_BLD_free(builder)
            unsafe BN_free(first)
            unsafe BN_free(second)
        }
        let isFilled = unsafe belfry_push_rsa(builder, first, second) == 1
        return isFilled ? unsafe key("RSA", builder) : nil
    }

    /// The first byte of a point that has both coordinates (SEC 1 §2.3.3).
    private static let uncompressed: UInt8 = 4

    private static func ellipticKey(_ group: String, _ point: [UInt8]) -> OpaquePointer? {
        // SAFETY: the builder is freed once, and refers to name and point only until it gives its
        // parameters; both outlive that.
        let builder = unsafe OSSL_PARAM_BLD_new()
        defer { unsafe OSSL_PARAM_BLD_free(builder) }
        return unsafe group.withCString { name in
            unsafe point.withUnsafeBytes { bytes in
                let isFilled =
                    unsafe belfry_push_point(builder, name, bytes.baseAddress, bytes.count) == 1
                return isFilled ? unsafe key("EC", builder) : nil
            }
        }
    }

    /// Makes a public key of a kind out of its parameters; for EC the point must be on the curve.
    private static func key(_ kind: String, _ builder: OpaquePointer?) -> OpaquePointer? {
        // SAFETY: parameters and context are freed once, and the key has copies.
        let parameters = unsafe OSSL_PARAM_BLD_to_param(builder)
        let context = unsafe EVP_PKEY_CTX_new_from_name(nil, kind, nil)
        defer {
            unsafe OSSL_PARAM_free(parameters)
            unsafe EVP_PKEY_CTX_free(context)
        }
        var key: OpaquePointer?
        guard unsafe EVP_PKEY_fromdata_init(context) == 1,
            unsafe EVP_PKEY_fromdata(context, &key, belfry_public_key, parameters) == 1
        else { return nil }
        return unsafe key
    }

    /// Reads `PUBLIC KEY` (RFC 5280 §4.1) or `RSA PUBLIC KEY` (RFC 8017 §A.1.1).
    ///
    /// The text is nothing else, and neither are the bytes in it: `PEM_read_bio_PUBKEY` would take
    /// more.
    private static func key(ofPEM text: [UInt8]) -> OpaquePointer? {
        let end = text.lastIndex { !" \t\r\n".utf8.contains($0) } ?? text.startIndex
        guard text.starts(with: "-----BEGIN ".utf8) else { return nil }
        // SAFETY: the BIO is freed once, and so are the three buffers that libcrypto makes.
        let bio = unsafe makeReader(Array(text[...end]))
        defer { unsafe BIO_free(bio) }
        var (name, fields): (UnsafeMutablePointer<CChar>?, UnsafeMutablePointer<CChar>?)
        var bytes: UnsafeMutablePointer<UInt8>?
        var count = 0
        guard unsafe PEM_read_bio(bio, &name, &fields, &bytes, &count) == 1, let name = unsafe name
        else { return nil }
        defer {
            unsafe belfry_free(name)
            unsafe belfry_free(fields)
            unsafe belfry_free(bytes)
        }
        guard unsafe BIO_ctrl_pending(bio) == 0 else { return nil }
        // SAFETY: `count` bytes are read; the place moves behind the last one that was taken.
        var place = unsafe UnsafePointer(bytes)
        let key: OpaquePointer?
        let kind = unsafe String(cString: name)
        switch kind {
        case PEM_STRING_PUBLIC: unsafe key = d2i_PUBKEY(nil, &place, count)
        case PEM_STRING_RSA_PUBLIC:
            unsafe key = d2i_PublicKey(EVP_PKEY_RSA, nil, &place, count)
        default: return nil
        }
        guard let key = unsafe key else { return nil }
        guard unsafe place == bytes.map({ unsafe UnsafePointer($0 + count) }) else {
            unsafe EVP_PKEY_free(key)
            return nil
        }
        return unsafe key
    }
}
