internal import BelfryLoop
internal import BelfrySystem

/// The life of the connection of one center, on a thread of its own.
///
/// It moves between the phases, and joins the three things that a connection needs: the line to the
/// broker, the calls that are open on it, and the registrations that are restored on the next one.
/// A command comes through the door, a notification leaves through the buffer of its observation.
/// The selector says which one, so each observation has its own.
struct ClientLoop: ~Copyable {
    enum Phase {
        /// No connection was asked for.
        case idle
        /// A connection is being made; the reply is that of the first one.
        case opening(ClientCommand.Reply<Void>?)
        /// Requests can be sent, from this time on.
        case open(since: MonotonicTime)
        /// Until the timer, there is no connection.
        case pausing
        /// The observers are being removed, then the connection is closed.
        case removing([ClientCommand.Reply<Void>])
        /// The Close is sent.
        case closing([ClientCommand.Reply<Void>])
        /// The connection is gone for good.
        case over(ClientError)
    }

    var line: BrokerLine
    var calls: CallTable
    var registrations = RegistrationTable()
    /// The writes that the next connection makes again.
    var lasting = LastingWrites()
    /// The time at which the last connection was lost.
    var lostAt: MonotonicTime?
    let door: ClientDoor
    /// The broker, with the token of this connection.
    var url: BrokerURL
    /// Returns the token of each connection, if that of the URL is not meant.
    let token: TokenSource?
    /// The attempt to connect that waits for a token: its number, and the task of the token.
    var tokenAttempt: (number: Int, task: Task<Void, Never>)?
    var lastAttempt = 0
    let options: ClientOptions
    var phase = Phase.idle
    /// The welcome of this connection.
    var welcome: Welcome?
    /// How long the broker wants to be left alone.
    var announcedPause: Duration?
    var backOff: BackOff
    /// The stream on which the owner learns that the connection is away, and that it is back.
    let states: AsyncStream<ConnectionState>.Continuation?
    var random = SystemRandom()
    private var commands: [ClientCommand] = []

    init(
        _ url: BrokerURL, _ options: ClientOptions, _ line: SecureLine? = nil, door: ClientDoor,
        states: AsyncStream<ConnectionState>.Continuation? = nil, token: TokenSource? = nil,
        kernel: Kernel
    ) throws(SystemCallError) {
        var loop = try EventLoop(LoopConfiguration(), kernel: kernel)
        loop.reportsIdle = false
        try loop.attach(door.mailbox.wake)
        self.line = BrokerLine(loop, options, line)
        calls = CallTable(countLimit: options.requestLimit)
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
            let event = try line.loop.nextEvent(into: &input)
            handle(event, input)
        }
        cancelTokenAttempt()
        registrations.removeAll(.closedByOwner)
        failCalls(.closedByOwner)
        failWaiting(.closedByOwner)
        states?.finish()
    }

    /// Handles one event.
    mutating func handle(_ event: LoopEvent, _ input: [UInt8]) {
        switch event {
        case .connected(let id): if id == line.connection { line.openSession(url) }
        case .received(let id, let byteCount):
            if id == line.connection { receive(input.span.extracting(0..<byteCount)) }
        case .endOfInput(let id): if id == line.connection { endInput() }
        case .closed(let id, let reason): if id == line.connection { transportClosed(reason) }
        case .deadline(let id): if id == line.connection { deadlinePassed(id) }
        case .timer(ClientTimer.reconnect): reconnect()
        case .timer(ClientTimer.calls): expireCalls()
        case .timer(ClientTimer.lookup): lookForAddress()
        case .mail: drainCommands()
        case .endAhead, .overHighWater, .drained, .accepted, .refused, .arrived, .timer, .signal,
            .turnEnds,
            .idle,
            .waiting:
            break
        }
    }

    // MARK: Commands

    private mutating func drainCommands() {
        door.mailbox.drain(into: &commands)
        for command in commands { execute(command) }
        commands.removeAll(keepingCapacity: true)
    }

    private mutating func execute(_ command: ClientCommand) {
        switch (command, phase) {
        case (.open(let reply), .idle): connect(reply)
        case (.token(let attempt, let outcome), _): useToken(of: attempt, outcome)
        case (.close(let reply), .over), (.close(let reply), .idle): reply(.success(()))
        case (.close(let reply), _): beginClosing(reply)
        case (.removeObserver(let selector, let reply), _): removeObserver(selector, reply)
        case (.answer(let answer, let reply), _):
            var isOpen = false
            if case .open = phase { isOpen = true }
            if let text = registrations.pay(answer, isOpen: isOpen) { line.send(text) }
            reply(.success(()))
        case (.addObserver(let wish, let reply), .open): addObserver(wish, reply)
        case (.post(let wish, let reply), .open):
            call(
                .post(wish.options.onDisconnect ? wish : nil, reply), within: wish.options.timeout,
                longerBy: wish.options.wait ?? .zero
            ) {
                RPCRequest.post(id: $0, wish)
            }
        case (.setSuspended(let isSuspended, let reply), .open):
            call(.setSuspended(isSuspended, reply)) {
                RPCRequest.setSuspended(id: $0, isSuspended)
            }
        case (.call(let method, let params, let reply), .open):
            let params = method == "dequeue" ? lasting.dequeue(params) : params
            call(.method(lasting.write(method: method, params: params), reply)) {
                RPCRequest.call(id: $0, method: method, params: params)
            }
        case (_, .over(let error)): command.fail(error)
        case (_, .removing), (_, .closing): command.fail(.closedByOwner)
        case (_, .opening(nil)), (_, .pausing):
            let deadline = line.loop.now + (command.timeout ?? options.requestTimeout)
            calls.enqueue(command, until: deadline, &line.loop)
        case (_, .idle), (_, .opening), (.open, .open): command.fail(.notConnected)
        }
    }

    private mutating func addObserver(
        _ wish: ObserverWish, _ reply: ClientCommand.Reply<Registration>
    ) {
        do throws(ClientError) {
            try registrations.add(wish)
        } catch {
            return reply(.failure(error))
        }
        register(wish, since: wish.since, reply)
    }

    mutating func register(
        _ wish: ObserverWish, since: Beginning?, _ reply: ClientCommand.Reply<Registration>?
    ) {
        call(
            .addObserver(selector: wish.selector, reply),
            within: reply == nil ? nil : wish.options.timeout
        ) {
            RPCRequest.addObserver(id: $0, wish, since: since)
        }
    }

    /// Removes an observer here, and at the broker if there is a connection.
    ///
    /// Without one, an observer of lifetime `connection` is gone already, and one of lifetime
    /// `token` is removed when the session is resumed.
    private mutating func removeObserver(
        _ selector: String, _ reply: ClientCommand.Reply<Void>
    ) {
        let token = registrations.remove(selector)
        guard case .open = phase, let token else { return reply(.success(())) }
        call(.removeObserver(reply)) { RPCRequest.removeObserver(id: $0, token: token) }
    }

    /// Executes the commands that waited for a connection.
    mutating func executeWaiting() {
        for command in calls.releaseWaiting() where command.isWanted { execute(command) }
    }

    /// Fails the commands that wait, as no connection will come any more.
    mutating func failWaiting(_ error: ClientError) {
        for command in calls.releaseWaiting() { command.fail(error) }
    }

    // MARK: Calls

    /// Calls a method of the broker, or fails the call when too many are open.
    mutating func call(
        _ call: CallTable.Call, within timeout: Duration? = nil, longerBy wait: Duration = .zero,
        _ text: (Int) -> [UInt8]
    ) {
        let deadline = line.loop.now + (timeout ?? options.requestTimeout) + wait
        guard let number = calls.open(call, until: deadline, &line.loop) else { return }
        line.send(text(number))
    }

    /// Fails all calls, as their connection has ended.
    ///
    /// An observer that a task asked for on this connection is forgotten with its call; those that
    /// were registered before stay, for the next connection.
    mutating func failCalls(_ error: ClientError) {
        for call in calls.closeAll() {
            if case .addObserver(let selector, _?) = call { registrations.forget(selector, error) }
            call.fail(error)
        }
    }

    private mutating func expireCalls() {
        for call in calls.expire(&line.loop) {
            if case .addObserver(let selector, _) = call {
                registrations.forget(selector, .timedOut)
            }
            call.fail(.timedOut)
        }
    }
}
