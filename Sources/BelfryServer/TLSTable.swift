import BelfryLoop
import BelfryTLS

/// The TLS sessions of a loop by slot, and what seals their output.
final class TLSTable: OutputFilter {
    /// The certificate that new connections get.
    var context: TLSContext
    /// The room for the plaintext of what is read at once: a read, and the record before it that
    /// had not fully arrived.
    var room = [UInt8](repeating: 0, count: ServerLoop.inputByteCount + (16 << 10))
    private var entries: [(id: ConnectionID, session: TLSSession)?] = []

    init(_ context: TLSContext) {
        self.context = context
    }

    /// Begins a session.
    func admit(_ id: ConnectionID) {
        while entries.count <= Int(id.index) { entries.append(nil) }
        entries[Int(id.index)] = (id, TLSSession(context))
    }

    /// The session of a connection; nil for one that is plain, or has ended.
    func session(of id: ConnectionID) -> TLSSession? {
        let slot = Int(id.index)
        guard slot < entries.count, let entry = entries[slot], entry.id == id else { return nil }
        return entry.session
    }

    // MARK: OutputFilter

    func seal(_ output: Span<UInt8>, of connection: ConnectionID, into sealed: inout [UInt8]) {
        guard let session = session(of: connection) else { return }
        do throws(TLSError) {
            try session.send(output, output: &sealed)
        } catch {
            // It has failed or has not begun, and is closed for that: nobody can read the output.
            return
        }
    }

    func end(_ connection: ConnectionID, into sealed: inout [UInt8]) {
        session(of: connection)?.close(output: &sealed)
        forget(connection)
    }

    func forget(_ connection: ConnectionID) {
        guard session(of: connection) != nil else { return }
        entries[Int(connection.index)] = nil
    }
}
