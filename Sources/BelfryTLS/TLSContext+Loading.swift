internal import COpenSSL

// PEM texts become certificates and keys of an `SSL_CTX`.

extension TLSContext {
    /// Takes the certificate of a server, and the chain behind it.
    static func load(
        certificateChain text: [UInt8], into context: OpaquePointer
    ) throws(TLSError) {
        // SAFETY: the BIO is freed once, and each certificate is freed, or given to the context,
        // once.
        let bio = unsafe makeReader(text)
        defer { unsafe BIO_free(bio) }
        guard let first = unsafe PEM_read_bio_X509_AUX(bio, nil, refusePassPhrase, nil) else {
            throw .noCertificate
        }
        defer { unsafe X509_free(first) }
        guard unsafe SSL_CTX_use_certificate(context, first) == 1 else {
            throw .unusable(ErrorQueue.firstText)
        }
        while let next = unsafe PEM_read_bio_X509(bio, nil, refusePassPhrase, nil) {
            guard unsafe belfry_ctx_add_chain(context, next) == 1 else {
                unsafe X509_free(next)
                throw .unusable(ErrorQueue.firstText)
            }
        }
        // The end of the text is no error; anything else between the certificates is one.
        guard ErrorQueue.lastReason == PEM_R_NO_START_LINE else {
            throw .unusable(ErrorQueue.firstText)
        }
        ErrorQueue.clear()
    }

    /// Takes the key of the certificate that was taken before.
    static func load(
        privateKey text: [UInt8], into context: OpaquePointer
    ) throws(TLSError) {
        ErrorQueue.clear()
        // SAFETY: BIO and key are freed once; the context keeps a reference of its own to the key.
        let bio = unsafe makeReader(text)
        defer { unsafe BIO_free(bio) }
        guard let key = unsafe PEM_read_bio_PrivateKey(bio, nil, refusePassPhrase, nil) else {
            let isEncrypted =
                [PEM_R_BAD_PASSWORD_READ, PEM_R_PROBLEMS_GETTING_PASSWORD]
                .contains(ErrorQueue.lastReason)
                || ErrorQueue.firstReason == PEM_R_BAD_PASSWORD_READ
            throw isEncrypted ? .encryptedPrivateKey : .noPrivateKey
        }
        defer { unsafe EVP_PKEY_free(key) }
        guard unsafe X509_check_private_key(SSL_CTX_get0_certificate(context), key) == 1 else {
            throw .keyMismatch
        }
        guard unsafe SSL_CTX_use_PrivateKey(context, key) == 1 else {
            throw .unusable(ErrorQueue.firstText)
        }
    }

    /// From when to when the server's certificate is valid.
    static func validity(of context: OpaquePointer) throws(TLSError) -> TLSValidity {
        // SAFETY: the certificate lives as long as the context.
        let certificate = unsafe SSL_CTX_get0_certificate(context)
        guard let start = unsafe seconds(X509_get0_notBefore(certificate)),
            let end = unsafe seconds(X509_get0_notAfter(certificate))
        else { throw .unusable("its validity cannot be read") }
        return TLSValidity(start: start, end: end)
    }

    /// Takes the authorities that a client trusts.
    static func load(
        _ authorities: Authorities, into context: OpaquePointer
    ) throws(TLSError) {
        // SAFETY: the BIO is freed once; the store keeps a reference of its own to each
        // certificate.
        switch authorities {
        case .system:
            guard unsafe SSL_CTX_set_default_verify_paths(context) == 1 else {
                throw .noAuthorities
            }
        case .pem(let text):
            let bio = unsafe makeReader(text)
            defer { unsafe BIO_free(bio) }
            let store = unsafe SSL_CTX_get_cert_store(context)
            var count = 0
            while let next = unsafe PEM_read_bio_X509(bio, nil, refusePassPhrase, nil) {
                defer { unsafe X509_free(next) }
                guard unsafe X509_STORE_add_cert(store, next) == 1 else {
                    throw .unusable(ErrorQueue.firstText)
                }
                count += 1
            }
            guard count > 0 else { throw .noAuthorities }
            ErrorQueue.clear()
        }
    }
}

/// A BIO that reads a copy of a text: no pointer into an array is kept.
func makeReader(_ text: [UInt8]) -> OpaquePointer {
    // SAFETY: the BIO of `BIO_s_mem` copies the bytes that are written to it.
    guard let bio = unsafe BIO_new(BIO_s_mem()) else { preconditionFailure("no memory") }
    let written = unsafe text.withUnsafeBytes { bytes in
        unsafe bytes.isEmpty ? 0 : BIO_write(bio, bytes.baseAddress, Int32(clamping: bytes.count))
    }
    precondition(written >= 0, "a BIO in memory takes everything")
    return unsafe bio
}

/// Refuses to give a pass phrase; by default libcrypto would ask at the terminal.
private func refusePassPhrase(
    _: UnsafeMutablePointer<CChar>?, _: Int32, _: Int32, _: UnsafeMutableRawPointer?
) -> Int32 { -1 }

/// A time of a certificate, in seconds since 1970.
private func seconds(_ time: UnsafePointer<ASN1_TIME>?) -> Int64? {
    // SAFETY: libcrypto writes the two numbers, and the epoch is freed once.
    guard let time = unsafe time, let epoch = unsafe ASN1_TIME_set(nil, 0) else { return nil }
    defer { unsafe ASN1_TIME_free(epoch) }
    var (days, rest): (Int32, Int32) = (0, 0)
    guard unsafe ASN1_TIME_diff(&days, &rest, epoch, time) == 1 else { return nil }
    return Int64(days) * 86_400 + Int64(rest)
}
