import BelfryBytes
import BelfryLoop
import BelfryTLS

/// The TLS sessions of a loop by slot, what seals their output, and the line of handshakes.
final class TLSTable: OutputFilter {
    /// The certificate that new connections get.
    var context: TLSContext
    /// The room for the plaintext of what is read at once: a read, and the record before it that
    /// had not fully arrived.
    var room = [UInt8](repeating: 0, count: ReadingPass.inputByteCount + (16 << 10))
    /// What all sessions keep that are in no handshake.
    private(set) var sessionByteCount = 0
    /// What all handshakes keep, those in line too.
    private(set) var handshakeByteCount = 0

    private var entries: [Entry?] = []
    /// The handshakes in the order in which they began; those that are over stay until their turn.
    private var handshakes = Line<ConnectionID>()
    /// The handshakes that have input, which waits for a share of a turn.
    private var line: [ConnectionID] = []
    private var takesNewest = false
    private let unfinishedTotal: ByteTotal

    /// One session.
    private struct Entry {
        let id: ConnectionID
        let session: TLSSession
        /// What came for its handshake and waits in line.
        var waitingBytes: [UInt8] = []
        var hasBegun = false
        /// What of it is counted as unfinished input, and what of that as a handshake.
        var countedByteCount = 0
        var countedHandshakeByteCount = 0
        /// What is counted of it as an open session.
        var countedSessionByteCount = 0

        var unfinishedByteCount: Int {
            let handshake = session.isOpen ? 0 : session.stage.byteCount
            return handshake + session.partByteCount + waitingBytes.count
        }
    }

    /// What a session costs that nothing whole has come for: itself, its pipe and its entry.
    static let entryByteCount = 400

    init(_ context: TLSContext, unfinishedTotal: ByteTotal) {
        self.context = context
        self.unfinishedTotal = unfinishedTotal
    }

    /// Begins a session.
    func admit(_ id: ConnectionID) {
        while entries.count <= Int(id.index) { entries.append(nil) }
        if let old = entries[Int(id.index)] { forget(old.id) }
        entries[Int(id.index)] = Entry(id: id, session: TLSSession(context))
        sessionByteCount += Self.entryByteCount
    }

    /// The session of a connection; nil for one that is plain, or has ended.
    func session(of id: ConnectionID) -> TLSSession? {
        slot(of: id).flatMap { entries[$0]?.session }
    }

    private func slot(of id: ConnectionID) -> Int? {
        let slot = Int(id.index)
        guard slot < entries.count, let entry = entries[slot], entry.id == id else { return nil }
        return slot
    }

    // MARK: Handshakes

    /// Whether a handshake waits for a share of a turn.
    var hasLine: Bool { !line.isEmpty }

    /// Lets what came for a handshake wait in line.
    func lineUp(_ id: ConnectionID, _ bytes: Span<UInt8>) {
        guard let slot = slot(of: id) else { return }
        if entries[slot]?.hasBegun == false {
            entries[slot]?.hasBegun = true
            // Those in front that are over go, so that the line does not grow with each connection.
            _ = oldestHandshake()
            handshakes.append(id)
        }
        if entries[slot]?.waitingBytes.isEmpty == true { line.append(id) }
        entries[slot]?.waitingBytes.append(bytes)
        recount(id)
    }

    /// Takes the next handshake out of the line, and what came for it.
    ///
    /// It is the oldest and the newest by turns: so the oldest goes on, and whoever comes while very
    /// many wait does not wait for all of them.
    func takeNextInLine() -> (id: ConnectionID, bytes: [UInt8])? {
        while !line.isEmpty {
            takesNewest.toggle()
            let id = takesNewest ? line.removeLast() : line.removeFirst()
            guard let slot = slot(of: id), let bytes = entries[slot]?.waitingBytes, !bytes.isEmpty
            else { continue }
            entries[slot]?.waitingBytes = []
            return (id, bytes)
        }
        return nil
    }

    /// The handshake that began first of those that are not done.
    func oldestHandshake() -> ConnectionID? {
        while let id = handshakes.first {
            if let session = session(of: id), !session.isOpen { return id }
            _ = handshakes.removeFirst()
        }
        return nil
    }

    /// What a session keeps of input that has not fully arrived: a handshake is all of it.
    func unfinishedByteCount(of id: ConnectionID) -> Int {
        slot(of: id).flatMap { entries[$0]?.unfinishedByteCount } ?? 0
    }

    /// Counts what a session keeps now among what all connections keep.
    func recount(_ id: ConnectionID) {
        guard let slot = slot(of: id), let entry = entries[slot] else { return }
        let byteCount = entry.unfinishedByteCount
        count(at: slot, byteCount, ofHandshake: entry.session.isOpen ? 0 : byteCount)
        if entry.session.isOpen, entry.countedSessionByteCount == 0 {
            entries[slot]?.countedSessionByteCount = TLSSession.Stage.open.byteCount
            sessionByteCount += TLSSession.Stage.open.byteCount
        }
    }

    /// Counts nothing any more of a connection that is being closed.
    func discount(_ id: ConnectionID) {
        if let slot = slot(of: id) { count(at: slot, 0, ofHandshake: 0) }
    }

    private func count(at slot: Int, _ byteCount: Int, ofHandshake handshakeByteCount: Int) {
        guard let entry = entries[slot] else { return }
        unfinishedTotal.add(byteCount - entry.countedByteCount)
        self.handshakeByteCount += handshakeByteCount - entry.countedHandshakeByteCount
        entries[slot]?.countedByteCount = byteCount
        entries[slot]?.countedHandshakeByteCount = handshakeByteCount
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
        guard let slot = slot(of: connection), let entry = entries[slot] else { return }
        count(at: slot, 0, ofHandshake: 0)
        sessionByteCount -= Self.entryByteCount + entry.countedSessionByteCount
        entries[slot] = nil
    }
}
