import BelfryLoop
import BelfryTLS
import TestCertificates
import Testing

@testable import BelfryServer

/// A peer that speaks TLS with a broker.
final class SecurePeer {
    let broker: Broker
    let peer: EmbeddedPeer
    let session: TLSSession
    /// The plaintext that has arrived and was not taken.
    private var plaintext: [UInt8] = []
    /// Whether the broker has ended its output with close_notify.
    private(set) var sawEnd = false

    /// Connects to the listener for TLS and, unless a test wants to do it, shakes hands.
    init(
        _ broker: Broker, _ client: TLSContext, loop: Int = 0,
        resuming resumption: TLSResumption? = nil, shakesHands: Bool = true
    ) throws {
        self.broker = broker
        peer = broker.nodes[loop].kernel.connect(listener: 1)
        session = TLSSession(client, host: "localhost", resuming: resumption)
        try broker.crank()
        guard shakesHands else { return }
        try shakeHands()
        try #require(session.isOpen)
    }

    /// The bytes that begin the handshake.
    func hello() -> [UInt8] {
        var bytes: [UInt8] = []
        session.begin(output: &bytes)
        return bytes
    }

    func shakeHands() throws {
        peer.send(hello())
        try broker.crank()
        try read()
        try broker.crank()
    }

    /// Puts text on its way without running the broker.
    func put(_ text: String) throws {
        var bytes: [UInt8] = []
        try session.send(Array(text.utf8).span, output: &bytes)
        peer.send(bytes)
    }

    /// Puts the end of the session on its way.
    func putEnd() {
        var bytes: [UInt8] = []
        session.close(output: &bytes)
        peer.send(bytes)
    }

    /// Sends text, and gives the plaintext that comes back.
    func exchange(_ text: String) throws -> String {
        try put(text)
        try broker.crank()
        return try take()
    }

    /// Takes the plaintext that has arrived.
    func take() throws -> String {
        try read()
        defer { plaintext = [] }
        return String(decoding: plaintext, as: UTF8.self)
    }

    private func read() throws {
        let bytes = peer.takeReceived()
        var room = [UInt8](repeating: 0, count: 65_536)
        var (cursor, output): (Int, [UInt8]) = (0, [])
        while let event = try session.nextEvent(
            in: bytes.span, at: &cursor, into: &room, output: &output)
        {
            switch event {
            case .handshakeDone: break
            case .received(let count): plaintext += room[..<count]
            case .closed: sawEnd = true
            }
        }
        peer.send(output)
    }
}
