internal import BelfryLoop
internal import BelfrySystem
internal import BelfryWebSocket

/// The loop that owns the connection of one center, and all that waits for its answers.
///
/// It lives on a thread of its own. A command comes through the door, a notification leaves through
/// the buffer of its observation; which one, the selector tells, so each observation has its own.
struct ClientLoop: ~Copyable {
    enum Phase {
        /// No connection was asked for.
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
            case resume
            case setSuspended(Bool, ClientCommand.Reply<Void>?)
            case call(ClientCommand.Reply<[UInt8]>)
        }

        let kind: Kind
        let deadline: MonotonicTime
    }

    var loop: EventLoop
    let line: SecureLine?
    let door: ClientDoor
    /// The broker, with the token of this connection.
    var url: BrokerURL
    /// Answers the token of each connection, if that of the URL is not meant.
    let token: TokenSource?
    /// The attempt to connect that waits for a token: its number, and the task of the token.
    var tokenAttempt: (number: Int, task: Task<Void, Never>)?
    var lastAttempt = 0
    let options: ClientOptions
    var phase = Phase.idle
    /// The connection that is being opened, and until when its host may be looked up.
    var call = EndpointCall()
    var lookupEnd = MonotonicTime(nanoseconds: 0)
    var connection: ConnectionID?
    var session: BrokerSession?
    /// The observers by their selectors.
    var observers: [[UInt8]: Observer] = [:]
    var pending: [Int: Pending] = [:]
    /// The abandoned registrations: observers that the broker confirms now are removed.
    var abandoned: Set<Int> = []
    var lastRequest = 0
    /// The timer of the request that has to be answered first.
    var requestTimer: (id: TimerID, deadline: MonotonicTime)?
    var welcome: Welcome?
    /// The session whose observers, leases and farewells these are.
    var clientSession: String?
    /// The epoch that the numbers of the observers are of.
    var epoch: String?
    /// The commands that came without a connection, each with the time until which it may wait.
    private var waiting: [(command: ClientCommand, deadline: MonotonicTime)] = []
    /// The greatest number of a notification that came live on this connection: all observers
    /// have everything below it, because the numbers of one client never decrease.
    var liveSequence: UInt64 = 0
    /// The sequence number of the last connection that received something.
    var seenSequence: UInt64 = 0
    /// Whether the client asked to be suspended.
    var isSuspended = false
    var openedAt: MonotonicTime?
    /// How long the broker wants to be left alone.
    var announcedPause: Duration?
    var backOff: BackOff
    var closeReplies: [ClientCommand.Reply<Void>] = []
    /// Whether a ping is out because the broker was silent.
    var isProbing = false
    /// Where the owner is told that the connection is away, and that it is back.
    let states: AsyncStream<ConnectionState>.Continuation?
    var random = SystemRandom()
    private var commands: [ClientCommand] = []

    /// The meanings of the payload of a timer.
    enum Timer {
        static let reconnect: UInt64 = 1
        static let requests: UInt64 = 2
        static let lookup: UInt64 = 3
    }

    init(
        _ url: BrokerURL, _ options: ClientOptions, _ line: SecureLine? = nil, door: ClientDoor,
        states: AsyncStream<ConnectionState>.Continuation? = nil, token: TokenSource? = nil,
        kernel: Kernel
    ) throws(SystemCallError) {
        var loop = try EventLoop(LoopConfiguration(), kernel: kernel)
        loop.reportsIdle = false
        try loop.attach(door.mailbox.wake)
        loop.filter = line
        self.line = line
        self.loop = loop
        self.url = url
        self.token = token
        self.options = options
        self.door = door
        self.states = states
        backOff = BackOff(options)
    }

    /// Runs until the center is abandoned.
    mutating func run() throws(SystemCallError) {
        var input = [UInt8](repeating: 0, count: 65_536)
        while !door.isAbandoned {
            let event = try loop.nextEvent(into: &input)
            handle(event, input)
        }
        forgetTokenAttempt()
        endObservations(.closedByOwner)
        failPending(.closedByOwner)
        failWaiting(.closedByOwner)
        states?.finish()
    }

    /// Handles one event.
    mutating func handle(_ event: LoopEvent, _ input: [UInt8]) {
        switch event {
        case .connected(let id): if id == connection { sendOpening(id) }
        case .received(let id, let byteCount):
            if id == connection { receive(input.span.extracting(0..<byteCount)) }
        case .endOfInput(let id): if id == connection { endOfInput() }
        case .closed(let id, let reason): if id == connection { transportClosed(reason) }
        case .deadline(let id): if id == connection { deadlinePassed(id) }
        case .timer(Timer.reconnect): reconnect()
        case .timer(Timer.requests): expireRequests()
        case .timer(Timer.lookup): lookForAddress()
        case .mail: takeCommands()
        case .endAhead, .overHighWater, .drained, .accepted, .refused, .arrived, .timer, .signal,
            .turnEnds,
            .idle,
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
        case (.token(let attempt, let outcome), _): takeToken(of: attempt, outcome)
        case (.close(let reply), .over), (.close(let reply), .idle): reply(.success(()))
        case (.close(let reply), _): beginClosing(reply)
        case (.removeObserver(let selector, let reply), _): removeObserver(selector, reply)
        case (.answer(let answer, let reply), _):
            self.answer(answer)
            reply(.success(()))
        case (.addObserver(let wish, let reply), .open): addObserver(wish, reply)
        case (.post(let wish, let reply), .open):
            request(
                .post(reply), within: wish.options.timeout, longerBy: wish.options.wait ?? .zero
            ) { RPCRequest.post(id: $0, wish) }
        case (.setSuspended(let isSuspended, let reply), .open):
            request(.setSuspended(isSuspended, reply)) {
                RPCRequest.setSuspended(id: $0, isSuspended)
            }
        case (.call(let method, let params, let reply), .open):
            request(.call(reply)) { RPCRequest.call(id: $0, method: method, params: params) }
        case (_, .over(let error)): command.fail(error)
        case (_, .removing), (_, .closing): command.fail(.closedByOwner)
        case (_, .opening(nil)), (_, .pausing): keep(command)
        case (_, .idle), (_, .opening), (.open, .open): command.fail(.notConnected)
        }
    }

    /// Keeps a command for the next connection, as long as it may take.
    private mutating func keep(_ command: ClientCommand) {
        if waiting.count >= options.requestLimit {
            // Those that were cancelled meanwhile wait for nothing.
            waiting.removeAll { !$0.command.isWanted }
        }
        guard waiting.count < options.requestLimit else {
            return command.fail(.tooManyRequests(limit: options.requestLimit))
        }
        let deadline = loop.now + (command.timeout ?? options.requestTimeout)
        waiting.append((command, deadline))
        awaitDeadline(deadline)
    }

    /// Performs the commands that waited for a connection.
    mutating func takeWaiting() {
        let commands = waiting
        waiting.removeAll()
        for waiter in commands where waiter.command.isWanted { take(waiter.command) }
    }

    /// Fails the commands that wait, as no connection will come any more.
    mutating func failWaiting(_ error: ClientError) {
        let commands = waiting
        waiting.removeAll()
        for waiter in commands { waiter.command.fail(error) }
    }

    // MARK: Requests

    /// Sends a request, or fails it when too many wait.
    mutating func request(
        _ kind: Pending.Kind, within timeout: Duration? = nil, longerBy wait: Duration = .zero,
        _ text: (Int) -> [UInt8]
    ) {
        guard pending.count < options.requestLimit else {
            return fail(kind, .tooManyRequests(limit: options.requestLimit))
        }
        lastRequest += 1
        let deadline = loop.now + (timeout ?? options.requestTimeout) + wait
        pending[lastRequest] = Pending(kind: kind, deadline: deadline)
        awaitDeadline(deadline)
        send(text(lastRequest))
    }

    func fail(_ kind: Pending.Kind, _ error: ClientError) {
        switch kind {
        case .addObserver(_, let reply): reply?(.failure(error))
        case .removeObserver(let reply): reply?(.failure(error))
        case .post(let reply): reply(.failure(error))
        case .resume: break
        case .setSuspended(_, let reply): reply?(.failure(error))
        case .call(let reply): reply(.failure(error))
        }
    }

    mutating func failPending(_ error: ClientError) {
        let all = pending.sorted { $0.key < $1.key }
        pending.removeAll()
        for (_, request) in all { fail(request.kind, error) }
    }

    private mutating func awaitDeadline(_ deadline: MonotonicTime) {
        if let requestTimer {
            guard deadline < requestTimer.deadline else { return }
            loop.cancel(requestTimer.id)
        }
        requestTimer = (loop.schedule(at: deadline, Timer.requests), deadline)
    }

    private mutating func expireRequests() {
        requestTimer = nil
        let now = loop.now
        let late = waiting.filter { $0.deadline <= now }
        waiting.removeAll { $0.deadline <= now }
        for waiter in late { waiter.command.fail(.timedOut) }
        for id in pending.filter({ $0.value.deadline <= now }).keys.sorted() {
            guard let request = pending.removeValue(forKey: id) else { continue }
            if case .addObserver(let selector, _) = request.kind {
                forgetObserver(selector, .timedOut)
                if abandoned.count < options.requestLimit { abandoned.insert(id) }
            }
            fail(request.kind, .timedOut)
        }
        let deadlines = pending.values.map(\.deadline) + waiting.map(\.deadline)
        if let next = deadlines.min() { awaitDeadline(next) }
    }
}
