internal import COpenSSL

/// An event in a peer's bytes.
public enum TLSEvent: Equatable, Sendable {
    /// The handshake is done: plaintext can be sent from now on.
    case handshakeDone
    /// So many bytes of plaintext lie at the start of the room.
    case received(byteCount: Int)
    /// The peer has ended its output with close_notify; nothing of it follows.
    case closed
}

/// One end of one TLS connection: bytes in, plaintext and bytes out.
///
/// It does no I/O, and between two calls it keeps no more than one record that has not fully
/// arrived; libssl is given whole records, and that of a server is made for the first of them.
/// After an error, the bytes that it gave out still tell the peer why (an alert).
@safe public final class TLSSession {
    /// Whether the handshake is done.
    public private(set) var isOpen = false
    /// Whether the peer has ended its output.
    public private(set) var inputHasEnded = false

    private let context: TLSContext
    /// The state of libssl; a server makes it when the first record comes.
    private var engine: OpaquePointer?
    private let pipe: UnsafeMutablePointer<BytePipe>
    /// How many more bytes the handshake may take.
    private var handshakeAllowance: Int
    /// The end of the connection, reported after the plaintext that came before it.
    private var failure: TLSError?
    private var outputHasEnded = false
    /// The bytes of a record that is not whole.
    private var part: [UInt8] = []

    /// Begins a connection.
    ///
    /// - Parameters:
    ///   - context: its role and its certificates.
    ///   - host: the name or the address of the server, for a client: its certificate must be for
    ///     it.
    ///   - resumption: what a client has kept of an earlier connection to the same server.
    public init(
        _ context: TLSContext, host: String? = nil, resuming resumption: TLSResumption? = nil
    ) {
        self.context = context
        handshakeAllowance = context.handshakeByteLimit
        // SAFETY: there is none yet.
        unsafe engine = nil
        // SAFETY: the pipe lives until `deinit`, where the `SSL` and with it the BIO go first.
        unsafe pipe = .allocate(capacity: 1)
        unsafe pipe.initialize(to: BytePipe())
        guard !context.isServer else { return }
        // SAFETY: the `SSL` lives until `deinit`, and takes a reference of its own to the session.
        let ssl = unsafe makeEngine()
        unsafe SSL_set_connect_state(ssl)
        if let host { expect(host) }
        if let resumption { unsafe SSL_set_session(ssl, resumption.raw) }
    }

    deinit {
        // SAFETY: all were made by the initializer, or by `makeEngine`.
        unsafe SSL_free(engine)
        unsafe pipe.deinitialize(count: 1)
        unsafe pipe.deallocate()
    }

    /// The `SSL`, which has been made.
    var ssl: OpaquePointer {
        // SAFETY: only whether there is one is asked, and nothing is read through it.
        guard let engine = unsafe engine else {
            preconditionFailure("nothing is asked of a session before its first record")
        }
        // SAFETY: it lives as long as the session.
        return unsafe engine
    }

    private func makeEngine() -> OpaquePointer {
        // SAFETY: the `SSL` takes over one reference to the BIO for both directions, and the pipe
        // outlives both.
        guard let ssl = unsafe SSL_new(context.raw), let bio = unsafe BIO_new(context.pipeMethod)
        else { preconditionFailure("libssl has no memory") }
        unsafe BIO_set_data(bio, pipe)
        unsafe SSL_set_bio(ssl, bio, bio)
        unsafe engine = unsafe ssl
        return unsafe ssl
    }

    // MARK: What it costs

    /// How far a session has come, which is what its memory depends on.
    public enum Stage: CaseIterable, Sendable {
        /// Nothing whole has come.
        case waiting
        /// The handshake has begun.
        case handshake
        /// The handshake is done.
        case open

        /// The bytes that libssl keeps in this stage, measured with OpenSSL 3.0 and tested.
        public var byteCount: Int {
            switch self {
            case .waiting: 0
            case .handshake: 44_400
            case .open: 14_300
            }
        }
    }

    /// How far it has come.
    public var stage: Stage {
        if isOpen { return .open }
        // SAFETY: only whether there is one is asked, and nothing is read through it.
        return unsafe engine == nil ? .waiting : .handshake
    }

    /// The bytes of a record that has not fully arrived.
    public var partByteCount: Int { part.count }

    /// Asks for a certificate of this name or address.
    private func expect(_ host: String) {
        // SAFETY: libssl copies the text, which ends in a zero byte.
        let parameters = unsafe SSL_get0_param(ssl)
        if unsafe X509_VERIFY_PARAM_set1_ip_asc(parameters, host) == 1 { return }
        ErrorQueue.clear()
        let isSet =
            unsafe SSL_set1_host(ssl, host) == 1 && belfry_ssl_set_server_name(ssl, host) == 1
        // A name that cannot be asked for must not lead to any certificate being taken.
        if !isSet { failure = .handshakeFailed("the name of the server is malformed") }
    }

    // MARK: In

    /// Takes the next event out of a peer's bytes, or `nil` when all of them were taken.
    ///
    /// - Parameters:
    ///   - bytes: the received bytes; the session copies those that it must keep.
    ///   - cursor: how much of it was taken.
    ///   - room: gets plaintext; never empty, 16 KiB or more serve well.
    ///   - output: gets bytes for the peer appended, also when an error is thrown.
    /// - Throws: the error that ended the connection; the same one each time.
    public func nextEvent(
        in bytes: Span<UInt8>, at cursor: inout Int, into room: inout [UInt8],
        output: inout [UInt8]
    ) throws(TLSError) -> TLSEvent? {
        if let failure { throw failure }
        if inputHasEnded {
            cursor = bytes.count
            return nil
        }
        ErrorQueue.clear()
        // SAFETY: the pipe lives as long as the session, and only this thread has it.
        unsafe swap(&output, &pipe.pointee.output)
        defer { unsafe swap(&output, &pipe.pointee.output) }
        let outcome = advance(bytes, &cursor, &room)
        if case .wantsMore = outcome, !isOpen, part.count >= handshakeAllowance {
            let error = TLSError.handshakeTooLong(limit: context.handshakeByteLimit)
            failure = error
            throw error
        }
        switch outcome {
        case .event(let event): return event
        case .wantsMore: return nil
        case .failed(let error):
            failure = error
            throw error
        }
    }

    /// Gives libssl the whole records that there are, and keeps the part of one behind them.
    private func advance(
        _ bytes: Span<UInt8>, _ cursor: inout Int, _ room: inout [UInt8]
    ) -> Outcome {
        if part.isEmpty {
            let bounds = RecordBounds(of: bytes, from: cursor)
            let outcome = feed(bytes, &cursor, bounds, &room)
            guard case .wantsMore = outcome else { return outcome }
            keep(bytes.extracting(cursor...))
            cursor = bytes.count
            return outcome
        }
        keep(bytes.extracting(cursor...))
        cursor = bytes.count
        let bounds = RecordBounds(of: part.span, from: 0)
        var taken = 0
        var whole: [UInt8] = []
        swap(&whole, &part)
        let outcome = feed(whole.span, &taken, bounds, &room)
        swap(&whole, &part)
        if taken == part.count { part = [] } else { part.removeFirst(taken) }
        return outcome
    }

    private func keep(_ bytes: Span<UInt8>) {
        guard !bytes.isEmpty else { return }
        part.reserveCapacity(part.count + bytes.count)
        for index in bytes.indices { part.append(bytes[index]) }
    }

    private func feed(
        _ bytes: Span<UInt8>, _ cursor: inout Int, _ bounds: RecordBounds, _ room: inout [UInt8]
    ) -> Outcome {
        let start = cursor
        // SAFETY: only whether there is one is asked, and nothing is read through it.
        if unsafe engine == nil {
            guard bounds.end > start else { return .wantsMore }
            // SAFETY: it has just been made, and lives until `deinit`.
            unsafe SSL_set_accept_state(makeEngine())
        }
        // SAFETY: the pipe sees the bytes during this closure only, and libssl writes plaintext
        // only into the room.
        let outcome = unsafe bytes.withUnsafeBytes { bytes in
            unsafe pipe.pointee.input = UnsafeRawBufferPointer(rebasing: bytes[start..<bounds.end])
            let outcome = isOpen ? read(into: &room) : shakeHands()
            unsafe cursor = bounds.end - pipe.pointee.input.count
            unsafe pipe.pointee.input = UnsafeRawBufferPointer(start: nil, count: 0)
            return outcome
        }
        if case .wantsMore = outcome, bounds.isBroken {
            return .failed(.handshakeFailed("what came is not a record"))
        }
        return outcome
    }

    private enum Outcome {
        case event(TLSEvent)
        case wantsMore
        case failed(TLSError)
    }

    private func shakeHands() -> Outcome {
        // SAFETY: the input is cut to what it may be at most, and given back whole after it.
        let whole = unsafe pipe.pointee.input
        let allowed = min(whole.count, handshakeAllowance)
        unsafe pipe.pointee.input = UnsafeRawBufferPointer(rebasing: whole.prefix(allowed))
        let result = unsafe SSL_do_handshake(ssl)
        let taken = unsafe allowed - pipe.pointee.input.count
        handshakeAllowance -= taken
        unsafe pipe.pointee.input = UnsafeRawBufferPointer(rebasing: whole.dropFirst(taken))
        if result == 1 {
            isOpen = true
            return .event(.handshakeDone)
        }
        guard unsafe SSL_get_error(ssl, result) == SSL_ERROR_WANT_READ else {
            return .failed(handshakeError())
        }
        if handshakeAllowance == 0 {
            return .failed(.handshakeTooLong(limit: context.handshakeByteLimit))
        }
        // libssl makes its buffers anew when the next record comes.
        _ = unsafe SSL_free_buffers(ssl)
        return .wantsMore
    }

    private func handshakeError() -> TLSError {
        let reason = ErrorQueue.lastReason
        if reason == SSL_R_HTTP_REQUEST || reason == SSL_R_HTTPS_PROXY_REQUEST {
            return .plainHTTP
        }
        if reason == SSL_R_CERTIFICATE_VERIFY_FAILED {
            // SAFETY: the text is a constant of libcrypto that ends in a zero byte.
            let text = unsafe X509_verify_cert_error_string(SSL_get_verify_result(ssl))
            return unsafe .untrustedPeer(text.map { unsafe String(cString: $0) } ?? "")
        }
        return .handshakeFailed(ErrorQueue.lastText)
    }

    private func read(into room: inout [UInt8]) -> Outcome {
        var filled = 0
        while filled < room.count {
            var taken = 0
            // SAFETY: libssl writes at most as many bytes as are left of the room.
            let result = unsafe room.withUnsafeMutableBytes { room in
                let rest = unsafe UnsafeMutableRawBufferPointer(rebasing: room[filled...])
                return unsafe SSL_read_ex(ssl, rest.baseAddress, rest.count, &taken)
            }
            if result == 1 {
                filled += taken
                continue
            }
            switch unsafe SSL_get_error(ssl, result) {
            case SSL_ERROR_WANT_READ:
                return filled > 0 ? .event(.received(byteCount: filled)) : .wantsMore
            case SSL_ERROR_ZERO_RETURN:
                // It is told again by the next call, when the plaintext was taken.
                if filled > 0 { return .event(.received(byteCount: filled)) }
                inputHasEnded = true
                return .event(.closed)
            default:
                let error = TLSError.connectionFailed(ErrorQueue.lastText)
                guard filled > 0 else { return .failed(error) }
                failure = error
                return .event(.received(byteCount: filled))
            }
        }
        return .event(.received(byteCount: filled))
    }

    // MARK: Out

    /// Begins the handshake of a client, whose bytes come first.
    public func begin(output: inout [UInt8]) {
        let nothing: [UInt8] = []
        var (room, cursor): ([UInt8], Int) = ([], 0)
        do throws(TLSError) {
            _ = try nextEvent(in: nothing.span, at: &cursor, into: &room, output: &output)
        } catch {
            // The next call of `nextEvent` tells it.
            return
        }
    }

    /// Seals plaintext in as few records as possible, and appends them to `output`.
    ///
    /// - Throws: `.notOpen` before the handshake is done and after `close`, or what has ended the
    ///   connection.
    public func send(_ plaintext: Span<UInt8>, output: inout [UInt8]) throws(TLSError) {
        guard isOpen, !outputHasEnded, failure == nil else { throw failure ?? .notOpen }
        guard !plaintext.isEmpty else { return }
        ErrorQueue.clear()
        // SAFETY: the pipe lives as long as the session, and only this thread has it.
        unsafe swap(&output, &pipe.pointee.output)
        defer { unsafe swap(&output, &pipe.pointee.output) }
        var written = 0
        // SAFETY: libssl reads the plaintext during the call only; the pipe takes everything.
        let result = unsafe plaintext.withUnsafeBytes { bytes in
            unsafe SSL_write_ex(ssl, bytes.baseAddress, bytes.count, &written)
        }
        guard result == 1, written == plaintext.count else {
            let error = TLSError.connectionFailed(ErrorQueue.lastText)
            failure = error
            throw error
        }
    }

    /// Ends the output: appends close_notify, unless the connection never opened or has failed.
    ///
    /// What the peer sends can still be read.
    public func close(output: inout [UInt8]) {
        guard isOpen, !outputHasEnded, failure == nil else { return }
        outputHasEnded = true
        ErrorQueue.clear()
        // SAFETY: the pipe lives as long as the session, and only this thread has it.
        unsafe swap(&output, &pipe.pointee.output)
        defer { unsafe swap(&output, &pipe.pointee.output) }
        _ = unsafe SSL_shutdown(ssl)
    }

    // MARK: What was agreed on

    /// Whether the handshake was shortened by what an earlier one had left.
    public var isResumed: Bool {
        // SAFETY: only whether there is one is asked, and nothing is read through it.
        guard unsafe engine != nil else { return false }
        // SAFETY: libssl reads the session, which lives.
        return unsafe SSL_session_reused(ssl) == 1
    }

    /// The name of the version, such as `TLSv1.3`.
    public var version: String {
        // SAFETY: only whether there is one is asked, and nothing is read through it.
        guard unsafe engine != nil else { return "" }
        // SAFETY: the text is a constant of libssl that ends in a zero byte.
        return unsafe String(cString: SSL_get_version(ssl))
    }

    /// The resumption state for a client's next connection, once the server has sent a ticket.
    public var resumption: TLSResumption? {
        // SAFETY: `SSL_get1_session` gives a reference of our own.
        guard unsafe engine != nil, let raw = unsafe SSL_get1_session(ssl) else { return nil }
        guard unsafe SSL_SESSION_is_resumable(raw) == 1 else {
            unsafe SSL_SESSION_free(raw)
            return nil
        }
        return unsafe TLSResumption(owning: raw)
    }
}
