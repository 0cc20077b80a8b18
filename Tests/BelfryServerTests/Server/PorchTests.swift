import BelfryLoop
import BelfrySystem
import Synchronization
import Testing

@testable import BelfryServer

@Suite("The porch: what is answered before the state is restored (decision 55)")
struct PorchTests {
    @Test("livez is 200; readyz is 503 and says how much was read, as it is read")
    func health() throws {
        let progress = StartProgress()
        let broker = try Broker(progress: progress)
        for (percent, text) in [(0, "0.00"), (7, "0.07"), (25, "0.25"), (100, "1.00")] {
            progress.note(percent: percent)
            #expect(try broker.get("/livez").status == 200)
            let answer = try broker.get("/readyz?verbose")
            #expect(answer.status == 503)
            #expect(answer.problem == "restoring")
            #expect(answer.field("retry-after") != nil)
            #expect(answer.json["restored"] == .number(Double(percent) / 100))
            #expect(answer.json["parts"]["restore"] == .text(text))
        }
    }

    @Test(
        "everything else is refused, and its connection closed",
        arguments: ["/metrics", "/", "/v1/observers", "/v1/channels/a", "/v1/events", "/v1/ws"])
    func refused(path: String) throws {
        let broker = try Broker(progress: StartProgress())
        let fields = path.hasSuffix("ws") ? SocketPeer.openingFields : []
        let peer = try broker.http()
        let method = path.hasSuffix("a") ? "POST" : "GET"
        let answer = try peer.request(method, path, fields: fields)
        #expect(answer.status == 503)
        #expect(answer.problem == "restoring")
        #expect(answer.field("retry-after") != nil)
        #expect(peer.peer.sawEndOfOutput)
    }

    @Test("a broker whose state is restored says so")
    func done() throws {
        let parts = try Broker().get("/readyz?verbose").json["parts"]
        #expect(parts["restore"] == "done")
    }

    @Test("how much was read is logged each second, until the start is over")
    func logged() throws {
        let lines = Mutex<[String]>([])
        let progress = StartProgress()
        let log = ServerLog { _, message, fields in
            guard message == "restoring" else { return }
            lines.withLock { $0.append(fields.map { $0.1.description }.joined()) }
        }
        let broker = try Broker(log: log, progress: progress)
        broker.nodes[0].server.armProgress()
        for percent in [25, 50, 75] {
            progress.note(percent: percent)
            try broker.advance(by: .seconds(1))
        }
        progress.finish()
        for _ in 0..<3 { try broker.advance(by: .seconds(1)) }
        #expect(lines.withLock { $0 } == ["0.25", "0.50", "0.75"])
    }

    @Test("listeners go over with whoever waits at them; who came before is answered still")
    func handOver() throws {
        var configuration = ServerConfiguration()
        configuration.listenAddresses = [.loopback(port: 0)]
        let listeners = try Listeners(configuration)
        let progress = StartProgress()
        func loop(_ progress: StartProgress?) throws -> ServerLoop {
            let shared = SharedState(
                mailboxes: try SharedState.makeMailboxes(loopCount: 1), progress: progress)
            var server = try ServerLoop(
                number: 0, listeners.configuration, shared: shared, log: .silent,
                connectionLimit: 10)
            try server.listen(with: listeners, nil)
            return server
        }
        var input = [UInt8](repeating: 0, count: ReadingPass.inputByteCount)
        let question = Array("GET /readyz HTTP/1.1\r\nHost: localhost\r\n\r\n".utf8)
        /// Each event is one that a client has caused already, so the loop does not wait for ever.
        func answer(_ client: Socket, by server: inout ServerLoop) throws -> String {
            _ = try client.write(question.span)
            var room = [UInt8](repeating: 0, count: 4_096)
            while true {
                server.handle(try server.outbox.loop.nextEvent(into: &input), input: input.span)
                guard let count = try client.read(into: &room) else { continue }
                return String(decoding: room[..<count], as: UTF8.self)
            }
        }
        let address = listeners.configuration.listenAddresses[0]
        var porch = try loop(progress)
        let early = try Socket.connect(to: address)
        defer { early.close() }
        while porch.outbox.loop.connectionCount == 0 {
            porch.handle(try porch.outbox.loop.nextEvent(into: &input), input: input.span)
        }
        progress.finish()
        porch.outbox.loop.leaveListeners()
        let late = try Socket.connect(to: address)
        defer { late.close() }
        #expect(try answer(early, by: &porch).hasPrefix("HTTP/1.1 503 "))
        #expect(porch.outbox.counters.connectionsAccepted == 1)
        _ = consume porch
        var server = try loop(nil)
        #expect(try answer(late, by: &server).hasPrefix("HTTP/1.1 200 "))
    }

    @Test("a porch answers on a thread of its own, and leaves when it is told")
    func thread() throws {
        var configuration = ServerConfiguration()
        configuration.listenAddresses = [.loopback(port: 0)]
        let listeners = try Listeners(configuration)
        defer { for socket in listeners.plain { socket.close() } }
        let progress = StartProgress()
        let porch = try Porch(
            at: listeners, nil, progress: progress, log: .silent, connectionLimit: 10)
        porch.leaveListeners()
        #expect(progress.isOver)
        let client = try Socket.connect(to: listeners.configuration.listenAddresses[0])
        defer { client.close() }
        // No loop accepts it any more.
        #expect(try listeners.plain[0].accept() != nil)
    }
}
