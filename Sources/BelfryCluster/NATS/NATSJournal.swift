import BelfryNATS

/// A journal that is two streams of NATS JetStream: the log, and snapshots of it (decision 104).
///
/// A pure machine without sockets, threads and clock. Its host opens a connection to one of the
/// servers and tells it (``didConnect(random:)``), hands over what is received, and sends what
/// ``takeOutput()`` gives after each of these calls and after each turn of the sequencer. Where
/// ``progress`` is `awaitsTLS` the host begins TLS and tells that; where it is `failed`, and where
/// it is not `ready` some seconds after the connection was opened, the host closes the connection
/// and tries another server.
///
/// Requests while it is not ready, and requests without room in the output, are lost: the sequencer
/// repeats them.
public final class NATSJournal: Journal {
    /// The settings.
    public let settings: NATSSettings
    /// How far it is with the connection.
    public internal(set) var progress = NATSProgress.disconnected
    /// The last server's description of itself, which stays when the connection is lost.
    public internal(set) var server: NATSServer?
    /// The server that led the log at the last report; empty where it is unknown.
    public internal(set) var leader = ""
    /// The size of the log at the last report, in bytes.
    public internal(set) var logByteCount: UInt64 = 0
    /// The index of the last whole snapshot when that was last told; 0 for none.
    public internal(set) var snapshotIndex: UInt64 = 0
    /// The size of the last snapshot, in bytes, if it was not kept since there is no room for it.
    public internal(set) var refusedSnapshotByteCount: Int?

    let names: NATSNames
    private var parser = NATSJournal.makeParser()
    private(set) var output: [UInt8] = []
    /// Below it are the subjects of all answers; another one for each connection.
    private(set) var inbox = ""
    var preparedStreams: Set<NATSStream> = []
    /// Whether the streams were there and right on an earlier connection.
    var hasBeenReady = false
    var events = EventLine(byteLimit: NATSSettings.eventByteLimit)
    /// The highest index that the log is known to have.
    var knownIndex: UInt64 = 0
    var reading: LogRead?
    var readNumber: UInt64 = 0
    var saving: SnapshotSave?
    var saveNumber: UInt64 = 0
    var loading: SnapshotLoad?
    var loadNumber: UInt64 = 0
    /// The last snapshot that was broken, by its sequence, and how often in a row.
    var broken: (sequence: UInt64, count: Int) = (0, 0)

    /// Makes a journal without a connection.
    ///
    /// - Throws: `invalidClusterName`, `invalidNodeName` or `invalidShard`.
    public init(_ settings: NATSSettings) throws(NATSFailure) {
        self.settings = settings
        names = try NATSNames(settings)
        guard 1...NATSSettings.nodeNameByteLimit ~= settings.node.utf8.count,
            settings.node.utf8.allSatisfy({ 0x21...0x7E ~= $0 })
        else { throw .invalidNodeName }
    }

    private static func makeParser() -> ServerParser {
        var limits = NATSLimits(payloadByteLimit: NATSSettings.messageByteLimit)
        limits.headerByteLimit = NATSSettings.messageByteLimit
        return ServerParser(limits: limits)
    }

    // MARK: The connection

    /// A connection to a server is there.
    ///
    /// - Parameter random: 128 bits from the system, so that the subjects of answers cannot be
    ///   guessed.
    public func didConnect(random: (UInt64, UInt64)) {
        didDisconnect()
        inbox = "_INBOX.\(String(random.0, radix: 16))-\(String(random.1, radix: 16))"
        progress = .awaitsInfo
    }

    /// The connection is closed: requests under way are lost.
    public func didDisconnect() {
        parser = Self.makeParser()
        output = []
        preparedStreams = []
        reading = nil
        saving = nil
        loading = nil
        progress = .disconnected
    }

    /// TLS has begun: all bytes are encrypted from now on, and output waits for the handshake.
    public func didStartTLS() {
        guard progress == .awaitsTLS else { return }
        begin(withTLS: true)
    }

    /// Takes bytes that the server has sent.
    public func receive(_ bytes: Span<UInt8>) {
        var cursor = 0
        while true {
            switch progress {
            case .disconnected, .failed: return
            case .awaitsTLS:
                // An attacker in between might slip in bytes that seem to have come encrypted.
                return cursor < bytes.count ? fail(.bytesBeforeTLS) : ()
            case .awaitsInfo, .preparing, .ready: break
            }
            do throws(NATSError) {
                guard let event = try parser.nextEvent(in: bytes, at: &cursor) else { return }
                take(event)
            } catch {
                let isOther = progress == .awaitsInfo && error == .unknownOperation
                return fail(isOther ? .withoutInfo : .malformed(error))
            }
        }
    }

    /// Takes the bytes that must be sent to the server.
    public func takeOutput() -> [UInt8] {
        defer { output = [] }
        return output
    }

    /// Asks the server for a sign of life: any bytes that come are one.
    public func ping() {
        guard isOpen, hasRoom(for: 6) else { return }
        ClientWriter.appendPing(to: &output)
    }

    /// Whether the broker has sent its credentials.
    private var isOpen: Bool { progress == .preparing || progress == .ready }

    /// Whether nothing of a read, a save or a load is under way.
    public var isIdle: Bool { reading == nil && saving == nil && loading == nil }

    func fail(_ failure: NATSFailure) {
        didDisconnect()
        progress = .failed(failure)
    }

    // MARK: Events of the server

    private func take(_ event: ServerEvent) {
        switch event {
        case .info(let info): take(info)
        case .error(let refusal): take(refusal)
        case .message, .ping, .pong, .ok:
            guard isOpen else { return fail(.withoutInfo) }
            if event == .ping, hasRoom(for: 6) { ClientWriter.appendPong(to: &output) }
            if event == .pong { takePong() }
            if case .message(let message) = event { take(message) }
        }
    }

    private func take(_ info: ServerInfo) {
        server = NATSServer(info)
        if let failure = failure(in: info) { return fail(failure) }
        guard progress == .awaitsInfo else { return }
        if info.tlsRequired || settings.wantsTLS {
            progress = .awaitsTLS
        } else {
            begin(withTLS: false)
        }
    }

    private func failure(in info: ServerInfo) -> NATSFailure? {
        if info.version < .oldest { return .tooOld(info.version, oldest: .oldest) }
        if !info.headers { return .withoutHeaders }
        let needed = settings.entryByteLimit + NATSSettings.headerByteCount
        if info.maxPayload < needed {
            return .maxPayloadTooSmall(info.maxPayload, needed: needed)
        }
        if progress == .awaitsInfo, settings.wantsTLS, !info.tlsRequired, !info.tlsAvailable {
            return .withoutTLS
        }
        return nil
    }

    /// The server has let the broker in.
    ///
    /// Streams that were right before are checked while the journal works: while the engine elects
    /// the server that answers, the brokers must hear each other.
    private func takePong() {
        guard hasBeenReady, progress == .preparing else { return }
        progress = .ready
        events.append(.reconnected)
    }

    private func take(_ refusal: ServerRefusal) {
        let text = String(untrusted: refusal.text)
        let words = text.lowercased()
        if words.hasPrefix("permissions violation") {
            fail(.notPermitted(text: text))
        } else if words.hasPrefix("authorization violation")
            || words.hasPrefix("user authentication revoked")
        {
            fail(.authorizationRefused(text: text))
        } else if !refusal.keepsConnection {
            fail(.refused(text: text))
        }
    }

    // MARK: What is sent

    /// Sends the credentials, subscribes, and prepares the streams.
    private func begin(withTLS: Bool) {
        progress = .preparing
        var options = ConnectOptions(name: "belfry \(settings.node)", version: settings.version)
        options.tlsRequired = withTLS
        switch settings.credentials {
        case .none: break
        case .user(let user, let password):
            options.credentials = .user(user, password: password)
        case .token(let token): options.credentials = .token(token)
        }
        ClientWriter.appendConnect(options, to: &output)
        for (sid, subject) in [
            (Sid.pushes, names.pushSubject), (Sid.beats, names.beatSubject),
            (Sid.answers, answers),
        ] {
            ClientWriter.appendSubscribe(to: subject, sid: sid.rawValue, to: &output)
        }
        if hasBeenReady { ClientWriter.appendPing(to: &output) }
        for stream in NATSStream.allCases {
            ask(.create(configuration(of: stream)), .create(stream))
        }
    }

    /// The pattern of the subjects of all answers.
    private var answers: Subject {
        guard let subject = try? Subject(pattern: "\(inbox).>") else {
            preconditionFailure("letters, digits, a hyphen and dots make a subject")
        }
        return subject
    }

    /// Whether this many bytes may be added to the output.
    func hasRoom(for byteCount: Int) -> Bool {
        output.isEmpty || output.count + byteCount <= NATSSettings.outputByteLimit
    }

    /// Asks JetStream for something.
    func ask(_ request: JetStreamRequest, _ inquiry: Inquiry) {
        publish(request.payload.span, to: request.subject, inquiry)
    }

    /// Publishes a message.
    ///
    /// - Returns: whether the output has room for it.
    @discardableResult
    func publish(
        _ payload: Span<UInt8>, to subject: Subject, _ inquiry: Inquiry?,
        headers: HeaderBlock? = nil
    ) -> Bool {
        let byteCount = payload.count + (headers?.bytes.count ?? 0)
        guard byteCount <= server?.maxPayload ?? 0, hasRoom(for: byteCount) else { return false }
        ClientWriter.appendPublish(
            payload, to: subject, replyTo: inquiry?.subject(below: inbox), headers: headers,
            to: &output)
        return true
    }

    // MARK: What is told

    /// The next event; nil when there is none by now.
    public func next() -> JournalEvent? {
        if let event = events.popFirst() { return event }
        goOnReading()
        return nil
    }

    /// Notes that the log has an index.
    func note(_ index: UInt64) { knownIndex = max(knownIndex, index) }
}

extension String {
    /// The start of a text of any origin, without control characters.
    init(untrusted bytes: [UInt8]) {
        self = String(
            decoding: bytes.prefix(200).map { $0 < 0x20 || $0 == 0x7F ? 0x3F : $0 }, as: UTF8.self)
    }
}
