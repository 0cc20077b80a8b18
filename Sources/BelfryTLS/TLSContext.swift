internal import COpenSSL

/// The settings of all connections of one role: certificate, authorities, versions and ciphers.
///
/// It never changes, so a renewed certificate is another context; connections keep theirs. TLS 1.2
/// and 1.3 with ephemeral keys and authenticated ciphers only (RFC 8446, RFC 9325), ALPN `http/1.1`
/// where HTTP is spoken (RFC 7301), tickets for resumption, no renegotiation, no compression, no
/// early data.
@safe public final class TLSContext: Sendable {
    /// The most bytes that a peer may send before the handshake is done.
    ///
    /// A server reads one ClientHello and one Finished; a client reads a chain of certificates.
    public let handshakeByteLimit: Int
    /// From when to when the certificate is valid, for a server.
    public let validity: TLSValidity?

    let isServer: Bool
    // SENDABLE: libssl locks what connections share of an `SSL_CTX`, and nothing here sets anything
    // after the initializer.
    nonisolated(unsafe) let raw: OpaquePointer
    // SENDABLE: a table of functions that never changes.
    nonisolated(unsafe) let pipeMethod: OpaquePointer

    /// Which certificates a client trusts.
    public enum Authorities: Sendable {
        /// Those of the machine.
        case system
        /// Those of a PEM text.
        case pem([UInt8])
    }

    /// Makes the context of a server.
    ///
    /// - Parameters:
    ///   - certificateChain: PEM text: the certificate of the server first, then those between it
    ///     and an authority.
    ///   - privateKey: the PEM text of its key, not encrypted; at least 2048 bits of RSA.
    /// - Throws: `.noCertificate`, `.noPrivateKey`, `.encryptedPrivateKey`, `.keyMismatch` or
    ///   `.unusable`.
    public init(certificateChain: [UInt8], privateKey: [UInt8]) throws(TLSError) {
        ErrorQueue.clear()
        // SAFETY: the context is freed once: here after an error, else by `deinit`. Nobody else
        // sees it before the end of the initializer, and libssl copies what it is given.
        let context = unsafe Self.make(TLS_server_method())
        do throws(TLSError) {
            unsafe try Self.load(certificateChain: certificateChain, into: context)
            unsafe try Self.load(privateKey: privateKey, into: context)
            validity = unsafe try Self.validity(of: context)
        } catch {
            unsafe SSL_CTX_free(context)
            throw error
        }
        unsafe SSL_CTX_set_alpn_select_cb(context, selectProtocol, nil)
        isServer = true
        handshakeByteLimit = 64 << 10
        unsafe raw = unsafe context
        unsafe pipeMethod = BytePipe.makeMethod()
    }

    /// The protocol above TLS: a client offers its name to the server (ALPN, RFC 7301).
    public enum Application: Sendable {
        /// HTTP/1.1.
        case http11
        /// A protocol that has no name for ALPN, so the client offers nothing.
        case unnamed
    }

    /// Makes the context of a client, which checks the certificate of its server.
    ///
    /// - Parameters:
    ///   - authorities: whose certificates it trusts.
    ///   - identity: its own certificate with the chain behind it and the key, as PEM texts; nil
    ///     where it shows none.
    ///   - application: the protocol above TLS.
    /// - Throws: `.noAuthorities`, and with an identity what a server's initializer throws.
    public init(
        authorities: Authorities, identity: (certificateChain: [UInt8], privateKey: [UInt8])? = nil,
        for application: Application = .http11
    ) throws(TLSError) {
        ErrorQueue.clear()
        // SAFETY: the context is freed once: here after an error, else by `deinit`. Nobody else
        // sees it before the end of the initializer, and libssl copies what it is given.
        let context = unsafe Self.make(TLS_client_method())
        do throws(TLSError) {
            unsafe try Self.load(authorities, into: context)
            if let identity {
                unsafe try Self.load(certificateChain: identity.certificateChain, into: context)
                unsafe try Self.load(privateKey: identity.privateKey, into: context)
            }
        } catch {
            unsafe SSL_CTX_free(context)
            throw error
        }
        unsafe SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nil)
        if application == .http11 {
            let offer = [UInt8(http11.count)] + http11
            unsafe SSL_CTX_set_alpn_protos(context, offer, UInt32(offer.count))
        }
        isServer = false
        handshakeByteLimit = 256 << 10
        validity = nil
        unsafe raw = unsafe context
        unsafe pipeMethod = BytePipe.makeMethod()
    }

    deinit {
        // SAFETY: sessions hold the context, so they are gone.
        unsafe SSL_CTX_free(raw)
        unsafe BIO_meth_free(pipeMethod)
    }

    /// The ciphers of TLS 1.2; all of TLS 1.3 are good.
    static let ciphers = [
        "ECDHE-ECDSA-AES128-GCM-SHA256", "ECDHE-RSA-AES128-GCM-SHA256",
        "ECDHE-ECDSA-AES256-GCM-SHA384", "ECDHE-RSA-AES256-GCM-SHA384",
        "ECDHE-ECDSA-CHACHA20-POLY1305", "ECDHE-RSA-CHACHA20-POLY1305",
    ].joined(separator: ":")

    private static func make(_ method: OpaquePointer?) -> OpaquePointer {
        // SAFETY: texts are passed as strings that end in a zero byte, and libssl copies them.
        guard let context = unsafe SSL_CTX_new(method) else {
            preconditionFailure("libssl has no memory")
        }
        unsafe SSL_CTX_set_security_level(context, 2)
        unsafe belfry_ctx_set_modes(context)
        let isSet =
            unsafe belfry_ctx_set_versions(context, TLS1_2_VERSION, TLS1_3_VERSION) == 1
            && SSL_CTX_set_cipher_list(context, ciphers) == 1
            && belfry_ctx_set_groups(context, "X25519:P-256:P-384") == 1
        precondition(isSet, "libssl knows no ciphers of ours")
        return unsafe context
    }
}

/// From when to when a certificate is valid, in seconds since 1970.
public struct TLSValidity: Equatable, Sendable {
    /// The first second.
    public let start: Int64
    /// The last second.
    public let end: Int64

    /// Whether the certificate is not valid any more.
    public func hasEnded(atSecond second: Int64) -> Bool {
        second > end
    }

    /// Whether the certificate is not valid yet.
    public func isInFuture(atSecond second: Int64) -> Bool {
        second < start
    }
}

/// The only protocol that is spoken above TLS (RFC 7301 §6).
private let http11 = Array("http/1.1".utf8)

/// Picks `http/1.1` of what a client offers, or ends the handshake with no_application_protocol.
private func selectProtocol(
    _: OpaquePointer?, _ chosen: UnsafeMutablePointer<UnsafePointer<UInt8>?>?,
    _ chosenCount: UnsafeMutablePointer<UInt8>?, _ offer: UnsafePointer<UInt8>?, _ count: UInt32,
    _: UnsafeMutableRawPointer?
) -> Int32 {
    // SAFETY: libssl has checked that the offer is a list of texts with their lengths before them,
    // `count` bytes long. What is chosen lies in the offer, which lives for long enough.
    guard let offer = unsafe offer else { return SSL_TLSEXT_ERR_ALERT_FATAL }
    let bytes = unsafe UnsafeBufferPointer(start: offer, count: Int(count))
    var start = 0
    while start < bytes.count {
        let length = unsafe Int(bytes[start])
        let end = start + 1 + length
        guard end <= bytes.count else { break }
        if unsafe bytes[(start + 1)..<end].elementsEqual(http11) {
            unsafe chosen?.pointee = unsafe offer + start + 1
            unsafe chosenCount?.pointee = UInt8(length)
            return SSL_TLSEXT_ERR_OK
        }
        start = end
    }
    return SSL_TLSEXT_ERR_ALERT_FATAL
}
