internal import BelfryLoop
internal import BelfryTLS

/// The TLS sessions of a client's connections: one, and the one before it while it closes.
final class SecureLine: OutputFilter {
    private let context: TLSContext
    private let host: String
    private var lines: [ConnectionID: TLSClient] = [:]
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

    /// Makes the context that checks the certificate of a broker; nil for one without TLS.
    ///
    /// - Throws: `ClientError.tls` when there are no authorities to check it with.
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
        var bytes: [UInt8] = []
        lines[id] = TLSClient(context, host: host, output: &bytes)
        return bytes
    }

    /// Decrypts received bytes; `own` gets bytes for the broker.
    ///
    /// - Returns: the plaintext, and whether the broker has ended its output behind it.
    func open(
        _ bytes: Span<UInt8>, of id: ConnectionID, own: inout [UInt8]
    ) throws(ClientError) -> (plaintext: [UInt8], hasEnded: Bool) {
        guard let line = lines[id] else { return ([], true) }
        do throws(TLSError) {
            return try line.open(bytes, into: &room, output: &own)
        } catch {
            throw .tls(error)
        }
    }

    // MARK: OutputFilter

    func seal(_ output: Span<UInt8>, of connection: ConnectionID, into sealed: inout [UInt8]) {
        lines[connection]?.seal(output, output: &sealed)
    }

    func end(_ connection: ConnectionID, into sealed: inout [UInt8]) {
        lines[connection]?.close(output: &sealed)
        forget(connection)
    }

    func forget(_ connection: ConnectionID) {
        lines[connection] = nil
    }
}
