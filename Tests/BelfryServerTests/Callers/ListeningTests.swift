import BelfryLoop
import BelfrySystem
import Testing

@testable import BelfryServer

@Suite("Listening, and whom the connections of a listener go to")
struct ListeningTests {
    /// A loop of a broker on the real kernel.
    private static func loop(
        _ configuration: ServerConfiguration, number: Int = 0,
        _ mailboxes: [LoopMailbox<LoopMessage>]
    ) throws -> ServerLoop {
        try ServerLoop(
            number: number, configuration, shared: SharedState(mailboxes: mailboxes), log: .silent,
            connectionLimit: 10)
    }

    @Test("a second broker cannot have the address of the first", arguments: [false, true])
    func taken(isSecure: Bool) throws {
        func listen(at address: SocketAddress) throws -> Listeners {
            var configuration = ServerConfiguration()
            configuration.listenAddresses = isSecure ? [] : [address]
            configuration.tlsListenAddresses = isSecure ? [address] : []
            return try Listeners(configuration)
        }
        let first = try listen(at: .loopback(port: 0))
        let socket = try #require((first.plain + first.secure).first)
        defer { socket.close() }
        let real = first.configuration
        let address = try #require((real.listenAddresses + real.tlsListenAddresses).first)
        let error = #expect(throws: StartError.self) { _ = try listen(at: address) }
        guard case .listen(address, let cause) = error else {
            Issue.record("\(error.map { "\($0)" } ?? "no error")")
            return
        }
        #expect(cause.description.contains("Address already in use"))
    }

    @Test("the first loop's listeners give each loop as many connections, with their listener")
    func turns() throws {
        var configuration = ServerConfiguration()
        configuration.loopCount = 2
        configuration.listenAddresses = [.loopback(port: 0), .loopback(port: 0)]
        let mailboxes = try SharedState.makeMailboxes(loopCount: 2)
        var first = try Self.loop(configuration, mailboxes)
        first.outbox.loop.sharesArrivals = true
        let listeners = try Listeners(configuration)
        try first.listen(with: listeners, nil)
        let addresses = listeners.configuration.listenAddresses
        var second = try Self.loop(configuration, number: 1, mailboxes)
        second.shareListeners(nil)
        let clients = try (0..<8).map { try Socket.connect(to: addresses[$0 % 2]) }
        defer { for client in clients { client.close() } }
        var input = [UInt8](repeating: 0, count: ReadingPass.inputByteCount)
        // Each event is one that a client has caused already, so neither loop waits for ever.
        while first.outbox.loop.connectionCount < 4 || first.callers.entrance.nextSeat != 0 {
            first.handle(try first.outbox.loop.nextEvent(into: &input), input: input.span)
        }
        while second.outbox.loop.connectionCount < 4 {
            second.handle(try second.outbox.loop.nextEvent(into: &input), input: input.span)
        }
        #expect(first.outbox.counters.connectionsAccepted == 4)
        #expect(second.outbox.counters.connectionsAccepted == 4)
        #expect(
            first.outbox.loop.connectionCount + second.outbox.loop.connectionCount == clients.count)
    }

    @Test("a loop that is full refuses what it is given")
    func full() throws {
        var configuration = ServerConfiguration()
        configuration.loopCount = 2
        configuration.listenAddresses = [.loopback(port: 0)]
        let mailboxes = try SharedState.makeMailboxes(loopCount: 2)
        var first = try Self.loop(configuration, mailboxes)
        first.outbox.loop.sharesArrivals = true
        first.callers.entrance.nextSeat = 1
        let listeners = try Listeners(configuration)
        try first.listen(with: listeners, nil)
        let address = listeners.configuration.listenAddresses[0]
        var second = try ServerLoop(
            number: 1, configuration, shared: SharedState(mailboxes: mailboxes), log: .silent,
            connectionLimit: 1)
        second.shareListeners(nil)
        let clients = try (0..<3).map { _ in try Socket.connect(to: address) }
        defer { for client in clients { client.close() } }
        var input = [UInt8](repeating: 0, count: ReadingPass.inputByteCount)
        while first.callers.entrance.nextSeat != 0 || first.outbox.loop.connectionCount == 0 {
            first.handle(try first.outbox.loop.nextEvent(into: &input), input: input.span)
        }
        while second.outbox.counters.connectionsRefused == 0 {
            second.handle(try second.outbox.loop.nextEvent(into: &input), input: input.span)
        }
        #expect(second.outbox.loop.connectionCount == 1)
    }

    @Test("more connections than the descriptors allow are refused, with what to do")
    func descriptors() throws {
        var configuration = ServerConfiguration()
        configuration.listenAddresses = [.loopback(port: 0)]
        configuration.loopCount = 2
        #expect(try configuration.connectionLimit(descriptorCount: 1_000) == 884)
        #expect(try configuration.connectionLimit(descriptorCount: 10) == 1)
        let room = 1_000 - configuration.ownDescriptorCount
        configuration.connectionLimit = room
        #expect(try configuration.connectionLimit(descriptorCount: 1_000) == room)
        configuration.connectionLimit = room + 1
        let error = #expect(throws: StartError.self) {
            try configuration.connectionLimit(descriptorCount: 1_000)
        }
        guard case .configuration(let sentence) = error else {
            Issue.record("\(error.map { "\($0)" } ?? "no error")")
            return
        }
        for part in ["--max-connections \(room + 1) needs 1001 ", "at most \(room),", "ulimit -n"] {
            #expect(sentence.contains(part), "\(part)")
        }
    }
}
