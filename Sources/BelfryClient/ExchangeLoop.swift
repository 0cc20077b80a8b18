internal import BelfryHTTP
internal import BelfryLoop
internal import BelfrySystem

/// A part of the answer to one request.
enum ExchangeEvent {
    /// The head is there.
    case head(AnswerHead)
    /// Some of the content.
    case content([UInt8])
}

/// One request and its answer over a connection of its own.
struct ExchangeLoop: ~Copyable {
    private var loop: EventLoop
    private let request: HTTPRequest
    private let url: BrokerURL
    private var parser: ResponseParser
    private var isStream = false
    private let line: SecureLine?

    init(
        _ request: HTTPRequest, _ url: BrokerURL, _ line: SecureLine?, stop: LoopWake?,
        kernel: Kernel
    ) throws(SystemCallError) {
        var loop = try EventLoop(LoopConfiguration(), kernel: kernel)
        loop.reportsIdle = false
        if let stop { try loop.attach(stop) }
        loop.filter = line
        self.line = line
        self.loop = loop
        self.request = request
        self.url = url
        parser = ResponseParser(limits: HTTPLimits())
        parser.bodyByteLimit = request.contentByteLimit
        parser.requestMethod = request.method
    }

    /// Runs until the answer is complete, or the wake is signalled.
    mutating func run(_ take: (ExchangeEvent) -> Void) -> Result<Void, ClientError> {
        do throws(ClientError) {
            var input = [UInt8](repeating: 0, count: 65_536)
            guard let id = try open(&input) else { return .success(()) }
            loop.setDeadline(id, at: loop.now + request.timeout)
            while true {
                let event = try nextEvent(&input)
                if let outcome = handle(event, id, input, take) {
                    loop.close(id)
                    return outcome
                }
            }
        } catch {
            return .failure(error)
        }
    }

    /// Opens the connection; nil where the wake is signalled during the name lookup.
    private mutating func open(_ input: inout [UInt8]) throws(ClientError) -> ConnectionID? {
        let end = loop.now + request.timeout
        var call = EndpointCall()
        do throws(EndpointCall.Failure) {
            if let id = try call.open(url.endpoint, &loop) { return id }
        } catch {
            throw ClientError(error)
        }
        _ = loop.schedule(at: loop.now, 0)
        while loop.now < end {
            switch try nextEvent(&input) {
            case .mail: return nil
            case .timer:
                do throws(EndpointCall.Failure) {
                    if let id = try call.goOn(&loop) { return id }
                } catch {
                    throw ClientError(error)
                }
                _ = loop.schedule(at: loop.now + Self.lookInterval, 0)
            default: break
            }
        }
        throw .timedOut
    }

    /// How often it is seen whether a name has an address by now.
    private static let lookInterval = Duration.milliseconds(10)

    private mutating func nextEvent(_ input: inout [UInt8]) throws(ClientError) -> LoopEvent {
        do throws(SystemCallError) {
            return try loop.nextEvent(into: &input)
        } catch {
            throw .system(error)
        }
    }

    private mutating func handle(
        _ event: LoopEvent, _ id: ConnectionID, _ input: [UInt8], _ take: (ExchangeEvent) -> Void
    ) -> Result<Void, ClientError>? {
        switch event {
        case .connected:
            if let line {
                loop.filterOutput(of: id)
                loop.send(sealed: line.begin(id).span, to: id)
            }
            let start = loop.output.count
            request.append(url, to: &loop.output)
            loop.send(start..<loop.output.count, to: id, as: .answer)
            return nil
        case .received(_, let byteCount):
            if isStream || request.contentByteLimit == nil {
                loop.setDeadline(id, at: loop.now + request.timeout)
            }
            let bytes = input.span.extracting(0..<byteCount)
            return line == nil ? read(bytes, take) : readSealed(bytes, id, take)
        case .endOfInput: return finish()
        case .closed(_, .failed(let errno)): return .failure(.connectionFailed(errno: errno))
        case .closed: return .failure(.connectionLost)
        case .deadline: return .failure(.timedOut)
        case .mail: return .success(())
        case .endAhead, .overHighWater, .drained, .accepted, .refused, .arrived, .timer, .signal,
            .turnEnds,
            .idle,
            .waiting:
            return nil
        }
    }

    private mutating func readSealed(
        _ bytes: Span<UInt8>, _ id: ConnectionID, _ take: (ExchangeEvent) -> Void
    ) -> Result<Void, ClientError>? {
        guard let line else { return nil }
        var own: [UInt8] = []
        do throws(ClientError) {
            let opened = try line.open(bytes, of: id, own: &own)
            loop.send(sealed: own.span, to: id)
            if let outcome = read(opened.plaintext.span, take) { return outcome }
            return opened.hasEnded ? finish() : nil
        } catch {
            return .failure(error)
        }
    }

    private mutating func read(
        _ bytes: Span<UInt8>, _ take: (ExchangeEvent) -> Void
    ) -> Result<Void, ClientError>? {
        var cursor = 0
        do throws(HTTPError) {
            while let event = try parser.nextEvent(in: bytes, at: &cursor) {
                switch event {
                case .head:
                    let head = AnswerHead(parser.head)
                    isStream = head.isEventStream
                    if isStream { parser.bodyByteLimit = nil }
                    take(.head(head))
                case .body(let range):
                    take(.content(range.map { bytes[$0] }))
                case .end:
                    return .success(())
                }
            }
            return nil
        } catch {
            return .failure(.http(error))
        }
    }

    private mutating func finish() -> Result<Void, ClientError> {
        do throws(HTTPError) {
            return try parser.finish() == .end ? .success(()) : .failure(.connectionLost)
        } catch {
            return .failure(isStream ? .connectionLost : .http(error))
        }
    }
}

/// Runs exchanges on threads of their own.
enum ExchangeThread {
    /// Runs one exchange, and waits for its end; `take` is called on its thread.
    static func run(
        _ request: HTTPRequest, _ url: BrokerURL,
        _ take: @escaping @Sendable (ExchangeEvent) -> Void
    ) async throws(ClientError) {
        let stop = try makeStop()
        let outcome = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                start(request, url, stop: stop, take) { continuation.resume(returning: $0) }
            }
        } onCancel: {
            stop.signal()
        }
        if Task.isCancelled { throw .cancelled }
        try outcome.get()
    }

    /// Makes the wake that ends an exchange when it is signalled.
    static func makeStop() throws(ClientError) -> LoopWake {
        do throws(SystemCallError) {
            return try LoopWake()
        } catch {
            throw .system(error)
        }
    }

    /// Starts an exchange; `end` is called once, after the last event.
    static func start(
        _ request: HTTPRequest, _ url: BrokerURL, stop: LoopWake?,
        _ take: @escaping @Sendable (ExchangeEvent) -> Void,
        end: @escaping @Sendable (Result<Void, ClientError>) -> Void
    ) {
        do throws(SystemCallError) {
            _ = try SystemThread { end(outcome(request, url, stop: stop, take)) }
        } catch {
            end(.failure(.system(error)))
        }
    }

    private static func outcome(
        _ request: HTTPRequest, _ url: BrokerURL, stop: LoopWake?, _ take: (ExchangeEvent) -> Void
    ) -> Result<Void, ClientError> {
        do throws(ClientError) {
            try request.check()
            let line = try SecureLine.make(url)
            do throws(SystemCallError) {
                var loop = try ExchangeLoop(request, url, line, stop: stop, kernel: .linux)
                return loop.run(take)
            } catch {
                throw .system(error)
            }
        } catch {
            return .failure(error)
        }
    }
}
