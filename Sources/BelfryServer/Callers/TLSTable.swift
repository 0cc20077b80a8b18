import BelfryBytes
import BelfryLoop
import BelfryTLS

/// The TLS sessions of a loop by slot, which seal its output, and the line of handshakes.
final class TLSTable: OutputFilter {
    /// The certificate for new connections.
    var context: TLSContext
    /// The room for the plaintext of one read, with the incomplete record before it.
    var room = [UInt8](repeating: 0, count: ReadingPass.inputByteCount + (16 << 10))
    /// The memory of all sessions without their handshakes.
    private(set) var sessionByteCount = 0
    /// The memory of all handshakes, those in line, too.
    private(set) var handshakeByteCount = 0

    private var entries: [Entry?] = []
    /// The handshakes in the order in which they began; finished ones stay until they are first.
    private var handshakes = Line<ConnectionID>()
    /// The handshakes whose input waits for a share of a turn.
    private var line: [ConnectionID] = []
    private var takesNewest = false
    private let unfinishedTotal: ByteTotal

    /// One session.
    private struct Entry {
        let id: ConnectionID
        let session: TLSSession
        /// Input of the handshake that waits in line.
        var waitingBytes: [UInt8] = []
        var hasBegun = false
        /// The bytes counted as unfinished input, and those of them counted as a handshake.
        var countedByteCount = 0
        var countedHandshakeByteCount = 0
        /// The bytes counted as an open session.
        var countedSessionByteCount = 0

        var unfinishedByteCount: Int {
            let handshake = session.isOpen ? 0 : session.stage.byteCount
            return handshake + session.partByteCount + waitingBytes.count
        }
    }

    /// The cost of a session before a whole record has come: itself, its pipe and its entry.
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

    /// The session of a connection; nil for a plain one, or one that has ended.
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

    /// Puts the input of a handshake in the line.
    func lineUp(_ id: ConnectionID, _ bytes: Span<UInt8>) {
        guard let slot = slot(of: id) else { return }
        if entries[slot]?.hasBegun == false {
            entries[slot]?.hasBegun = true
            // Finished ones at the front go, so that the line does not grow with each connection.
            _ = oldestHandshake()
            handshakes.append(id)
        }
        if entries[slot]?.waitingBytes.isEmpty == true { line.append(id) }
        entries[slot]?.waitingBytes.append(bytes)
        recount(id)
    }

    /// Takes the next handshake out of the line, with its input.
    ///
    /// It is the oldest and the newest by turns: so the oldest proceeds, and a new one does not
    /// wait for all when very many wait.
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

    /// The oldest unfinished handshake.
    func oldestHandshake() -> ConnectionID? {
        while let id = handshakes.first {
            if let session = session(of: id), !session.isOpen { return id }
            _ = handshakes.removeFirst()
        }
        return nil
    }

    /// The unfinished input of a session; a handshake is unfinished as a whole.
    func unfinishedByteCount(of id: ConnectionID) -> Int {
        slot(of: id).flatMap { entries[$0]?.unfinishedByteCount } ?? 0
    }

    /// Counts the present memory of a session in the totals.
    func recount(_ id: ConnectionID) {
        guard let slot = slot(of: id), let entry = entries[slot] else { return }
        let byteCount = entry.unfinishedByteCount
        count(at: slot, byteCount, ofHandshake: entry.session.isOpen ? 0 : byteCount)
        if entry.session.isOpen, entry.countedSessionByteCount == 0 {
            entries[slot]?.countedSessionByteCount = TLSSession.Stage.open.byteCount
            sessionByteCount += TLSSession.Stage.open.byteCount
        }
    }

    /// Uncounts a connection that is being closed.
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
            // It has failed or has not begun, and closes for that: the output is unreadable.
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
