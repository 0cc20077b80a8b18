internal import BelfryLoop
internal import BelfrySystem
internal import BelfryWebSocket

/// The loop that owns the connection of one center, and all that waits for its answers.
///
/// It lives on a thread of its own. A command comes through the door, a notification leaves through
/// the buffer of its observation; which one, the selector tells, so each observation has its own.
struct ClientLoop: ~Copyable {
    enum Phase {
        /// Nobody has asked for a connection.
        case idle
        /// A connection is being made; the reply is that of the first one.
        case opening(ClientCommand.Reply<Void>?)
        /// Requests can be sent.
        case open
        /// Until the timer, there is no connection.
        case pausing
        /// The observers are being removed, then the connection is closed.
        case removing
        /// The Close is sent.
        case closing
        /// The connection is gone for good.
        case over(ClientError)
    }

    /// A request whose answer has not come.
    struct Pending {
        enum Kind {
            case addObserver(selector: String, ClientCommand.Reply<Registration>?)
            case removeObserver(ClientCommand.Reply<Void>?)
            case post(ClientCommand.Reply<PostReceipt>)
        }

        let kind: Kind
        let deadline: MonotonicTime
    }

    /// An observer of this client.
    struct Observer {
        let wish: ObserverWish
        var registration: Registration?
        /// The greatest number that was delivered, from which a new connection goes on.
        var lastSequence: UInt64?
    }

    var loop: EventLoop
    let door: ClientDoor
    let url: BrokerURL
    let options: ClientOptions
    var phase = Phase.idle
    var connection: ConnectionID?
    var session: BrokerSession?
    /// The observers by their selectors.
    var observers: [[UInt8]: Observer] = [:]
    var pending: [Int: Pending] = [:]
    var lastRequest = 0
    /// The oldest request that may wait, since answers come in any order.
    var oldestRequest = 1
    var requestTimer: TimerID?
    var welcome: Welcome?
    var backOff: BackOff
    var closeReplies: [ClientCommand.Reply<Void>] = []
    /// Whether a ping is out because the broker was silent.
    var isProbing = false
    var random = SystemRandom()
    private var commands: [ClientCommand] = []

    /// What the payload of a timer means.
    enum Timer {
        static let reconnect: UInt64 = 1
        static let requests: UInt64 = 2
    }

    init(
        _ url: BrokerURL, _ options: ClientOptions, door: ClientDoor, kernel: Kernel
    ) throws(SystemCallError) {
        var loop = try EventLoop(LoopConfiguration(), kernel: kernel)
        loop.reportsIdle = false
        try loop.attach(door.mailbox.wake)
        self.loop = loop
        self.url = url
        self.options = options
        self.door = door
        backOff = BackOff(options)
    }

    /// Runs until the center is abandoned.
    mutating func run() throws(SystemCallError) {
        var input = [UInt8](repeating: 0, count: 65_536)
        while !door.isAbandoned {
            let event = try loop.nextEvent(into: &input)
            handle(event, input)
        }
        endObservations(.closedByOwner)
        failPending(.closedByOwner)
    }

    /// Does what one event asks for.
    mutating func handle(_ event: LoopEvent, _ input: [UInt8]) {
        switch event {
        case .connected(let id): if id == connection { sendOpening(id) }
        case .received(let id, let byteCount):
            if id == connection { receive(input, byteCount: byteCount) }
        case .endOfInput(let id): if id == connection { endOfInput() }
        case .closed(let id, let reason): if id == connection { transportClosed(reason) }
        case .deadline(let id): if id == connection { deadlinePassed(id) }
        case .timer(Timer.reconnect): reconnect()
        case .timer(Timer.requests): expireRequests()
        case .mail: takeCommands()
        case .overHighWater, .drained, .accepted, .refused, .timer, .signal, .turnEnds, .idle,
            .waiting:
            break
        }
    }

    // MARK: Commands

    private mutating func takeCommands() {
        door.mailbox.drain(into: &commands)
        for command in commands { take(command) }
        commands.removeAll(keepingCapacity: true)
    }

    private mutating func take(_ command: ClientCommand) {
        switch (command, phase) {
        case (.open(let reply), .idle): connect(reply)
        case (.close(let reply), .over), (.close(let reply), .idle): reply(.success(()))
        case (.close(let reply), _): beginClosing(reply)
        case (.removeObserver(let selector, let reply), _): removeObserver(selector, reply)
        case (.addObserver(let wish, let reply), .open): addObserver(wish, reply)
        case (.post(let name, let object, let userInfo, let reply), .open):
            request(.post(reply)) { id in
                RPCRequest.post(id: id, name: name, object: object, userInfo: userInfo)
            }
        case (_, .over(let error)): command.fail(error)
        case (_, .removing), (_, .closing): command.fail(.closedByOwner)
        case (_, .idle), (_, .opening), (_, .pausing), (.open, .open): command.fail(.notConnected)
        }
    }

    private mutating func addObserver(
        _ wish: ObserverWish, _ reply: @escaping ClientCommand.Reply<Registration>
    ) {
        let key = Array(wish.selector.utf8)
        guard observers[key] == nil else { return reply(.failure(.selectorInUse(wish.selector))) }
        observers[key] = Observer(wish: wish)
        register(wish, since: wish.since, reply)
    }

    mutating func register(
        _ wish: ObserverWish, since: UInt64?, _ reply: ClientCommand.Reply<Registration>?
    ) {
        request(.addObserver(selector: wish.selector, reply)) { id in
            RPCRequest.addObserver(
                id: id, name: wish.name, object: wish.object, selector: wish.selector, since: since)
        }
    }

    /// Without a connection the observer is gone already: it does not outlive its connection.
    private mutating func removeObserver(
        _ selector: String, _ reply: @escaping ClientCommand.Reply<Void>
    ) {
        let observer = observers.removeValue(forKey: Array(selector.utf8))
        observer?.wish.buffer.finish(nil, discarding: true)
        guard case .open = phase, let token = observer?.registration?.token else {
            return reply(.success(()))
        }
        request(.removeObserver(reply)) { RPCRequest.removeObserver(id: $0, token: token) }
    }

    // MARK: Requests

    /// Sends a request, or fails it when too many wait.
    mutating func request(_ kind: Pending.Kind, _ text: (Int) -> [UInt8]) {
        guard pending.count < options.requestLimit else {
            return fail(kind, .tooManyRequests(limit: options.requestLimit))
        }
        lastRequest += 1
        let deadline = loop.now + options.requestTimeout
        pending[lastRequest] = Pending(kind: kind, deadline: deadline)
        if requestTimer == nil { requestTimer = loop.schedule(at: deadline, Timer.requests) }
        send(text(lastRequest))
    }

    func fail(_ kind: Pending.Kind, _ error: ClientError) {
        switch kind {
        case .addObserver(_, let reply): reply?(.failure(error))
        case .removeObserver(let reply): reply?(.failure(error))
        case .post(let reply): reply(.failure(error))
        }
    }

    mutating func failPending(_ error: ClientError) {
        let all = pending.sorted { $0.key < $1.key }
        pending.removeAll()
        oldestRequest = lastRequest + 1
        for (_, request) in all { fail(request.kind, error) }
    }

    /// All wait equally long, so the oldest ones come first.
    private mutating func expireRequests() {
        requestTimer = nil
        while oldestRequest <= lastRequest {
            if let request = pending[oldestRequest] {
                guard request.deadline <= loop.now else {
                    requestTimer = loop.schedule(at: request.deadline, Timer.requests)
                    return
                }
                pending[oldestRequest] = nil
                if case .addObserver(let selector, _) = request.kind {
                    forgetObserver(selector, .timedOut)
                }
                fail(request.kind, .timedOut)
            }
            oldestRequest += 1
        }
    }

    mutating func forgetObserver(_ selector: String, _ error: ClientError) {
        let observer = observers.removeValue(forKey: Array(selector.utf8))
        observer?.wish.buffer.finish(error, discarding: false)
    }

    mutating func endObservations(_ error: ClientError?) {
        let all = observers
        observers.removeAll()
        for observer in all.values {
            observer.wish.buffer.finish(error, discarding: error == nil)
        }
    }
}
