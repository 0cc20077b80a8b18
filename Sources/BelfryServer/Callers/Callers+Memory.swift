import BelfryLoop
import BelfryTLS

extension Callers {
    // MARK: Room

    /// Whether sessions of TLS and connections take all of their memory; without TLS there are no
    /// more connections than fit.
    func connectionsAreFull(forSession isSecure: Bool, _ outbox: inout Outbox) -> Bool {
        guard let tls else { return false }
        let byteCount =
            outbox.loop.connectionCount * ServerConfiguration.connectionByteCount
            + tls.sessionByteCount
            + (isSecure ? TLSSession.Stage.open.byteCount : 0)
        return byteCount > outbox.configuration.memory.connections / outbox.configuration.loopCount
    }
}
