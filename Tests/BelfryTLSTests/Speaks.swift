import COpenSSL

@testable import BelfryTLS

/// Makes clients that are not as ours are.
enum Speaks {
    /// Lets a client speak one version only: 11, 12 or 13.
    static func only(_ version: Int, _ context: TLSContext) {
        let number = TLS1_VERSION + Int32(version) - 10
        // SAFETY: nobody else uses the context yet.
        if version == 11 {
            unsafe SSL_CTX_set_security_level(context.raw, 0)
            unsafe SSL_CTX_set_cipher_list(context.raw, "ALL:@SECLEVEL=0")
        }
        unsafe belfry_ctx_set_versions(context.raw, number, number)
    }

    /// Lets a client offer these ciphers of TLS 1.2 and these groups.
    static func set(ciphers: String, groups: String, _ context: TLSContext) {
        // SAFETY: nobody else uses the context yet.
        unsafe SSL_CTX_set_cipher_list(context.raw, ciphers)
        unsafe belfry_ctx_set_groups(context.raw, groups)
    }

    /// Lets a client offer these protocols by ALPN.
    static func offer(_ names: [String], _ context: TLSContext) {
        let list = names.flatMap { [UInt8($0.utf8.count)] + Array($0.utf8) }
        // SAFETY: nobody else uses the context yet; libssl copies the list.
        unsafe SSL_CTX_set_alpn_protos(context.raw, list, UInt32(list.count))
    }

    /// Whether a session has agreed on a protocol by ALPN.
    static func hasProtocol(_ session: TLSSession) -> Bool {
        var (name, count): (UnsafePointer<UInt8>?, UInt32) = (nil, 0)
        // SAFETY: the session lives; libssl sets both, and the name is not looked at.
        unsafe SSL_get0_alpn_selected(session.ssl, &name, &count)
        return count > 0
    }

    /// Lets a client ask for another handshake.
    static func renegotiate(_ session: TLSSession) {
        // SAFETY: the session lives.
        unsafe SSL_clear_options(session.ssl, noRenegotiation)
        unsafe SSL_renegotiate(session.ssl)
    }

    private static let noRenegotiation: UInt64 = 1 << 30
}
