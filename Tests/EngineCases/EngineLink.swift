import BelfryCluster
import BelfrySystem

/// A journal with a connection to a running server, moved by hand.
final class EngineLink {
    let journal: NATSJournal
    private let socket: Socket
    private var unsent: [UInt8] = []
    private var buffer = [UInt8](repeating: 0, count: 1 << 18)

    init(_ settings: NATSSettings, to address: SocketAddress) throws {
        journal = try NATSJournal(settings)
        socket = try Socket.connect(to: address)
        var random = SystemRandom()
        journal.didConnect(random: (random.next(), random.next()))
    }

    deinit { socket.close() }

    /// Sends and receives what can be without waiting.
    ///
    /// - Returns: whether anything was.
    func move() throws -> Bool {
        unsent += journal.takeOutput()
        var hasMoved = false
        while !unsent.isEmpty {
            let bytes = unsent
            guard let count = try socket.write(bytes.span) else { break }
            unsent = Array(bytes[count...])
            hasMoved = true
        }
        while let count = try socket.read(into: &buffer), count > 0 {
            let bytes = buffer.span
            journal.receive(bytes.extracting(first: count))
            hasMoved = true
        }
        return hasMoved
    }

    /// Publishes bytes as any client may.
    func send(raw text: String) { unsent += text.utf8 }
}
