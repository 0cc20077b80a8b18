import BelfryLoop
import BelfrySystem
import BelfryTLS

/// One event loop of the broker with its connections and the centers that live on it.
///
/// The path of a post: the event loop reads bytes, `read` has the callers read requests out of
/// them, the host of the centers performs each and writes the answer, and `react` applies the items
/// of connections. The event loop writes each socket once at the end of the turn.
struct ServerLoop: ~Copyable {
    /// The event loop, its output, and the state that both halves share.
    var outbox: Outbox
    /// The connections and their protocols.
    var callers: Callers
    /// The centers.
    var host: CenterHost
    /// The connection to the engine of the cluster; nil without one.
    var engine: EngineLine?
    /// The monitor of the engine's servers; nil without monitoring ports.
    var monitor: EngineMonitor?
    /// The reason why the loop has ended by itself.
    var failure: StartError?
    var stop = StopSequence()
    /// The watch that decides when memory is given back.
    var peakWatch = PeakWatch()
    /// The text of the metrics in this turn; empty until a request needs it.
    var metricsText: [UInt8] = []

    init(
        number: Int, _ configuration: ServerConfiguration, shared: SharedState, log: ServerLog,
        connectionLimit: Int, kernel: Kernel = .linux, sequencer: (any Sequencer)? = nil,
        engine: EngineLine? = nil, monitor: EngineMonitor? = nil
    ) throws(SystemCallError) {
        self.engine = engine
        self.monitor = monitor
        outbox = try Outbox(
            number: number, configuration, shared: shared, log: log,
            connectionLimit: connectionLimit, kernel: kernel)
        let unfinishedTotal = ByteTotal()
        callers = Callers(
            configuration, shared: shared, shares: outbox.shares,
            unfinishedTotal: unfinishedTotal)
        host = CenterHost(
            configuration, shared: shared, loop: number, unfinishedTotal: unfinishedTotal,
            sequencer: sequencer)
        host.takeCenters(&outbox)
        beginLog()
        if number == 0, shared.progress == nil { noteHistory() }
    }

    /// Accepts the connections of listeners.
    ///
    /// Refused connections get an answer at once, except where that would take a handshake.
    mutating func listen(
        with listeners: Listeners, _ certificate: TLSContext?
    ) throws(SystemCallError) {
        callers.gate.prepareLocality(outbox)
        for socket in listeners.plain {
            try outbox.loop.listen(with: socket, refusal: outbox.refusalBytes())
        }
        guard let certificate else { return }
        speakSecurely(with: certificate)
        for socket in listeners.secure { try outbox.loop.listen(with: socket) }
    }

    /// Serves the connections of the first loop's listeners, by the addresses of the configuration.
    mutating func shareListeners(_ certificate: TLSContext?) {
        callers.gate.prepareLocality(outbox)
        for _ in outbox.configuration.listenAddresses {
            outbox.loop.shareListener(refusal: outbox.refusalBytes())
        }
        guard let certificate else { return }
        speakSecurely(with: certificate)
        for _ in outbox.configuration.tlsListenAddresses { outbox.loop.shareListener() }
    }

    /// Uses TLS on the connections of the listeners that are added from now on.
    mutating func speakSecurely(with certificate: TLSContext) {
        callers.entrance.speakSecurely(
            with: certificate, unfinishedTotal: callers.connections.unfinishedTotal, &outbox)
    }

    /// Runs until the broker has stopped.
    mutating func run() throws(SystemCallError) {
        var input = [UInt8](repeating: 0, count: ReadingPass.inputByteCount)
        while !hasStopped {
            let event = try outbox.loop.nextEvent(into: &input)
            handle(event, input: input.span)
        }
    }

    /// Whether the loop has ended.
    var hasStopped: Bool { outbox.life == .over }

    /// Handles one event; `input` begins with the bytes that were received.
    mutating func handle(_ event: LoopEvent, input: Span<UInt8>) {
        if engine != nil, takeFromEngine(event, input: input) { return }
        switch event {
        case .accepted(let id, let listener): callers.accept(id, listener: listener, &outbox)
        case .refused(let id, let listener):
            callers.entrance.refuse(id, listener: listener, &outbox)
        case .received(let id, let byteCount) where callers.entrance.tls == nil:
            receive(id, input.extracting(0..<byteCount))
        case .received(let id, let byteCount): receiveSealed(id, input.extracting(0..<byteCount))
        case .arrived:
            if let own = callers.entrance.placeArrival(&outbox) { callers.admit(own, &outbox) }
        case .endOfInput(let id):
            callers.endInput(id, &outbox)
            react()
        case .endAhead(let id):
            callers.connections.noteEndAhead(of: id, &outbox)
            react()
        case .overHighWater(let id):
            callers.connections.meetHighWater(id, &outbox)
            reactAfterTurn()
        case .drained(let id):
            callers.connections.meetRoom(id, &outbox)
            reactAfterTurn()
        case .closed(let id, _):
            callers.connections.forget(id, &outbox)
            reactAfterTurn()
        case .deadline(let id):
            callers.meetDeadline(id, &outbox)
            react()
        case .mail: readMail()
        case .signal(let signal):
            handleSignal(signal)
            react()
        case .timer(let payload):
            meetTimer(LoopTimer(rawValue: payload) ?? .stop)
            react()
        case .turnEnds: endTurn()
        case .idle:
            host.meetIdle(&outbox)
            reactAfterTurn()
        case .connected, .waiting: break
        }
    }

    /// Performs the consequences of an event after the end of a turn.
    private mutating func reactAfterTurn() {
        react()
        if hasTurnWork { outbox.loop.takeAnotherTurn() }
    }
}
