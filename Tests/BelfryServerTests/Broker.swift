import BelfryAccess
import BelfryCenter
import BelfryHTTP
import BelfryLoop
import BelfrySystem
import BelfryTLS
import Testing

@testable import BelfryServer

/// A broker on embedded kernels, whose loops one thread cranks in turn.
///
/// Nothing happens but by a call: time passes with `advance` only, and `crank` runs all loops until
/// none of them has anything left to do.
final class Broker {
    let shared: SharedState
    let nodes: [Node]
    /// Runs this broker and all that share its log to rest; nil for a broker of its own.
    var crankTogether: (() throws -> Void)?

    init(
        loopCount: Int = 1, connectionLimit: Int = 900, beginning: Beginning = Beginning(),
        certificate: TLSContext? = nil, log: ServerLog = .silent, verifier: TokenVerifier? = nil,
        progress: StartProgress? = nil, lateSeed: UInt64? = LateSequencer.seed,
        sequencer: SequencerMaker? = nil,
        _ adjust: (inout ServerConfiguration) -> Void = { _ in }
    ) throws {
        var configuration = ServerConfiguration()
        configuration.listenAddresses = [.loopback(port: 0)]
        configuration.loopCount = loopCount
        adjust(&configuration)
        let mailboxes = try SharedState.makeMailboxes(loopCount: loopCount)
        let shared = SharedState(
            mailboxes: mailboxes, beginning: beginning, verifier: verifier, progress: progress)
        self.shared = shared
        nodes = try (0..<loopCount).map { number in
            try Node(
                number: number, configuration, certificate, shared: shared,
                connectionLimit: connectionLimit, log: log,
                sequencer: { now in
                    if let sequencer { return sequencer.make(now) }
                    return lateSeed.map { LateSequencer(seed: $0, loop: number, shared) }
                })
        }
    }

    /// Runs all loops until nothing is left to do.
    func crank() throws {
        if let crankTogether { return try crankTogether() }
        while try crankAlone() {}
    }

    /// Runs each loop until it has nothing left to do.
    ///
    /// - Returns: whether there was anything to do.
    func crankAlone() throws -> Bool {
        var isBusy = false
        for node in nodes where try node.crank() { isBusy = true }
        return isBusy
    }

    /// Moves the clocks of all loops on while none of them runs, and runs them.
    func pause(for duration: Duration) throws {
        for node in nodes { node.kernel.pause(for: duration) }
        try crank()
    }

    /// Moves the clocks of all loops on, and runs them.
    func advance(by duration: Duration) throws {
        for node in nodes { node.kernel.advance(by: duration) }
        try crank()
    }

    /// Sends the broker a signal, as the first loop gets it.
    func signal(_ number: Int32) throws {
        let nothing: [UInt8] = []
        nodes[0].server.handle(.signal(number), input: nothing.span)
        try crank()
    }

    /// Connects a peer that speaks HTTP, of this user or of another one.
    func http(
        loop: Int = 0, from address: String? = nil,
        owner: SocketOwner = .user(SocketOwner.ownUser)
    ) throws -> HTTPPeer {
        let address = address.flatMap { SocketAddress("\($0):4711") }
        let connection = nodes[loop].kernel.connect(from: address, owner: owner)
        let peer = HTTPPeer(broker: self, peer: connection)
        try crank()
        return peer
    }

    /// Opens a WebSocket and reads its welcome.
    func webSocket(
        _ path: String = "/v1/ws", loop: Int = 0, fields: [String] = []
    ) throws -> SocketPeer {
        try SocketPeer(http: http(loop: loop), path: path, fields: fields)
    }

    /// Opens an event stream.
    func events(
        _ target: String = "/v1/events", loop: Int = 0, fields: [String] = []
    ) throws -> StreamPeer {
        try StreamPeer(http: http(loop: loop), target: target, fields: fields)
    }

    /// Makes one request on a connection of its own.
    func request(
        _ method: String, _ target: String, _ body: String? = nil, fields: [String] = [],
        loop: Int = 0
    ) throws -> Response {
        try http(loop: loop).request(method, target, body, fields: fields)
    }

    func get(_ target: String, fields: [String] = [], loop: Int = 0) throws -> Response {
        try request("GET", target, fields: fields, loop: loop)
    }

    /// Posts a whole notification, an array of them, or anything else.
    func post(_ body: String, target: String = "/v1/notifications", loop: Int = 0) throws
        -> Response
    {
        try request(
            "POST", target, body, fields: ["Content-Type: application/json"], loop: loop)
    }

    /// Posts a notification of a name and an object, and gives its receipt.
    @discardableResult
    func post(name: String, object: String? = nil, loop: Int = 0) throws -> Value {
        let query = object.map { "?object=\($0)" } ?? ""
        let response = try request("POST", "/v1/channels/\(name)\(query)", "", loop: loop)
        try #require(response.status == 200)
        return response.json
    }
}

/// One loop of a broker with its kernel.
final class Node {
    let kernel = EmbeddedKernel()
    var server: ServerLoop
    private var input = [UInt8](repeating: 0, count: ReadingPass.inputByteCount)
    var hasStopped: Bool { server.hasStopped }

    /// Where a center of this loop is.
    func position(of center: String) -> Int? {
        server.host.centers.position(of: Array(center.utf8))
    }

    /// How many of a kind a center has that it can forget.
    func trimmableCount(of kind: KeptKind, at position: Int) -> Int {
        server.host.centers.trimmableCount(of: kind, at: position)
    }
    /// Runs before each event is handled: the clock may move within a turn.
    var beforeEvent: ((LoopEvent) -> Void)?
    /// The event that the last turn ended with, which is the first one of the next turn.
    private(set) var ahead: LoopEvent?

    init(
        number: Int, _ configuration: ServerConfiguration, _ certificate: TLSContext?,
        shared: SharedState, connectionLimit: Int, log: ServerLog,
        sequencer: (MonotonicTime) -> (any Sequencer)?
    ) throws {
        server = try ServerLoop(
            number: number, configuration, shared: shared, log: log,
            connectionLimit: connectionLimit, kernel: .embedded(kernel),
            sequencer: sequencer(kernel.now))
        for address in configuration.listenAddresses {
            _ = try server.outbox.loop.listen(on: address, refusal: server.outbox.refusalBytes())
        }
        if let certificate {
            server.speakSecurely(with: certificate)
            _ = try server.outbox.loop.listen(on: .loopback(port: 0))
        }
    }

    /// Runs one turn, its flush included.
    ///
    /// - Returns: whether there was anything to do.
    @discardableResult
    func turn() throws -> Bool {
        var isBusy = false
        while !server.hasStopped {
            let event = try ahead.take() ?? server.outbox.loop.nextEvent(into: &input)
            if event == .waiting { return isBusy }
            isBusy = true
            beforeEvent?(event)
            server.handle(event, input: input.span)
            if event == .turnEnds, !server.hasStopped {
                ahead = try server.outbox.loop.nextEvent(into: &input)
                return true
            }
        }
        return isBusy
    }

    /// Runs one turn, in which a signal comes when all callouts are over.
    func turn(endingWith signal: Int32) throws {
        while true {
            let event = try ahead.take() ?? server.outbox.loop.nextEvent(into: &input)
            try #require(event != .waiting, "there is a turn to end")
            if event == .turnEnds { server.handle(.signal(signal), input: input.span) }
            server.handle(event, input: input.span)
            if event == .turnEnds { return ahead = try server.outbox.loop.nextEvent(into: &input) }
        }
    }

    /// Runs turns until nothing is left to do.
    func crank() throws -> Bool {
        var isBusy = false
        while try turn() { isBusy = true }
        return isBusy
    }
}
