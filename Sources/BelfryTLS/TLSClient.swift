/// The client's end of one TLS connection, as its user sees it: plaintext in both directions.
///
/// The user may send before the handshake is done: the plaintext waits until then.
public final class TLSClient {
    private let session: TLSSession
    /// Plaintext that waits for the end of the handshake.
    private var waiting: [UInt8] = []

    /// Begins a connection.
    ///
    /// - Parameters:
    ///   - context: the authorities that it trusts, and its own certificate.
    ///   - host: the name or the address of the server, which its certificate must be for.
    ///   - output: gets the first bytes for the server appended.
    public init(_ context: TLSContext, host: String, output: inout [UInt8]) {
        session = TLSSession(context, host: host)
        session.begin(output: &output)
    }

    /// Decrypts received bytes.
    ///
    /// - Parameters:
    ///   - bytes: the bytes from the server.
    ///   - room: the buffer for plaintext; 16 KiB or more serve well.
    ///   - output: gets bytes for the server appended, also when an error is thrown.
    /// - Returns: the plaintext, and whether the server has ended its output behind it.
    /// - Throws: the error that ended the connection.
    public func open(
        _ bytes: Span<UInt8>, into room: inout [UInt8], output: inout [UInt8]
    ) throws(TLSError) -> (plaintext: [UInt8], hasEnded: Bool) {
        var plaintext: [UInt8] = []
        var cursor = 0
        while let event = try session.nextEvent(
            in: bytes, at: &cursor, into: &room, output: &output)
        {
            switch event {
            case .handshakeDone:
                let early = waiting
                waiting = []
                try session.send(early.span, output: &output)
            case .received(let byteCount): plaintext += room[..<byteCount]
            case .closed: return (plaintext, true)
            }
        }
        return (plaintext, false)
    }

    /// Seals plaintext for the server, once the handshake is done.
    ///
    /// A connection that has failed seals nothing; the next read throws the error.
    public func seal(_ plaintext: Span<UInt8>, output: inout [UInt8]) {
        guard session.isOpen else {
            for index in plaintext.indices { waiting.append(plaintext[index]) }
            return
        }
        do throws(TLSError) {
            try session.send(plaintext, output: &output)
        } catch {
            return
        }
    }

    /// Ends the output: appends close_notify, unless the connection never opened or has failed.
    public func close(output: inout [UInt8]) { session.close(output: &output) }
}
