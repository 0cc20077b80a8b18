import BelfryCluster
import BelfrySystem

/// A journal with a connection to a running server, moved by hand.
final class EngineLink {
    let journal: NATSJournal
    private var socket: Socket?
    private var unsent: [UInt8] = []
    private var buffer = [UInt8](repeating: 0, count: 1 << 18)
    /// Until when no other server is tried.
    private var retryAt = MonotonicTime(nanoseconds: 0)
    private var random = SystemRandom()

    init(_ settings: NATSSettings) throws {
        journal = try NATSJournal(settings)
    }

    deinit { socket?.close() }

    var isConnected: Bool { socket != nil }

    func connect(to address: SocketAddress) throws {
        close()
        socket = try Socket.connect(to: address)
        retryAt = MonotonicTime.now() + .seconds(3)
        journal.didConnect(random: (random.next(), random.next()))
    }

    /// Whether the connection is lost or does not become ready, so that another one is due.
    var isOverdue: Bool {
        guard socket != nil else { return true }
        return journal.progress != .ready && MonotonicTime.now() >= retryAt
    }

    private func close() {
        socket?.close()
        socket = nil
        unsent = []
        journal.didDisconnect()
    }

    /// Sends and receives what can be without waiting; a connection that fails is closed.
    ///
    /// - Returns: whether anything was.
    func move() -> Bool {
        guard let socket else { return false }
        unsent += journal.takeOutput()
        var hasMoved = false
        do {
            while !unsent.isEmpty {
                let bytes = unsent
                guard let count = try socket.write(bytes.span) else { break }
                unsent = Array(bytes[count...])
                hasMoved = true
            }
            while let count = try socket.read(into: &buffer) {
                take(count)
                hasMoved = true
                if count == 0 {
                    close()
                    break
                }
            }
        } catch {
            close()
        }
        return hasMoved
    }

    private func take(_ count: Int) {
        let bytes = Array(buffer[..<count])
        journal.receive(bytes.span)
    }

    /// Publishes as any client may.
    func send(_ payload: String, to subject: String, headers: String? = nil) {
        let count = payload.utf8.count
        if let headers {
            let headerCount = headers.utf8.count
            unsent += "HPUB \(subject) \(headerCount) \(headerCount + count)\r\n\(headers)".utf8
        } else {
            unsent += "PUB \(subject) \(count)\r\n".utf8
        }
        unsent += "\(payload)\r\n".utf8
    }
}
