internal import BelfryHTTP
internal import BelfryLoop
internal import BelfrySystem
internal import Synchronization

/// Observing over Server-Sent Events, on networks that let no WebSocket through.
public enum EventStream {
    /// Opens a stream of the notifications with this name and this object.
    ///
    /// The broker has an observer for as long as the stream lasts; it has no token. The sequence
    /// throws when the stream breaks.
    ///
    /// - Parameters:
    ///   - name: the notification name; `nil` is any.
    ///   - object: the object; `nil` is any.
    ///   - since: the place in the past where the stream begins.
    ///   - lastEventID: the position (`ReceivedNotification.eventID`) behind which it continues; a
    ///     stream with one does not begin at `since`.
    ///   - options: the limits of the buffer, and how long the broker may be silent.
    /// - Throws: `ClientError` when the broker refuses the stream or cannot be reached.
    public static func observe(
        _ url: BrokerURL, name: String?, object: String?, since: Beginning? = nil,
        lastEventID: String? = nil, options: ClientOptions = ClientOptions()
    ) async throws(ClientError) -> Observation {
        try await observe(
            url, for: NotificationFilter(name: name, object: object), since: since,
            lastEventID: lastEventID, options: options)
    }

    /// Opens a stream of the notifications that a filter matches.
    ///
    /// - Parameters:
    ///   - url: the broker, and the center.
    ///   - filter: their names and objects, also by how they begin, and a condition.
    ///   - since: the place in the past where the stream begins.
    ///   - lastEventID: the position (`ReceivedNotification.eventID`) behind which it continues; a
    ///     stream with one does not begin at `since`.
    ///   - options: the limits of the buffer, and how long the broker may be silent.
    /// - Throws: `ClientError` when the broker refuses the stream or cannot be reached.
    public static func observe(
        _ url: BrokerURL, for filter: NotificationFilter, since: Beginning? = nil,
        lastEventID: String? = nil, options: ClientOptions = ClientOptions()
    ) async throws(ClientError) -> Observation {
        var request = HTTPRequest.get("events")
        request.query = filter.query
        if let lastEventID {
            request.query.append(("last_event_id", lastEventID))
        } else if let since {
            request.query.append(since.parameter)
        }
        request.fields = [HTTPField("Accept", "text/event-stream")]
        request.timeout = options.silenceLimit
        let stop = try ExchangeThread.makeStop()
        let buffer = NotificationBuffer(options)
        let reader = EventStreamReader(buffer, byteLimit: options.messageByteLimit, stop: stop)
        let outcome = await withCheckedContinuation { continuation in
            reader.awaitOpening { continuation.resume(returning: $0) }
            ExchangeThread.start(request, url, stop: stop) {
                reader.receive($0)
            } finish: {
                reader.finish($0)
            }
        }
        try outcome.get()
        return Observation(
            id: "", token: "", filter: filter, selector: "", buffer: buffer
        ) { () async throws(ClientError) in
            buffer.finish(nil, discarding: true)
            stop.signal()
            await reader.waitForEnd()
        }
    }
}

/// Turns the content of an event stream into notifications, on the thread of its exchange.
final class EventStreamReader: Sendable {
    typealias Opening = @Sendable (Result<Void, ClientError>) -> Void

    private struct State {
        var parser: EventStreamParser
        var isStream = false
        var head = AnswerHead()
        var refusal: [UInt8] = []
        var opening: Opening?
        var fault: ClientError?
        var hasEnded = false
        var waiters: [CheckedContinuation<Void, Never>] = []
    }

    private let state: Mutex<State>
    private let buffer: NotificationBuffer
    private let stop: LoopWake

    init(_ buffer: NotificationBuffer, byteLimit: Int, stop: LoopWake) {
        self.buffer = buffer
        self.stop = stop
        state = Mutex(State(parser: EventStreamParser(byteLimit: byteLimit)))
    }

    /// Registers the task that waits for the stream to open.
    func awaitOpening(_ opening: @escaping Opening) {
        state.withLock { $0.opening = opening }
    }

    func receive(_ event: ExchangeEvent) {
        let opening = state.withLock { state -> Opening? in
            switch event {
            case .head(let head):
                state.head = head
                state.isStream = head.isEventStream
                defer { if state.isStream { state.opening = nil } }
                return state.isStream ? state.opening : nil
            case .content(let bytes):
                if state.isStream {
                    read(bytes, &state)
                } else {
                    state.refusal += bytes
                }
                return nil
            }
        }
        opening?(.success(()))
    }

    private func read(_ bytes: [UInt8], _ state: inout State) {
        guard state.fault == nil else { return }
        var cursor = 0
        do {
            while let event = try state.parser.nextEvent(in: bytes.span, at: &cursor) {
                switch event {
                case .event(let event): try deliver(event)
                case .position(let id): buffer.record(position: String(decoding: id, as: UTF8.self))
                case .retry, .comment: break
                }
            }
        } catch let error as HTTPError {
            state.fault = .http(error)
            stop.signal()
        } catch {
            state.fault = .notUnderstood
            stop.signal()
        }
    }

    private func deliver(_ event: ServerSentEvent) throws(ClientError) {
        if event.type.isEmpty {
            var notification = try ReceivedNotification(json: event.data)
            if !event.id.isEmpty {
                notification.eventID = String(decoding: event.id, as: UTF8.self)
            }
            buffer.append(notification)
        } else if event.type.elementsEqual("belfry.gap".utf8), let gap = JSONObject(event.data) {
            buffer.append(
                ReceivedNotification.Gap(
                    lostCount: gap.integer("lost"), reason: gap.string("reason") ?? "unknown"))
        } else if event.type.elementsEqual("belfry.removed".utf8),
            let removal = JSONObject(event.data)
        {
            let reason = removal.string("reason") ?? ""
            buffer.finish(.observerRemoved(reason: reason), discarding: false)
        }
    }

    func finish(_ outcome: Result<Void, ClientError>) {
        let (opening, error, waiters) = state.withLock { state in
            defer {
                state.opening = nil
                state.waiters = []
            }
            state.hasEnded = true
            var error = state.fault ?? .connectionLost
            if case .failure(let failure) = outcome { error = failure }
            if !state.isStream, state.head.status != 0 {
                error = state.head.refusal(state.refusal)
            }
            return (state.opening, error, state.waiters)
        }
        buffer.finish(error, discarding: false)
        opening?(.failure(error))
        for waiter in waiters { waiter.resume() }
    }

    /// Waits until the connection is closed.
    func waitForEnd() async {
        await withCheckedContinuation { continuation in
            let hasEnded = state.withLock { state in
                if !state.hasEnded { state.waiters.append(continuation) }
                return state.hasEnded
            }
            if hasEnded { continuation.resume() }
        }
    }
}
