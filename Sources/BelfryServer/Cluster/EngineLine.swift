import BelfryCluster
import BelfryLoop
import BelfrySystem
import BelfryTLS

/// The connection of a broker to the engine of its cluster: one at a time, to one server of a list.
final class EngineLine {
    let journal: NATSJournal
    private let servers: [EngineServer]
    private var place: Int
    private(set) var connection: ConnectionID?
    /// The certificates for the next connection that speaks TLS.
    var certificates: TLSContext
    /// TLS of the connection; nil while it is plain.
    private var security: TLSClient?
    private var room = [UInt8](repeating: 0, count: ReadingPass.inputByteCount + (16 << 10))
    private var call = EndpointCall()
    /// The times when the connection was requested, and when bytes came on it last.
    private var beganAt = MonotonicTime(nanoseconds: 0)
    private var heardAt = MonotonicTime(nanoseconds: 0)
    private var pingedAt = MonotonicTime(nanoseconds: 0)
    /// The time when the journal was last asked for the state of the log.
    private var lookedAt = MonotonicTime(nanoseconds: 0)
    /// The last known snapshot, and when it was first seen; before one, the time of the first look.
    private var snapshot: (index: UInt64, at: MonotonicTime)?
    /// The time of the next attempt, and the number of failed attempts in a row.
    private var retryAt = MonotonicTime(nanoseconds: 0)
    private var attemptCount = 0
    private var random = SystemRandom()
    /// The reason why the engine cannot be used until a setting changes.
    private(set) var failure: NATSFailure?
    /// Whether a server has ever served.
    private var hasServed = false

    /// The time that a server has until it serves.
    private static let openingPatience: Duration = .seconds(3)
    /// The silence after which the server is pinged, and the further one until it is given up.
    private static let pingInterval: Duration = .milliseconds(500)
    private static let silencePatience: Duration = .seconds(1)
    private static let lookInterval: Duration = .seconds(5)
    private static let shortestPause = 100
    private static let longestPause = 2_000

    /// Makes a line without a connection.
    init(_ journal: NATSJournal, _ servers: [EngineServer], _ certificates: TLSContext) {
        self.journal = journal
        self.servers = servers
        self.certificates = certificates
        place = servers.isEmpty ? 0 : Int(random.next() % UInt64(servers.count))
    }

    /// Opens a connection, or gives one up, when it is time.
    func tick(_ outbox: inout Outbox) {
        let now = outbox.loop.now
        look(at: now)
        guard connection != nil else {
            if call.isLookingUp || now >= retryAt { connect(&outbox) }
            return
        }
        if case .failed(let failure) = journal.progress { return giveUp(failure, &outbox) }
        guard journal.progress == .ready else {
            if now - beganAt >= Self.openingPatience { drop("it does not serve", &outbox) }
            return
        }
        if now - heardAt >= Self.pingInterval, pingedAt < heardAt {
            pingedAt = now
            journal.ping()
        } else if pingedAt >= heardAt, now - pingedAt >= Self.silencePatience {
            drop("it is silent", &outbox)
        }
    }

    /// Reads the state of the log for the metrics and for `/v1/cluster`.
    private func look(at now: MonotonicTime) {
        if snapshot?.index != journal.snapshotIndex { snapshot = (journal.snapshotIndex, now) }
        guard journal.progress == .ready, now - lookedAt >= Self.lookInterval else { return }
        lookedAt = now
        journal.look()
    }

    /// The time for which this broker has known the last snapshot, or has run without one.
    func snapshotAge(at now: MonotonicTime) -> Duration { snapshot.map { now - $0.at } ?? .zero }

    private func connect(_ outbox: inout Outbox) {
        do throws(EndpointCall.Failure) {
            if call.isLookingUp {
                connection = try call.goOn(&outbox.loop)
            } else {
                place = (place + 1) % servers.count
                connection = try call.open(servers[place].endpoint, &outbox.loop)
            }
            beganAt = outbox.loop.now
        } catch {
            lose("\(error)", &outbox)
        }
    }

    /// Takes an event of the connection, which may be news for the journal.
    ///
    /// - Returns: whether the event is of the connection.
    func take(
        _ event: LoopEvent, input: Span<UInt8>, _ outbox: inout Outbox
    ) -> Bool {
        guard connection != nil, event.connection == connection else { return false }
        switch event {
        case .connected:
            heardAt = outbox.loop.now
            journal.didConnect(random: (random.next(), random.next()))
        case .received(_, let byteCount):
            heardAt = outbox.loop.now
            let wasReady = journal.progress == .ready
            receive(input.extracting(0..<byteCount), &outbox)
            if !wasReady, journal.progress == .ready { noteReady(&outbox) }
        case .endOfInput:
            drop("it has ended the connection", &outbox)
        case .closed(_, .failed(let errno)):
            lose("\(SystemCallError(call: "the connection failed", errno: errno))", &outbox)
        case .closed(_, let reason): lose("\(reason)", &outbox)
        default: break
        }
        return true
    }

    /// Hands the journal the received bytes, and begins TLS when that is due.
    private func receive(_ bytes: Span<UInt8>, _ outbox: inout Outbox) {
        guard let security else {
            journal.receive(bytes)
            return journal.progress == .awaitsTLS ? beginTLS(&outbox) : ()
        }
        var own: [UInt8] = []
        do throws(TLSError) {
            let (plaintext, hasEnded) = try security.open(bytes, into: &room, output: &own)
            send(sealed: own, &outbox)
            journal.receive(plaintext.span)
            if hasEnded { drop("it has ended the connection", &outbox) }
        } catch {
            send(sealed: own, &outbox)
            drop("\(error)", &outbox)
        }
    }

    /// Begins TLS; the journal's output waits until the server's certificate is verified.
    private func beginTLS(_ outbox: inout Outbox) {
        var own: [UInt8] = []
        security = TLSClient(certificates, host: servers[place].endpoint.host, output: &own)
        send(sealed: own, &outbox)
        journal.didStartTLS()
    }

    /// Sends the output of the journal.
    func send(_ outbox: inout Outbox) {
        guard connection != nil else { return }
        let bytes = journal.takeOutput()
        guard let security else { return send(sealed: bytes, &outbox) }
        var sealed: [UInt8] = []
        security.seal(bytes.span, output: &sealed)
        send(sealed: sealed, &outbox)
    }

    private func send(sealed bytes: [UInt8], _ outbox: inout Outbox) {
        guard let connection, !bytes.isEmpty else { return }
        let start = outbox.loop.output.count
        outbox.loop.output += bytes
        outbox.loop.send(start..<outbox.loop.output.count, to: connection, as: .answer)
    }

    private func noteReady(_ outbox: inout Outbox) {
        attemptCount = 0
        failure = nil
        hasServed = true
        outbox.log.write(
            .info, "the engine serves", ("server", "\(servers[place])"),
            ("name", journal.server?.name ?? ""))
    }

    private func giveUp(_ failure: NATSFailure, _ outbox: inout Outbox) {
        // The engine may be reconfigured while a broker runs; a start is refused.
        if failure.isFinal, !hasServed { self.failure = failure }
        drop("\(failure)", &outbox)
    }

    private func drop(_ reason: String, _ outbox: inout Outbox) {
        if let connection { outbox.loop.close(connection) }
        lose(reason, &outbox)
    }

    private func lose(_ reason: String, _ outbox: inout Outbox) {
        connection = nil
        security = nil
        journal.didDisconnect()
        outbox.log.write(
            .warning, "a server of the engine is given up", ("server", "\(servers[place])"),
            ("reason", reason))
        let longest = min(Self.longestPause, Self.shortestPause << min(attemptCount, 5))
        attemptCount += 1
        // The first attempt at another server follows at once.
        let pause = attemptCount == 1 ? 0 : longest / 2 + Int(random.next() % UInt64(longest / 2))
        retryAt = outbox.loop.now + .milliseconds(pause)
    }
}
