internal import COpenSSL

/// What a client keeps of a connection to shorten the handshake of the next one.
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
