internal import BelfryLoop
internal import BelfrySystem
internal import BelfryWebSocket

/// The line to the broker: a connection of the loop, TLS on it, and the WebSocket session.
///
/// It has one connection at a time. Without one, nothing is sent.
struct BrokerLine: ~Copyable {
    var loop: EventLoop
    private let options: ClientOptions
    private let secureLine: SecureLine?
    /// The connection that is being opened, and until when its host may be looked up.
    private var call = EndpointCall()
    private var lookupEnd = MonotonicTime(nanoseconds: 0)
    private(set) var connection: ConnectionID?
    private var session: BrokerSession?
    /// Whether a ping is out because the broker was silent.
    private(set) var isProbing = false

    /// The time between two looks at whether a name has an address by now.
    private static let lookInterval = Duration.milliseconds(10)

    init(_ loop: consuming EventLoop, _ options: ClientOptions, _ secureLine: SecureLine?) {
        self.loop = loop
        self.loop.filter = secureLine
        self.options = options
        self.secureLine = secureLine
    }

    /// Whether a session runs: it ends with the first message that is not understood.
    var hasSession: Bool { session != nil }

    // MARK: Opening

    /// Begins to connect; the host may have to be looked up first.
    mutating func dial(_ endpoint: Endpoint) throws(ClientError) {
        call = EndpointCall()
        lookupEnd = loop.now + options.openingTimeout
        do throws(EndpointCall.Failure) {
            adopt(try call.open(endpoint, &loop))
        } catch {
            throw ClientError(error)
        }
    }

    /// Connects once the name of the host has an address.
    mutating func lookForAddress() throws(ClientError) {
        guard call.isLookingUp else { return }
        if loop.now >= lookupEnd { throw .timedOut }
        do throws(EndpointCall.Failure) {
            adopt(try call.goOn(&loop))
        } catch {
            throw ClientError(error)
        }
    }

    private mutating func adopt(_ id: ConnectionID?) {
        guard let id else {
            _ = loop.schedule(at: loop.now + Self.lookInterval, ClientTimer.lookup)
            return
        }
        connection = id
        setDeadline(in: options.openingTimeout)
    }

    /// Sends the request that opens the session, behind the first bytes of TLS.
    mutating func openSession(_ url: BrokerURL) {
        guard let connection else { return }
        if let secureLine {
            loop.filterOutput(of: connection)
            loop.send(sealed: secureLine.begin(connection).span, to: connection)
        }
        session = BrokerSession(options, random: SystemRandom())
        write { session, output in session.appendOpening(url, to: &output) }
    }

    // MARK: Sending

    mutating func send(_ message: [UInt8]) {
        write { session, output in session.append(message, to: &output) }
    }

    /// Sends the Close that asks the broker to end the connection.
    mutating func sendClose() {
        write { session, output in session.appendClose(to: &output) }
    }

    /// Sends the Close that ends a session whose broker does not speak the protocol.
    mutating func refuse(_ error: ClientError) {
        write { session, output in _ = session.fail(error, .protocolError, to: &output) }
    }

    private mutating func write(_ append: (inout BrokerSession, inout [UInt8]) -> Void) {
        guard let connection, var current = session.take() else { return }
        let start = loop.output.count
        append(&current, &loop.output)
        session = current
        loop.send(start..<loop.output.count, to: connection, as: .answer)
    }

    // MARK: Receiving

    /// Decrypts bytes that arrived; nil on a line without TLS.
    mutating func decrypt(
        _ bytes: Span<UInt8>
    ) throws(ClientError) -> (plaintext: [UInt8], hasEnded: Bool)? {
        guard let secureLine, let connection else { return nil }
        var own: [UInt8] = []
        defer { loop.send(sealed: own.span, to: connection) }
        return try secureLine.open(bytes, of: connection, own: &own)
    }

    /// Reads bytes of the session; any bytes are a sign of life.
    mutating func receive(_ bytes: Span<UInt8>) -> [BrokerSession.Event] {
        isProbing = false
        var events: [BrokerSession.Event] = []
        write { session, output in
            events = session.receive(bytes, output: &output)
        }
        return events
    }

    /// Ends the session, as the broker sends no more.
    mutating func endInput() -> BrokerSession.Event? {
        session?.endOfInput()
    }

    // MARK: Silence and the end

    /// Sets the time at which the loop reports the deadline of the connection.
    mutating func setDeadline(in duration: Duration) {
        if let connection { loop.setDeadline(connection, at: loop.now + duration) }
    }

    /// Probes a silent broker with a message or, without one, a WebSocket ping.
    ///
    /// Any bytes within the time satisfy the probe; the deadline comes otherwise.
    mutating func probe(_ message: [UInt8]?, within duration: Duration) {
        isProbing = true
        if let message {
            send(message)
        } else {
            write { session, output in session.appendPing(to: &output) }
        }
        setDeadline(in: duration)
    }

    /// Gives the connection up; it closes when its last output has left.
    mutating func hangUp() {
        if let connection { loop.closeAfterFlush(connection, lingering: true) }
        connection = nil
        session = nil
        isProbing = false
    }
}
