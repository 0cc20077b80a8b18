import BelfryAccess
import BelfryCenter
import BelfryHTTP
import BelfryLoop
import BelfrySystem
import BelfryTLS
import BelfryWebSocket
import BelfryWire
import Synchronization

/// One event loop of the broker with its connections and the centers that live on it.
///
/// The path of a post: bytes are read, `receive` hands them to the connection's protocol, a request
/// becomes a ``Submission``, `submit` performs it here or sends it to the loop of its center,
/// `perform` applies a command, `fanOut` refers each connection to the encoded frames, and the loop
/// writes each socket once at the end of the turn.
struct ServerLoop: ~Copyable {
    let number: Int
    var configuration: ServerConfiguration
    let shared: SharedState
    let log: ServerLog
    var originPolicy: OriginPolicy
    var hostPolicy: HostPolicy
    var proxyPolicy: ProxyPolicy
    /// Whether there is any limit of rates.
    var hasRates: Bool
    var anonymous: Caller
    var keyring: Keyring
    /// The callers of tokens that were verified lately.
    var verdicts = VerdictCache()
    /// The connections that wait for a verdict, by the digest of their token.
    var waitingVerdicts: [TokenDigest: [ConnectionID]] = [:]
    var timeouts: Timeouts
    let requestReader: RequestReader
    let rpcReader: RPCReader

    var loop: EventLoop
    /// The TLS sessions; nil where no listener speaks TLS.
    var tls: TLSTable?
    /// Listeners from this number on speak TLS.
    var firstSecureListener = Int.max
    var random = SystemRandom()
    /// The connections by slot of the loop.
    var connections = ConnectionTable()
    var centers: CenterTable
    var counters = Counters()
    /// Whether nothing new is taken: the broker stops, or has not restored its state.
    var takesNothing: Bool
    var stop = StopSequence()
    /// The limits that are reached now.
    var reachedLimits = ReachedLimits()
    var isLimitTimerSet = false
    /// The lines that clients cause.
    var seldomLines = SeldomLines()
    /// The answers that wait for the store.
    var promises = PromiseTable()
    /// The blocks of numbers that the store was asked for, by ticket.
    var requestedNumbers = Line<(ticket: UInt64, numbers: NumberRequest)>()
    /// The replies to posts that wait for their observers, by the name of the command.
    var waitingReplies: [CommandID: WaitingReply] = [:]
    /// The posts that this turn has completed.
    var completions: [Completed] = []
    /// What waits for a turn that has time for it.
    var postponed = Line<Postponed>()
    /// The turn in which a connection ended last.
    var departureTurn: UInt64 = .max
    /// The requests that wait at mailboxes.
    var polls = PollTable()
    /// The center that posted asap entries last.
    var lastTurnEnd = 0
    /// The center for which time has passed last.
    var lastTimePassed = 0
    /// Whether the timer is set that looks for centers that were left, and how far it has come.
    var isEndTimerSet = false
    var endCursor: Int?
    /// The timer of the centers, and the time that it is armed for.
    var centerTimer: TimerID?
    var armedDeadline = Int64.max
    /// Before this time the store is let go on with what it has.
    var centersRestUntil = Int64.min
    /// How much all centers may keep of each kind.
    var keptLimits: KeptMemory
    /// How much one principal or address may have of each kind.
    var shares: ShareLimits
    /// Whether requests may come from addresses that are counted.
    var countsAddresses: Bool
    /// The kinds of which this loop made all centers, or those of an owner, keep more than they may.
    var trims: Set<Trim> = []
    /// Whether the timer is set with which that goes on.
    var isTrimTimerSet = false
    var unsentWatch: ShareWatch
    var unfinishedWatch: ShareWatch
    /// What the centers of this loop keep, as far as it was accounted for.
    var centersByteCount = 0
    /// Tells when memory can be given back.
    var peakWatch = PeakWatch()

    /// Storage that is used again by each command, request, message, frame and answer.
    var effects = Effects()
    /// Whether everything in `effects` is on its way.
    var isSpread = true
    var frames = FrameCache()
    /// The connections that get one frame, while they are gathered.
    var targets: [ConnectionID] = []
    var exchange: Exchange
    var reader: MessageReader
    var compression = Compression()
    /// What had been inflated when the turn began.
    var inflatedBeforeTurn = 0
    var answerContent: [UInt8] = []
    var answerLocation: [UInt8] = []
    var frameText: [UInt8] = []
    var deliveryWriter = DeliveryWriter()
    /// The center whose command `effects` belong to.
    var lastCenter = 0
    /// The host name that was allowed last.
    var allowedHost: [UInt8] = []
    /// The value of the Date field, and the second that it is for.
    var date: (second: Int64, text: [UInt8]) = (-1, [])
    /// The head of the usual answer, for the same second.
    var jsonHead: PreparedJSONHead
    /// That of a post that waits.
    var acceptedHead: PreparedJSONHead

    /// Connections whose input waits for the next turn.
    var throttled: [ConnectionID] = []
    /// The turn in which the last of them was told to wait.
    var throttleTurn: UInt64 = .max
    /// Whether the timer that lets them go on is set.
    var isThrottleTimerSet = false
    /// The unfinished input of all connections.
    let unfinishedTotal = ByteTotal()
    /// The metrics as they were told in this turn; empty until somebody asks.
    var metricsText: [UInt8] = []
    /// How many rows may still be looked at in this turn.
    var scanBudget = Self.turnScanLimit
    /// All that was done, in requests, about.
    var workTotal = 0
    /// How often the posts of this callout may be delivered, about, as far as it has come.
    var calloutDeliveryCount = 0
    /// What was done since somebody looked how long the turn has taken.
    var workCount = 0
    /// The loop that gets the next connection of the listeners that all loops share.
    var nextSeat = 0
    /// What goes to other loops at the end of the turn, by loop.
    var outbound: [Outbound]

    /// What one other loop gets at the end of the turn.
    struct Outbound {
        var submissions: [Submission] = []
        var output = RemoteOutput()
        /// Its observers that get one frame, while they are gathered.
        var row = DeliveryRow()
    }

    init(
        number: Int, _ configuration: ServerConfiguration, shared: SharedState, log: ServerLog,
        connectionLimit: Int, kernel: Kernel = .linux
    ) throws(SystemCallError) {
        var settings = LoopConfiguration()
        settings.connectionLimit = connectionLimit
        settings.highWaterByteCount = configuration.highWaterByteCount
        settings.lowWaterByteCount = configuration.lowWaterByteCount
        settings.turnWorkLimit = configuration.turnWorkLimit
        var loop = try EventLoop(settings, kernel: kernel)
        // No lease runs while the state is restored.
        if let time = shared.restoredAt { loop.noteMissed(since: time) }
        try loop.attach(shared.mailboxes[number].wake)
        // Idle moments are told as soon as a center waits for one.
        loop.reportsIdle = false
        self.loop = loop
        self.number = number
        self.configuration = configuration
        self.shared = shared
        self.log = log
        originPolicy = OriginPolicy(configuration)
        hostPolicy = HostPolicy(configuration)
        proxyPolicy = ProxyPolicy(trusted: configuration.trustedProxies)
        hasRates = configuration.hasRates
        shared.rates.adopt(configuration)
        keyring = configuration.keyring ?? Keyring()
        anonymous = Caller(configuration)
        timeouts = Timeouts(configuration)
        keptLimits = KeptMemory(limitedBy: configuration)
        shares = ShareLimits(
            configuration, connectionLimit: connectionLimit * configuration.loopCount)
        unsentWatch = ShareWatch(share: shares.leastUnsent)
        unfinishedWatch = ShareWatch(share: shares.leastUnfinished)
        countsAddresses = shares.address != nil && !configuration.hasOnlyLoopbackClients
        requestReader = RequestReader(limits: configuration.wireLimits)
        rpcReader = RPCReader(limits: configuration.wireLimits)
        centers = CenterTable(
            limits: Self.centerLimits(configuration, shared), seed: shared.hashSeed,
            incarnation: shared.incarnation, loop: number, keepsChanges: shared.store != nil)
        exchange = Exchange(limits: Self.httpLimits(configuration))
        reader = MessageReader(
            role: .server,
            limits: MessageLimits(messageByteLimit: configuration.messageByteLimit))
        let noDate = HTTPDate.bytes(secondsSince1970: 0)
        jsonHead = PreparedJSONHead(status: 200, date: noDate.span)
        acceptedHead = PreparedJSONHead(status: 202, date: noDate.span)
        takesNothing = shared.progress != nil
        outbound = (0..<configuration.loopCount).map { _ in Outbound() }
        takeCenters()
        if shared.home(of: RoutedPath.defaultCenter) == number,
            centers.position(of: RoutedPath.defaultCenter) == nil
        {
            makeDefaultCenter()
        }
    }

    /// Takes the centers of this loop that the store has.
    private mutating func takeCenters() {
        for center in shared.takeCenters(for: number) {
            let position = centers.take(center, at: commandTime)
            assignOwners(at: position)
            shared.centerCount.add(1, ordering: .relaxed)
            shared.observerCount.add(centers[position].observerCount, ordering: .relaxed)
        }
        // What they hold, wait for and owe is found out at the end of the first turn.
        if centers.count > 0 { loop.takeAnotherTurn() }
        watchCenters()
    }

    /// Makes the center that always exists, before anybody can look.
    private mutating func makeDefaultCenter() {
        shared.centerCount.add(1, ordering: .relaxed)
        let epoch = random.hexadecimal(digitCount: 12)
        _ = centers.make(RoutedPath.defaultCenter, epoch: epoch, time: commandTime)
    }

    /// Accepts the connections of listeners.
    ///
    /// Who is refused at once is told so, but not where it would take a handshake.
    mutating func listen(
        with listeners: Listeners, _ certificate: TLSContext?
    ) throws(SystemCallError) {
        for socket in listeners.plain { try loop.listen(with: socket, refusal: refusalBytes()) }
        guard let certificate else { return }
        speakSecurely(with: certificate)
        for socket in listeners.secure { try loop.listen(with: socket) }
    }

    /// Serves the connections of the first loop's listeners, which are those of the configuration.
    mutating func shareListeners(_ certificate: TLSContext?) {
        for _ in configuration.listenAddresses { loop.shareListener(refusal: refusalBytes()) }
        guard let certificate else { return }
        speakSecurely(with: certificate)
        for _ in configuration.tlsListenAddresses { loop.shareListener() }
    }

    /// Derives again what follows from a configuration that has changed.
    mutating func adoptConfiguration() {
        originPolicy = OriginPolicy(configuration)
        hostPolicy = HostPolicy(configuration)
        proxyPolicy = ProxyPolicy(trusted: configuration.trustedProxies)
        hasRates = configuration.hasRates
        shared.rates.adopt(configuration)
        anonymous = Caller(configuration)
        timeouts = Timeouts(configuration)
        allowedHost = []
        exchange = Exchange(limits: Self.httpLimits(configuration))
        renewReader(isDebug: true)
        centers.limits = Self.centerLimits(configuration, shared)
        keptLimits = KeptMemory(limitedBy: configuration)
        shares = ShareLimits(configuration, connectionLimit: shares.connectionLimit)
        unsentWatch = ShareWatch(share: shares.leastUnsent)
        unfinishedWatch = ShareWatch(share: shares.leastUnfinished)
        countsAddresses = shares.address != nil && !configuration.hasOnlyLoopbackClients
    }

    /// The limits of each center: whether anything lasts is for the broker to know.
    private static func centerLimits(
        _ configuration: ServerConfiguration, _ shared: SharedState
    ) -> CenterLimits {
        var limits = configuration.centerLimits
        limits.isDurable = shared.store != nil
        return limits
    }

    static func httpLimits(_ configuration: ServerConfiguration) -> HTTPLimits {
        var limits = HTTPLimits()
        limits.bodyByteLimit = configuration.bodyByteLimit
        limits.requestLineByteLimit = configuration.requestLineByteLimit
        limits.fieldLineByteLimit = configuration.fieldLineByteLimit
        limits.fieldCountLimit = configuration.fieldCountLimit
        // A line and a field of the greatest length fit into a head.
        limits.headByteLimit = max(
            limits.headByteLimit,
            configuration.requestLineByteLimit + 2 * configuration.fieldLineByteLimit)
        return limits
    }

    /// The output of one connection in one turn after which its input waits, in bytes.
    static let turnOutputByteLimit = 64 << 10

    /// The bytes that all messages of a turn may become before the rest waits for the next turn:
    /// that is 20 ms of work, and what other connections wait for it.
    static let turnInflatedByteLimit = 4 << 20

    /// A throttled connection goes on once no more than so many bytes wait for its socket.
    static let roomByteCount = 16 << 10

    /// The room for what is read at once.
    static let inputByteCount = 64 << 10

    /// Runs until the broker has stopped.
    mutating func run() throws(SystemCallError) {
        var input = [UInt8](repeating: 0, count: Self.inputByteCount)
        while !stop.isOver {
            let event = try loop.nextEvent(into: &input)
            handle(event, input: input.span)
        }
    }

    /// Handles one event; `input` begins with the bytes that were received.
    mutating func handle(_ event: LoopEvent, input: Span<UInt8>) {
        switch event {
        case .accepted(let id, let listener):
            accept(id, isSecure: listener >= firstSecureListener)
        case .refused(let id, let listener):
            refuseConnection(id, isSecure: listener >= firstSecureListener)
        case .received(let id, let byteCount) where tls == nil:
            receiveAndCount(id, input.extracting(0..<byteCount))
        case .received(let id, let byteCount): receiveSealed(id, input.extracting(0..<byteCount))
        case .arrived: placeArrival()
        case .endOfInput(let id): endSealedInput(id)
        case .overHighWater(let id): meetHighWater(id)
        case .drained(let id): meetRoom(id)
        case .closed(let id, _): forget(id)
        case .deadline(let id): meetDeadline(id)
        case .mail: readMail()
        case .signal(let signal): handleSignal(signal)
        case .timer(let payload): meetTimer(LoopTimer(rawValue: payload) ?? .stop)
        case .turnEnds: endTurn()
        case .idle: meetIdle()
        case .connected, .waiting: break
        }
        switch event {
        case .overHighWater, .drained, .closed, .idle:
            // These come after the end of a turn.
            if hasTurnWork { loop.takeAnotherTurn() }
        case .accepted, .refused, .arrived, .received, .endOfInput, .deadline, .mail, .signal,
            .timer, .turnEnds, .connected, .waiting:
            break
        }
    }

    /// The value of the Date field.
    mutating func dateText() -> [UInt8] {
        renewDate()
        return date.text
    }

    /// Makes the Date field and the head of the usual answer, once a second.
    mutating func renewDate() {
        let second = loop.wallNow.milliseconds / 1_000
        if date.second == second { return }
        date = (second, HTTPDate.bytes(secondsSince1970: Int(second)))
        jsonHead = PreparedJSONHead(status: 200, date: date.text.span)
        acceptedHead = PreparedJSONHead(status: 202, date: date.text.span)
    }

    /// The time that commands of this turn carry: what ends with time in a center does not end in a
    /// pause (decision 63).
    @inline(__always)
    var commandTime: CommandTime {
        CommandTime(
            wallMilliseconds: loop.wallNow.milliseconds,
            monotonicNanoseconds: loop.attendedNanoseconds)
    }
}

extension OriginPolicy {
    /// The policy that a configuration asks for.
    init(_ configuration: ServerConfiguration) {
        self.init(
            allowed: configuration.allowedOrigins, allowsLoopback: configuration.isLoopbackOnly)
    }
}
