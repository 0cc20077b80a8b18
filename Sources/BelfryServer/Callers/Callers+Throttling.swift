import BelfryHTTP
import BelfryLoop
import BelfrySystem
import BelfryWebSocket
import BelfryWire

// What one connection may cost in a turn, and what unfinished input may cost in all.

extension Callers {
    /// Whether what a connection asked for in this turn is enough: so much output, or so much time.
    ///
    /// Without the first, small pipelined requests with large answers would cost memory without
    /// bound; without the second, requests that are slow to answer would hold up everybody.
    ///
    /// - Parameters:
    ///   - outputStart: where the output began that was made for what was read.
    ///   - inputByteCount: how much was read; who sends little may ask for a quarter of the output.
    mutating func isEnough(from outputStart: Int, inputByteCount: Int, _ outbox: inout Outbox)
        -> Bool
    {
        let limit = min(turnOutputByteLimit(&outbox), max(Self.roomByteCount, 4 * inputByteCount))
        if outbox.loop.outputByteCount - outputStart > limit { return true }
        return outbox.work.countRequest() && outbox.loop.turnIsLong
    }

    /// The output of one connection in one turn after which its input waits, in bytes.
    ///
    /// It is less while much is unsent, as nearly all of that belongs to those who do not read.
    private func turnOutputByteLimit(_ outbox: inout Outbox) -> Int {
        outbox.loop.unsentByteTotal > Self.muchUnsentByteCount
            ? Self.roomByteCount : Self.turnOutputByteLimit
    }

    /// The output of one connection in one turn after which its input waits, in bytes.
    private static let turnOutputByteLimit = 64 << 10

    private static let muchUnsentByteCount = 4 << 20

    /// A connection has asked for enough in this turn: the rest of its input must wait.
    mutating func throttle(_ id: ConnectionID, _ outbox: inout Outbox) {
        guard let kind = connections.kind(of: id) else { return }
        move(id, .throttled, &outbox)
        // Who does not read its answers has the time of a request's content to begin with it.
        if kind == .http { setDeadline(id, .drain, &outbox) }
        throttled.connections.append(id)
        throttled.turn = outbox.counters.turns
        setThrottleTimer(isSoon: true, &outbox)
    }

    private mutating func setThrottleTimer(isSoon: Bool, _ outbox: inout Outbox) {
        guard !throttled.isTimerSet else { return }
        throttled.isTimerSet = true
        let time = isSoon ? outbox.loop.now : outbox.loop.now + .milliseconds(5)
        _ = outbox.loop.schedule(at: time, LoopTimer.throttle.rawValue)
    }

    /// The sockets were written: takes the line of those who may have room again; nil in the turn in which
    /// the last of them came.
    mutating func takeThrottled(_ outbox: inout Outbox) -> ReleasePass? {
        throttled.isTimerSet = false
        // A timer that was set before the timers of its turn comes in the same one.
        if throttled.turn == outbox.counters.turns {
            setThrottleTimer(isSoon: true, &outbox)
            return nil
        }
        var pass = ReleasePass()
        swap(&pass.waiting, &throttled.connections)
        return pass
    }

    /// Lets the next connection that has room go on, as far as the turn has time, and one in any case.
    ///
    /// - Returns: false when there is none left.
    mutating func releaseNext(_ pass: inout ReleasePass, _ outbox: inout Outbox) -> Bool {
        while pass.place < pass.waiting.count {
            let id = pass.waiting[pass.place]
            pass.place += 1
            if hasInflatedEnough(&outbox), connections[id].encoding != .plain {
                throttled.connections.append(id)
                pass.goesOnSoon = true
            } else if outbox.loop.mustBeWrittenFirst(id) {
                throttled.connections.append(id)
                pass.goesOnSoon = true
            } else if outbox.loop.unsentByteCount(of: id) > Self.roomByteCount {
                throttled.connections.append(id)
            } else if outbox.loop.turnIsLong, pass.hasReleased {
                throttled.connections += pass.waiting[(pass.place - 1)...]
                pass.goesOnSoon = true
                break
            } else {
                pass.hasReleased = true
                guard sendPiece(to: id, &outbox) else {
                    noteRoom(of: id, &outbox)
                    return true
                }
                throttled.connections.append(id)
                pass.goesOnSoon = true
            }
        }
        if !throttled.connections.isEmpty { setThrottleTimer(isSoon: pass.goesOnSoon, &outbox) }
        return false
    }

    /// A connection that waited for room has it, unless what it was sent goes on.
    mutating func noteRoom(of id: ConnectionID, _ outbox: inout Outbox) {
        guard let kind = connections.kind(of: id), connections[id].reading.isThrottled,
            connections[id].unfinished?.isSending != true
        else { return }
        if connections[id].deadline == .drain {
            setDeadline(id, kind == .http ? .idle : .ping, &outbox)
        }
        move(id, .hasRoom, &outbox)
    }

    // MARK: Large files

    /// How much of a large file is handed to a socket at once.
    ///
    /// So a client that does not read costs that much, and not the file.
    static let pieceByteCount = 16 << 10

    /// Sends a file that all connections share: its head now, the content piece by piece.
    mutating func sendFile(
        _ content: [UInt8], _ answer: Answer, to id: ConnectionID, _ reply: HTTPReply,
        _ outbox: inout Outbox
    ) {
        guard content.count > Self.pieceByteCount, !reply.context.isHead, answer.status == 200
        else {
            outbox.content.append(contentsOf: content)
            send(answer, to: id, reply, &outbox)
            return
        }
        beginContent(of: content.count, answer, to: id, reply, &outbox)
        unfinished(of: id).content = content
        _ = sendPiece(to: id, &outbox)
        throttle(id, &outbox)
    }

    /// Sends the head of an answer whose content follows in pieces; what the client asks next waits.
    mutating func beginContent(
        of byteCount: Int, _ answer: Answer, to id: ConnectionID, _ reply: HTTPReply,
        _ outbox: inout Outbox
    ) {
        let start = outbox.loop.output.count
        var bytes: [UInt8] = []
        outbox.appendHead(answer, reply, contentByteCount: byteCount, to: &bytes)
        outbox.loop.output.append(contentsOf: bytes)
        outbox.loop.send(start..<outbox.loop.output.count, to: id, as: .answer)
        unfinished(of: id).sentByteCount = 0
        move(id, .contentBegan, &outbox)
        if !reply.context.keepsAlive { move(id, .isLast, &outbox) }
        setDeadline(id, .drain, &outbox)
    }

    /// Sends the next piece of a large file; false where there is none, or it was the last one.
    private mutating func sendPiece(to id: ConnectionID, _ outbox: inout Outbox) -> Bool {
        guard let connection = connection(id), !connection.isClosing,
            let unfinished = connection.unfinished, !unfinished.content.isEmpty
        else { return false }
        let start = outbox.loop.output.count
        let end = min(unfinished.sentByteCount + Self.pieceByteCount, unfinished.content.count)
        outbox.loop.output.append(contentsOf: unfinished.content[unfinished.sentByteCount..<end])
        outbox.loop.send(start..<outbox.loop.output.count, to: id, as: .answer)
        unfinished.sentByteCount = end
        setDeadline(id, .drain, &outbox)
        guard end == unfinished.content.count else { return true }
        unfinished.content = []
        unfinished.sentByteCount = 0
        askForPart(id, &outbox)
        return false
    }

    // MARK: Unfinished input

    /// Counts what a connection keeps of its input.
    mutating func countUnfinished(of id: ConnectionID, _ outbox: inout Outbox) {
        connections[id].unfinished?.recount()
        boundUnfinished(&outbox)
    }

    /// When all connections keep too much that is unfinished, the largest must go, or the oldest
    /// handshake where they have more than half of it.
    ///
    /// Otherwise a thousand clients that each send nearly all of a large request could take a
    /// thousand times its limit. An eighth of the limit goes at once, so that not each one that goes is
    /// looked for among all connections.
    mutating func boundUnfinished(_ outbox: inout Outbox) {
        if unfinishedTotal.count > unfinishedWatch.share { boundUnfinishedShares(&outbox) }
        let limit = outbox.configuration.unfinishedByteLimit / outbox.configuration.loopCount
        while unfinishedTotal.count > limit, let tls, tls.handshakeByteCount > limit / 2,
            let oldest = tls.oldestHandshake()
        {
            refuseHandshake(oldest, &outbox)
        }
        guard unfinishedTotal.count > limit else { return }
        for largest in unfinishedFromLargest() {
            if unfinishedTotal.count <= limit - limit / 8 { return }
            refuseUnfinished(largest, &outbox)
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

    mutating func refuseUnfinished(_ id: ConnectionID, _ outbox: inout Outbox) {
        guard let connection = connection(id) else { return }
        outbox.counters.inputsRefused += 1
        outbox.meet(.unfinished)
        connection.unfinished?.clear()
        tls?.discount(id)
        switch connection.kind {
        case .webSocket, .debugWebSocket:
            connections[id].unfinished = nil
            closeWebSocket(id, .tryAgainLater, reason: "too much unfinished input", &outbox)
        case .http where connection.isAwaiting || connection.reading.isThrottled:
            // Its answers have an order, so it cannot be told.
            cut(id, &outbox)
        case .http, .events:
            refuseRequest(
                id,
                Problem(
                    .overloaded, "The broker holds too many unfinished requests; try again later."),
                &outbox)
        }
    }
}

/// One pass over the connections whose input waits.
struct ReleasePass {
    var waiting: [ConnectionID] = []
    var place = 0
    var goesOnSoon = false
    var hasReleased = false
}
