internal import BelfryJSON

/// A command of a center to the loop that holds its connection.
///
/// Each reply is called once, on the loop's thread, and only passes its value on.
enum ClientCommand: Sendable {
    /// The function that receives the outcome of a command.
    struct Reply<Value: Sendable>: Sendable {
        private let receive: @Sendable (Result<Value, ClientError>) -> Void
        private let wanting: @Sendable () -> Bool

        /// Makes a reply out of this function, which only passes its value on.
        init(
            while isWanted: @escaping @Sendable () -> Bool = { true },
            _ receive: @escaping @Sendable (Result<Value, ClientError>) -> Void
        ) {
            self.receive = receive
            wanting = isWanted
        }

        /// Whether a task still waits for the result.
        var isWanted: Bool { wanting() }

        func callAsFunction(_ result: Result<Value, ClientError>) {
            receive(result)
        }
    }

    /// Makes the first connection: once if a task waits for it, else like one that was lost.
    case open(Reply<Void>?)
    /// The token function has answered, or failed, for the attempt to connect with this number.
    case token(attempt: Int, Result<BrokerURL, ClientError>)
    case addObserver(ObserverWish, Reply<Registration>)
    case removeObserver(selector: String, Reply<Void>)
    case answer(DeliveryAnswer, Reply<Void>)
    case post(PostWish, Reply<PostReceipt>)
    case setSuspended(Bool, Reply<Void>)
    /// Call a method with these params; the reply is its result as JSON.
    case call(method: String, params: [UInt8], Reply<[UInt8]>)
    /// Remove all observers, then close.
    case close(Reply<Void>)

    /// Whether a task waits for the outcome: a command without one is not begun.
    var isWanted: Bool {
        switch self {
        case .addObserver(_, let reply): reply.isWanted
        case .post(_, let reply): reply.isWanted
        case .setSuspended(_, let reply): reply.isWanted
        case .call(_, _, let reply): reply.isWanted
        case .open, .token, .removeObserver, .answer, .close: true
        }
    }

    /// The time limit of its own, if it has one.
    var timeout: Duration? {
        switch self {
        case .addObserver(let wish, _): wish.options.timeout
        case .post(let wish, _): wish.options.timeout
        case .open, .token, .removeObserver, .answer, .setSuspended, .call, .close: nil
        }
    }

    /// Reports to the task that asked that the command will not happen.
    func fail(_ error: ClientError) {
        switch self {
        case .open(let reply): reply?(.failure(error))
        case .token: break
        case .addObserver(_, let reply): reply(.failure(error))
        case .removeObserver(_, let reply): reply(.success(()))
        case .answer(_, let reply): reply(.failure(error))
        case .post(_, let reply): reply(.failure(error))
        case .setSuspended(_, let reply): reply(.failure(error))
        case .call(_, _, let reply): reply(.failure(error))
        case .close(let reply): reply(.success(()))
        }
    }
}

/// An observer that the program wants.
struct ObserverWish: Sendable {
    let filter: NotificationFilter
    /// The identity in this client: its selector, or a text that no selector can be.
    ///
    /// A responder has several selectors, and that of an action is one of the responder that it
    /// goes to.
    let selector: String
    /// Where it begins, if that is in the past.
    let since: Beginning?
    var options = ObserverOptions()
    let buffer: NotificationBuffer
    /// Where its asks are handled, if it is a responder.
    var desk: ResponderDesk?
    /// The target of its notifications, if another client may hold it.
    var action: Action?

    /// The selector that is called at the holder of an address.
    struct Action: Sendable {
        let target: String
        let selector: String
    }
    /// The value that it observes, if any.
    var place: Place?

    /// A place in the value of the object, and how it is observed.
    struct Place: Sendable {
        let keyPath: String
        let options: ValueOptions
    }

    init(
        filter: NotificationFilter, selector: String, since: Beginning?,
        options: ObserverOptions = ObserverOptions(), buffer: NotificationBuffer,
        desk: ResponderDesk? = nil, place: Place? = nil
    ) {
        self.filter = filter
        self.selector = selector
        self.since = since
        self.options = options
        self.buffer = buffer
        self.desk = desk
        self.place = place
    }

    init(
        name: String?, object: String?, selector: String, since: Beginning?,
        options: ObserverOptions = ObserverOptions(), buffer: NotificationBuffer,
        desk: ResponderDesk? = nil, place: Place? = nil
    ) {
        self.init(
            filter: NotificationFilter(name: name, object: object), selector: selector,
            since: since, options: options, buffer: buffer, desk: desk, place: place)
    }

    /// Whether its deliveries have numbers from which a new registration can resume.
    ///
    /// A responder begins anew, an observer with a target has no deliveries of its own, and a value
    /// comes whole.
    var isReplayed: Bool { desk == nil && action == nil && place == nil }

    /// Ends its deliveries: at once, or behind those that wait.
    func finish(_ error: ClientError?, discarding: Bool) {
        buffer.finish(error, discarding: discarding)
        desk?.finish(error)
    }
}

/// A notification that the program wants to post.
struct PostWish: Sendable {
    let name: String
    var object: String?
    var userInfo: UserInfo?
    var options = PostOptions()

    /// Writes the members of the notification.
    func write(_ writer: inout JSONWriter, _ bytes: inout [UInt8]) {
        writer.member("name", string: name, into: &bytes)
        if let object { writer.member("object", string: object, into: &bytes) }
        if let userInfo { writer.member("userInfo", raw: userInfo.json, into: &bytes) }
        options.write(&writer, &bytes)
    }
}

/// The answer of an acknowledging observer to a delivery, or of a responder to an ask.
struct DeliveryAnswer: Sendable {
    let selector: String
    /// The key of the owed answer (`ReceivedNotification.owedKey`).
    let key: String
    let response: DeliveryResponse
}

/// The response to a delivery or an ask.
enum DeliveryResponse: Equatable, Sendable {
    /// Acknowledged, or answered with this JSON.
    case result([UInt8])
    /// Refused for this reason.
    case refused(String)
    /// Handed on.
    case passed

    static let acknowledgement = result(Array("null".utf8))
}

/// An observer as the broker registered it.
struct Registration: Equatable, Sendable {
    let id: String
    let token: String
    /// Deliveries have greater numbers.
    let since: UInt64

    init(json: [UInt8]) throws(ClientError) {
        guard let row = JSONObject(json), let id = row.string("id"), let token = row.string("token")
        else { throw .notUnderstood }
        self.id = id
        self.token = token
        since = row.integer("since").flatMap { UInt64(exactly: $0) } ?? 0
    }
}

/// The broker's first message (Protocol.md section 5).
struct Welcome: Equatable, Sendable {
    /// The secret with which the client resumes after a lost connection.
    let session: String
    let epoch: String
    /// The time for which the broker leaves a silent line alone; nil from one without `ping`.
    let pingInterval: Duration?

    init(json: [UInt8]) throws(ClientError) {
        guard let row = JSONObject(json), let session = row.string("session"),
            let epoch = row.string("epoch")
        else { throw .notUnderstood }
        self.session = session
        self.epoch = epoch
        pingInterval = row.seconds("pingInterval").flatMap { $0 > .zero ? $0 : nil }
    }
}
