import BelfryCenter
import BelfryHTTP
import BelfryLoop
import BelfrySystem
import BelfryWebSocket
import BelfryWire

// What one connection may cost in a turn, and what unfinished input may cost in all.

extension ServerLoop {
    /// The work of a request that looks through tables, in requests.
    private static let workOfLooking = 16
    /// After how many requests it is looked how long the turn has taken.
    private static let workBetweenLooks = 16

    /// How many deliveries are as much work as a request.
    static let deliveriesOfWork = 16
    /// How many rows that a look goes through are as much work as a request.
    private static let rowsOfWork = 64
    /// After how much work for one read its connection lets others go first.
    private static let workOfMuch = 64

    /// Counts the work of a look through so many rows, or of putting them in order.
    mutating func countLook(through rowCount: Int = 0) {
        let work = Self.workOfLooking + rowCount / Self.rowsOfWork
        workCount += work
        workTotal &+= work
    }

    /// Does the work of one read, and notes whether it was much.
    mutating func receiveAndCount(_ id: ConnectionID, _ bytes: Span<UInt8>) {
        let before = workTotal
        receive(id, bytes)
        if workTotal &- before >= Self.workOfMuch { loop.letOthersGoFirst(id) }
    }

    /// A batch must not be delivered more often than this in all, unless it is one post.
    ///
    /// - Throws: 413, which asks for smaller batches.
    mutating func boundDeliveries(
        of requests: [PostRequest], center name: [UInt8]
    ) throws(Problem) {
        guard let position = centers.position(of: name) else { return }
        for (place, request) in requests.enumerated() {
            let count = centers[position].observerBound(of: request.content)
            let isFirst = place == 0 && calloutDeliveryCount == 0
            calloutDeliveryCount += count
            guard isFirst || calloutDeliveryCount <= configuration.batchDeliveryLimit else {
                throw Problem(
                    .contentTooLarge,
                    """
                    The notifications of this batch may be delivered more than \
                    \(configuration.batchDeliveryLimit) times in all; post it in parts.
                    """,
                    members: [Problem.Member("limit", integer: configuration.batchDeliveryLimit)])
            }
        }
    }

    /// The answers of one batch may have so many bytes before its looks are refused.
    private static let batchAnswerByteLimit = 256 << 10

    /// A batch of a thousand looks must not have an answer of a thousand pages.
    ///
    /// - Throws: 413, which asks for smaller batches.
    func boundLooks(of batch: CallBatch?) throws(Problem) {
        guard let batch, batch.byteCount > Self.batchAnswerByteLimit else { return }
        throw Problem(
            .contentTooLarge,
            "The answers to this batch passed \(Self.batchAnswerByteLimit >> 10) KiB; split it.",
            members: [Problem.Member("limit", integer: Self.batchAnswerByteLimit)])
    }

    /// Whether what a connection asked for in this turn is enough: so much output, or so much time.
    ///
    /// Without the first, small pipelined requests with large answers would cost memory without
    /// bound; without the second, requests that are slow to answer would hold up everybody.
    ///
    /// - Parameters:
    ///   - outputStart: where the output began that was made for what was read.
    ///   - inputByteCount: how much was read; who sends little may ask for a quarter of the output.
    mutating func isEnough(from outputStart: Int, inputByteCount: Int) -> Bool {
        let limit = min(turnOutputByteLimit, max(Self.roomByteCount, 4 * inputByteCount))
        if loop.outputByteCount - outputStart > limit { return true }
        workCount += 1
        guard workCount >= Self.workBetweenLooks else { return false }
        workCount = 0
        return loop.turnIsLong
    }

    /// The output of one connection in one turn after which its input waits, in bytes.
    ///
    /// It is less while much is unsent, as nearly all of that belongs to those who do not read.
    private var turnOutputByteLimit: Int {
        loop.unsentByteTotal > Self.muchUnsentByteCount
            ? Self.roomByteCount : Self.turnOutputByteLimit
    }

    private static let muchUnsentByteCount = 4 << 20

    /// A connection has asked for enough in this turn: the rest of its input must wait.
    mutating func throttle(_ id: ConnectionID) {
        guard let connection = connection(id), !connection.isClosing else { return }
        connections[id].isThrottled = true
        loop.pauseReading(id)
        // Who does not read its answers has the time of a request's content to begin with it.
        if connection.kind == .http { setDeadline(id, .drain) }
        throttled.append(id)
        throttleTurn = counters.turns
        setThrottleTimer(isSoon: true)
    }

    private mutating func setThrottleTimer(isSoon: Bool) {
        guard !isThrottleTimerSet else { return }
        isThrottleTimerSet = true
        let time = isSoon ? loop.now : loop.now + .milliseconds(5)
        _ = loop.schedule(at: time, LoopTimer.throttle.rawValue)
    }

    /// The sockets were written: who has room again goes on, as far as the turn has time, and one in any case.
    mutating func releaseThrottled() {
        isThrottleTimerSet = false
        // A timer that was set before the timers of its turn comes in the same one.
        if throttleTurn == counters.turns { return setThrottleTimer(isSoon: true) }
        var waiting: [ConnectionID] = []
        swap(&waiting, &throttled)
        var goesOnSoon = false
        var hasReleased = false
        for (place, id) in waiting.enumerated() {
            if hasInflatedEnough, connections[id].encoding != .plain {
                throttled.append(id)
                goesOnSoon = true
            } else if loop.mustBeWrittenFirst(id) {
                throttled.append(id)
                goesOnSoon = true
            } else if loop.unsentByteCount(of: id) > Self.roomByteCount {
                throttled.append(id)
            } else if loop.turnIsLong, hasReleased {
                throttled += waiting[place...]
                goesOnSoon = true
                break
            } else {
                hasReleased = true
                if sendPiece(to: id) {
                    throttled.append(id)
                    goesOnSoon = true
                } else {
                    release(id)
                }
            }
        }
        if !throttled.isEmpty { setThrottleTimer(isSoon: goesOnSoon) }
    }

    /// The socket of a connection has room again.
    mutating func release(_ id: ConnectionID) {
        guard let connection = connection(id), connection.isThrottled, !connection.isClosing,
            connection.unfinished?.isSending != true
        else { return }
        connections[id].isThrottled = false
        if connection.deadline == .drain {
            setDeadline(id, connection.kind == .http ? .idle : .ping)
        }
        if connection.closesAfterAnswer, connection.kind == .http, !connection.isAwaiting {
            closeSoon(id)
        } else {
            readOn(id)
            closeIfEnded(id)
        }
    }

    /// Closes a connection whose client has shut down its half, once all that it asked for is
    /// answered.
    mutating func closeIfEnded(_ id: ConnectionID) {
        guard let connection = connection(id), connection.hasEnded, !connection.isThrottled,
            !connection.isAwaiting, connection.unfinished?.waitingBytes.isEmpty ?? true
        else { return }
        closeSoon(id)
    }

    // MARK: Large files

    /// How much of a large file is handed to a socket at once.
    ///
    /// So a client that does not read costs that much, and not the file.
    static let pieceByteCount = 16 << 10

    /// Sends a file that all connections share: its head now, the content piece by piece.
    mutating func sendFile(
        _ content: [UInt8], _ answer: Answer, to id: ConnectionID, _ reply: HTTPReply
    ) {
        guard content.count > Self.pieceByteCount, !reply.context.isHead, answer.status == 200
        else {
            answerContent.append(contentsOf: content)
            send(answer, to: id, reply)
            return
        }
        beginContent(of: content.count, answer, to: id, reply)
        unfinished(of: id).content = content
        _ = sendPiece(to: id)
        throttle(id)
    }

    /// Sends the head of an answer whose content follows in pieces; what the client asks next waits.
    mutating func beginContent(
        of byteCount: Int, _ answer: Answer, to id: ConnectionID, _ reply: HTTPReply
    ) {
        let start = loop.output.count
        var bytes: [UInt8] = []
        appendHead(answer, reply, contentByteCount: byteCount, to: &bytes)
        loop.output.append(contentsOf: bytes)
        loop.send(start..<loop.output.count, to: id, as: .answer)
        unfinished(of: id).sentByteCount = 0
        if !reply.context.keepsAlive { connections[id].closesAfterAnswer = true }
        connections[id].isThrottled = true
        loop.pauseReading(id)
        setDeadline(id, .drain)
    }

    /// Sends the next piece of a large file; false where there is none, or it was the last one.
    private mutating func sendPiece(to id: ConnectionID) -> Bool {
        guard let connection = connection(id), !connection.isClosing,
            let unfinished = connection.unfinished, !unfinished.content.isEmpty
        else { return false }
        let start = loop.output.count
        let end = min(unfinished.sentByteCount + Self.pieceByteCount, unfinished.content.count)
        loop.output.append(contentsOf: unfinished.content[unfinished.sentByteCount..<end])
        loop.send(start..<loop.output.count, to: id, as: .answer)
        unfinished.sentByteCount = end
        setDeadline(id, .drain)
        guard end == unfinished.content.count else { return true }
        unfinished.content = []
        unfinished.sentByteCount = 0
        askForPart(id)
        return false
    }

    // MARK: Unfinished input

    /// Counts what a connection keeps of its input.
    mutating func countUnfinished(of id: ConnectionID) {
        connections[id].unfinished?.recount()
        boundUnfinished()
    }

    /// When all connections keep too much that is unfinished, the largest must go, or the oldest
    /// handshake where they have more than half of it.
    ///
    /// Otherwise a thousand clients that each send nearly all of a large request could take a
    /// thousand times its limit. An eighth of the limit goes at once, so that not each one that goes is
    /// looked for among all connections.
    mutating func boundUnfinished() {
        if unfinishedTotal.count > unfinishedWatch.share { boundUnfinishedShares() }
        let limit = configuration.unfinishedByteLimit / configuration.loopCount
        while unfinishedTotal.count > limit, let tls, tls.handshakeByteCount > limit / 2,
            let oldest = tls.oldestHandshake()
        {
            refuseHandshake(oldest)
        }
        guard unfinishedTotal.count > limit else { return }
        for largest in unfinishedFromLargest() {
            if unfinishedTotal.count <= limit - limit / 8 { return }
            refuseUnfinished(largest)
        }
    }

    private func unfinishedFromLargest() -> [ConnectionID] {
        var found: [(byteCount: Int, id: ConnectionID)] = []
        for slot in 0..<connections.slotCount {
            guard let connection = connections[slot], !connection.isClosing else { continue }
            let byteCount = unfinishedByteCount(of: connection)
            if byteCount > 0 { found.append((byteCount, connection.id)) }
        }
        return found.sorted { $0.byteCount > $1.byteCount }.map(\.id)
    }

    /// What a connection has sent that has not fully arrived.
    func unfinishedByteCount(of connection: Connection) -> Int {
        (connection.unfinished?.byteCount ?? 0)
            + (tls?.unfinishedByteCount(of: connection.id) ?? 0)
    }

    mutating func refuseUnfinished(_ id: ConnectionID) {
        guard let connection = connection(id) else { return }
        counters.inputsRefused += 1
        meet(.unfinished)
        connection.unfinished?.clear()
        tls?.discount(id)
        switch connection.kind {
        case .webSocket, .debugWebSocket:
            connections[id].unfinished = nil
            closeWebSocket(id, .tryAgainLater, reason: "too much unfinished input")
        case .http where connection.isAwaiting || connection.isThrottled:
            // Its answers have an order, so it cannot be told.
            leave(id)
            connections[Int(id.index)] = nil
            loop.close(id)
        case .http, .events:
            refuseRequest(
                id,
                Problem(
                    .overloaded, "The broker holds too many unfinished requests; try again later."))
        }
    }
}
