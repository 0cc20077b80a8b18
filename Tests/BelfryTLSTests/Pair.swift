import BelfryTLS
import Testing

/// A client and a server whose bytes go from one to the other in memory.
final class Pair {
    let client: TLSSession
    let server: TLSSession
    /// The bytes that each end has written, and the other one has not got.
    var toServer: [UInt8] = []
    var toClient: [UInt8] = []
    /// The plaintext that each end has got.
    var serverGot: [UInt8] = []
    var clientGot: [UInt8] = []
    var serverEvents: [TLSEvent] = []
    var clientEvents: [TLSEvent] = []
    /// The sizes of the pieces in which bytes travel.
    var pieceByteCount = Int.max
    var roomByteCount = 16_384

    init(
        _ server: TLSContext, _ client: TLSContext, host: String? = "localhost",
        resuming resumption: TLSResumption? = nil
    ) {
        self.server = TLSSession(server)
        self.client = TLSSession(client, host: host, resuming: resumption)
        self.client.begin(output: &toServer)
    }

    /// Carries bytes until no end has any, or throws the error of one end.
    func run() throws {
        while !toServer.isEmpty || !toClient.isEmpty {
            try carryToServer()
            try carryToClient()
        }
    }

    func carryToServer() throws {
        while !toServer.isEmpty {
            let piece = Array(toServer.prefix(pieceByteCount))
            toServer.removeFirst(piece.count)
            try Self.feed(
                piece, server, roomByteCount, output: &toClient, got: &serverGot,
                events: &serverEvents)
        }
    }

    func carryToClient() throws {
        while !toClient.isEmpty {
            let piece = Array(toClient.prefix(pieceByteCount))
            toClient.removeFirst(piece.count)
            try Self.feed(
                piece, client, roomByteCount, output: &toServer, got: &clientGot,
                events: &clientEvents)
        }
    }

    /// Feeds bytes to one end.
    static func feed(
        _ bytes: [UInt8], _ session: TLSSession, _ roomByteCount: Int, output: inout [UInt8],
        got: inout [UInt8], events: inout [TLSEvent]
    ) throws(TLSError) {
        var room = [UInt8](repeating: 0, count: roomByteCount)
        var cursor = 0
        while let event = try session.nextEvent(
            in: bytes.span, at: &cursor, into: &room, output: &output)
        {
            events.append(event)
            if case .received(let count) = event { got += room[..<count] }
        }
    }

    func sendFromServer(_ text: String) throws {
        let bytes = Array(text.utf8)
        try server.send(bytes.span, output: &toClient)
    }

    func sendFromClient(_ text: String) throws {
        let bytes = Array(text.utf8)
        try client.send(bytes.span, output: &toServer)
    }
}
