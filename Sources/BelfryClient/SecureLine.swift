internal import BelfryLoop
internal import BelfryTLS

/// The TLS sessions of a client's connections: one, and the one before it while it closes.
///
/// Output waits for the end of the handshake, so who sends need not know of it.
final class SecureLine: OutputFilter {
    private struct Line {
        let session: TLSSession
        /// What was sent before the handshake was done.
        var waiting: [UInt8] = []
    }

    private let context: TLSContext
    private let host: String
    private var lines: [ConnectionID: Line] = [:]
    private var room = [UInt8](repeating: 0, count: 80 << 10)

    /// Prepares for connections to one host.
    init(_ context: TLSContext, host: String) {
        self.context = context
        self.host = host
    }

    /// Prepares for a broker, unless its URL asks for no TLS.
    static func make(_ url: BrokerURL) throws(ClientError) -> SecureLine? {
        try context(for: url).map { SecureLine($0, host: url.hostName) }
    }

    /// What the certificate of a broker is checked by; nil for one without TLS.
    ///
    /// - Throws: `ClientError.tls` when there is nothing to check it by.
    static func context(for url: BrokerURL) throws(ClientError) -> TLSContext? {
        guard url.isSecure else { return nil }
        do throws(TLSError) {
            return try TLSContext(authorities: url.authorities.map { .pem($0) } ?? .system)
        } catch {
            throw .tls(error)
        }
    }

    /// Begins the handshake of a connection, and gives its first bytes.
    func begin(_ id: ConnectionID) -> [UInt8] {
        let session = TLSSession(context, host: host)
        lines[id] = Line(session: session)
        var bytes: [UInt8] = []
        session.begin(output: &bytes)
        return bytes
    }

    /// Opens what was read; `own` gets bytes for the broker.
    ///
    /// - Returns: the plaintext, and whether the broker has ended its output behind it.
    func open(
        _ bytes: Span<UInt8>, of id: ConnectionID, own: inout [UInt8]
    ) throws(ClientError) -> (plaintext: [UInt8], hasEnded: Bool) {
        var plaintext: [UInt8] = []
        guard let session = lines[id]?.session else { return (plaintext, true) }
        var cursor = 0
        do throws(TLSError) {
            while let event = try session.nextEvent(
                in: bytes, at: &cursor, into: &room, output: &own)
            {
                switch event {
                case .handshakeDone:
                    let waiting = lines[id]?.waiting ?? []
                    lines[id]?.waiting = []
                    try session.send(waiting.span, output: &own)
                case .received(let byteCount): plaintext += room[..<byteCount]
                case .closed: return (plaintext, true)
                }
            }
        } catch {
            throw .tls(error)
        }
        return (plaintext, false)
    }

    // MARK: OutputFilter

    func seal(_ output: Span<UInt8>, of connection: ConnectionID, into sealed: inout [UInt8]) {
        guard let session = lines[connection]?.session else { return }
        guard session.isOpen else {
            for index in output.indices { lines[connection]?.waiting.append(output[index]) }
            return
        }
        do throws(TLSError) {
            try session.send(output, output: &sealed)
        } catch {
            // It has failed, which the next bytes that are read tell.
            return
        }
    }

    func end(_ connection: ConnectionID, into sealed: inout [UInt8]) {
        lines[connection]?.session.close(output: &sealed)
        forget(connection)
    }

    func forget(_ connection: ConnectionID) {
        lines[connection] = nil
    }
}
