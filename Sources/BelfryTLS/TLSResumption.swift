internal import COpenSSL

/// The state that a client keeps to shorten the handshake of its next connection.
@safe public final class TLSResumption {
    let raw: OpaquePointer

    /// Takes over a reference to an `SSL_SESSION`.
    init(owning raw: OpaquePointer) {
        // SAFETY: it is freed once, by `deinit`.
        unsafe self.raw = unsafe raw
    }

    deinit {
        // SAFETY: the reference is ours and is given up once.
        unsafe SSL_SESSION_free(raw)
    }
}
