internal import COpenSSL

/// A certificate with its key, both as PEM text.
public struct TestIdentity: Sendable {
    /// The certificate.
    public let certificate: [UInt8]
    /// Its key.
    public let key: [UInt8]
}

/// An authority that lives as long as a test, and issues certificates for it.
@safe public final class TestAuthority {
    /// Its own certificate as PEM text, for clients that trust it.
    public let certificate: [UInt8]

    private let key: OpaquePointer
    private let raw: OpaquePointer
    private var serial = 1

    /// The kind of a key.
    public enum KeyKind {
        case p256
        case ed25519
        case rsa(bitCount: Int)
    }

    /// Creates an authority with a key of its own.
    public init() {
        // SAFETY: what libcrypto makes is checked to be there, and freed once by `deinit`.
        let key = unsafe makeKey(.p256)
        let raw = unsafe makeCertificate(
            key: key, subject: "Test authority", serial: 1, seconds: -3_600...86_400)
        unsafe addExtension(NID_basic_constraints, "critical,CA:TRUE", to: raw)
        unsafe X509_set_issuer_name(raw, X509_get_subject_name(raw))
        unsafe precondition(X509_sign(raw, key, EVP_sha256()) > 0)
        certificate = unsafe text { bio in unsafe PEM_write_bio_X509(bio, raw) }
        unsafe self.key = unsafe key
        unsafe self.raw = unsafe raw
    }

    deinit {
        // SAFETY: both were made by the initializer.
        unsafe X509_free(raw)
        unsafe EVP_PKEY_free(key)
    }

    /// Issues a certificate for some names.
    ///
    /// - Parameters:
    ///   - names: as in `DNS:localhost,IP:127.0.0.1`.
    ///   - seconds: from when to when it is valid, counted from now.
    public func issue(
        _ names: String = "DNS:localhost,IP:127.0.0.1", seconds: ClosedRange<Int> = -3_600...86_400,
        key kind: KeyKind = .p256
    ) -> TestIdentity {
        serial += 1
        // SAFETY: the certificate copies what it is given, and it and its key are freed once.
        let own = unsafe makeKey(kind)
        let leaf = unsafe makeCertificate(
            key: own, subject: "Test server \(serial)", serial: serial, seconds: seconds)
        defer {
            unsafe X509_free(leaf)
            unsafe EVP_PKEY_free(own)
        }
        unsafe addExtension(NID_subject_alt_name, names, to: leaf)
        unsafe X509_set_issuer_name(leaf, X509_get_subject_name(raw))
        unsafe precondition(X509_sign(leaf, key, EVP_sha256()) > 0)
        return TestIdentity(
            certificate: unsafe text { bio in unsafe PEM_write_bio_X509(bio, leaf) },
            key: unsafe text { bio in
                unsafe PEM_write_bio_PrivateKey(bio, own, nil, nil, 0, nil, nil)
            })
    }

    /// The PEM text of a key that asks for a pass phrase.
    public func encryptedKey() -> [UInt8] {
        let phrase = Array("secret".utf8)
        // SAFETY: the phrase is as long as is said, and only read.
        return unsafe text { bio in
            unsafe PEM_write_bio_PrivateKey(
                bio, key, EVP_aes_128_cbc(), phrase, Int32(phrase.count), nil, nil)
        }
    }
}

func makeKey(_ kind: TestAuthority.KeyKind) -> OpaquePointer {
    // SAFETY: names are passed as strings that end in a zero byte, and the context is freed once.
    let name =
        switch kind {
        case .p256: "EC"
        case .ed25519: "ED25519"
        case .rsa: "RSA"
        }
    let context = unsafe EVP_PKEY_CTX_new_from_name(nil, name, nil)
    defer { unsafe EVP_PKEY_CTX_free(context) }
    unsafe precondition(EVP_PKEY_keygen_init(context) == 1)
    switch kind {
    case .p256: unsafe precondition(EVP_PKEY_CTX_set_group_name(context, "P-256") == 1)
    case .ed25519: break
    case .rsa(let bitCount):
        unsafe precondition(EVP_PKEY_CTX_set_rsa_keygen_bits(context, Int32(bitCount)) == 1)
    }
    var key: OpaquePointer?
    unsafe precondition(EVP_PKEY_generate(context, &key) == 1)
    guard let key = unsafe key else { preconditionFailure("there is no key") }
    return unsafe key
}

private func makeCertificate(
    key: OpaquePointer, subject: String, serial: Int, seconds: ClosedRange<Int>
) -> OpaquePointer {
    // SAFETY: libcrypto copies the key's public half and the subject.
    guard let raw = unsafe X509_new() else { preconditionFailure("no memory") }
    unsafe X509_set_version(raw, 2)
    unsafe ASN1_INTEGER_set(X509_get_serialNumber(raw), serial)
    unsafe X509_gmtime_adj(X509_getm_notBefore(raw), seconds.lowerBound)
    unsafe X509_gmtime_adj(X509_getm_notAfter(raw), seconds.upperBound)
    unsafe X509_set_pubkey(raw, key)
    let bytes = Array(subject.utf8)
    unsafe X509_NAME_add_entry_by_txt(
        X509_get_subject_name(raw), "CN", MBSTRING_FLAG | 1, bytes, Int32(bytes.count), -1, 0)
    return unsafe raw
}

private func addExtension(_ kind: Int32, _ value: String, to certificate: OpaquePointer) {
    // SAFETY: the certificate copies the extension, which is freed once.
    let added = unsafe X509V3_EXT_conf_nid(nil, nil, kind, value)
    unsafe precondition(X509_add_ext(certificate, added, -1) == 1)
    unsafe X509_EXTENSION_free(added)
}

/// Reads the text that a function writes to a BIO in memory.
func text(_ write: (OpaquePointer?) -> Int32) -> [UInt8] {
    // SAFETY: the BIO lives until the bytes were copied out of it.
    let bio = unsafe BIO_new(BIO_s_mem())
    defer { unsafe BIO_free(bio) }
    unsafe precondition(write(bio) == 1)
    var start: UnsafePointer<UInt8>?
    let count = unsafe belfry_bio_bytes(bio, &start)
    return unsafe [UInt8](UnsafeBufferPointer(start: start, count: count))
}
