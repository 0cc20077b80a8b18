import BelfryAccess
import BelfryCenter
import BelfryHTTP
import BelfryLoop
import BelfryWire

/// A request of one center: it travels to the loop on which the center lives.
struct Submission: Sendable {
    /// The center; a post or a client makes it.
    let center: [UInt8]
    /// The request itself.
    var request: CenterRequest
    /// The caller.
    let caller: Caller
    /// The destination of the answer, and its form.
    let reply: Reply
    /// The address of the caller, if that is counted.
    var address: NetworkAddress?
}

/// A request of a center.
enum CenterRequest: Sendable {
    case post(PostRequest, PostWishes?)
    case postBatch([PostRequest], PostWishes?)
    indirect case ask(AskRequest, AskWishes)
    case withdraw(NotificationID)
    indirect case answer(NotificationID, Secret, Response)
    indirect case archives(ArchivesRequest)
    case fate(NotificationID, wait: Int64)
    indirect case readValue(ValueLook, wait: Int64)
    indirect case write(ValueRequest)
    case connect(Transport, observers: [ObserverRequest], since: ReplayPosition?)
    indirect case addObserver(ObserverRequest)
    case removeObserver(Secret)
    indirect case readMailbox(Secret, MailboxRequest, wait: Int64)
    case openStream(Secret, since: ReplayPosition?)
    case removeClient(id: UInt64, session: [UInt8]?)
    case suspendClient(id: UInt64, session: [UInt8]?, Bool)
    indirect case dequeue(DequeueRequest)
    indirect case enterMode(ModeRequest)
    case leaveMode(Secret)
    case endCenter
    case changeCluster(ClusterChange)
    case makeTicket(shown: [UInt8])
    case look(Look)
    case centers(rows: [CenterRow], cursor: UInt64, limit: Int)
    case calls(text: [UInt8], CallingClient)
    case note(ConnectionNote)
}

extension CenterRequest {
    /// The same request without a wait.
    var withoutWait: CenterRequest {
        switch self {
        case .fate(let id, _): .fate(id, wait: 0)
        case .readValue(let look, _): .readValue(look, wait: 0)
        case .readMailbox(let secret, let request, _): .readMailbox(secret, request, wait: 0)
        default: self
        }
    }

    /// Whether the answer may be much larger than the request.
    var mayBeLarge: Bool {
        switch self {
        case .fate, .readValue, .readMailbox, .openStream, .look, .centers: true
        case .archives(.past): true
        case .connect(_, let observers, let since): !observers.isEmpty || since != nil
        case .post, .postBatch, .ask, .withdraw, .answer, .write, .addObserver, .removeObserver,
            .removeClient, .suspendClient, .dequeue, .enterMode, .leaveMode, .endCenter,
            .changeCluster, .makeTicket, .calls, .note, .archives:
            false
        }
    }

    /// A page of a listing.
    static func listing(_ listing: CenterListing) -> CenterRequest { .look(.listing(listing)) }
}

/// A request about what archives keep.
enum ArchivesRequest: Sendable {
    /// A page of the past, and what an earlier turn found of it.
    case past(PastRequest, progress: PastPage?)
    /// A removal of notifications, with what earlier turns did.
    case forget(PastQuery, above: UInt64, count: Int)
    case put(ArchiveName, ArchiveRequest)
    case remove(ArchiveName)
}

/// A note of a connection to its center, which sends no answer.
enum ConnectionNote: Sendable {
    /// - Parameter wasWritten: whether bytes were written to it since its client is known.
    case disconnect(client: UInt64, end: ConnectionEnd = .broken, wasWritten: Bool = true)
    case becomeSlow(client: UInt64)
    case drain(client: UInt64)
    /// The event stream has been silent for long.
    case keepAlive(client: UInt64)
    /// The client has shut down its half, or is gone: its waits end.
    case endWait
    case detachReader(observer: UInt64)
}

/// Preferences of a post; most posts have none.
final class PostWishes: Sendable {
    /// The wait for observers in nanoseconds; nil is the default.
    let wait: Int64?
    /// The idempotency key and the hash of the request.
    let key: (text: [UInt8], requestHash: SecretHash)?

    /// Joins both; nil without either.
    init?(wait: Int64?, key: (text: [UInt8], requestHash: SecretHash)?) {
        if wait == nil, key == nil { return nil }
        self.wait = wait
        self.key = key
    }
}

/// Preferences of an ask.
struct AskWishes: Sendable {
    /// The wait in nanoseconds; nil is the default.
    var wait: Int64?
    /// Whether the ask stays open when the wait is over.
    var outlivesAsker = false
    /// The idempotency key and the hash of the request.
    var key: (text: [UInt8], requestHash: SecretHash)?
}

/// A client that calls methods, with the session that its registrations repeat.
struct CallingClient: Sendable {
    let number: UInt64
    let session: [UInt8]
}

/// A position in the order of a center, as an event stream names it.
struct ReplayPosition: Sendable {
    let epoch: [UInt8]
    let sequence: UInt64
}

/// The destination of an answer.
struct Reply: Sendable {
    /// The loop that has the connection.
    let loop: Int
    /// The connection; a stale one is ignored.
    let connection: ConnectionID
    /// The form of the answer.
    let form: Form
    /// The encoding of messages for the connection; it is a part of its number.
    let encoding: FrameEncoding

    /// The number of the connection for centers.
    var number: ConnectionNumber {
        ConnectionNumber(loop: loop, connection: connection, encoding: encoding)
    }

    enum Form: Sendable {
        /// No answer.
        case none
        /// A response to an HTTP request.
        case http(HTTPReply)
        /// A text frame of the WebSocket on which a client calls.
        case calls
    }
}

/// The facts that a response to an HTTP request depends on besides its content.
struct HTTPReply: Sendable {
    var context: ResponseContext
    /// Whether the request removes something, which is done also where the store refuses changes.
    var isRemoval = false
    /// Whether a post is answered with 204.
    var isMinimal = false
    /// Whether the receipt has one row an observer.
    var reportsObservers = false
    /// Whether the request is a post with its timer in the query, not in the content.
    var hasTimerInQuery = false
    /// Whether the client takes content that is encoded with gzip.
    var acceptsGzip = false
    /// The encoding of messages, if the request opens a WebSocket.
    var encoding = FrameEncoding.plain
    /// The preference that was honoured (RFC 7240 §3).
    var appliedPreference = AppliedPreference.none
    /// Whether the answer depends on the origin.
    var variesByOrigin = false
    /// The details that only few replies need.
    private var box: Box?

    init(context: ResponseContext) {
        self.context = context
    }

    /// Whether the reply depends on the context alone.
    var isUsual: Bool {
        !isMinimal && !reportsObservers && appliedPreference == .none && !variesByOrigin
            && box == nil
    }

    enum AppliedPreference: String {
        case none
        case minimal = "return=minimal"
        case asynchronous = "respond-async"
    }

    /// Details that only few replies need.
    struct Details: Sendable {
        /// The path before `/observers/…`, so that locations keep it.
        var pathPrefix: [UInt8] = []
        /// Whether the answer to an ask is the content, and the rest is in fields.
        var isBare = false
        /// The origin of the page that asked, if it may read the answer.
        var allowedOrigin: [UInt8]?
        /// Whether the target of the request has a secret: the answer stays out of every cache.
        var hasSecretTarget = false
        /// The opening of a WebSocket: accept key, subprotocol, and extensions.
        var acceptKey: [UInt8] = []
        var subprotocol: [UInt8]?
        var extensions: [UInt8]?
        /// The summary of the request for the log, if it is logged.
        var asked: Asked?
    }

    /// A box, so that most replies have one empty reference instead of four.
    private final class Box: Sendable {
        let details: Details

        init(_ details: Details) {
            self.details = details
        }
    }

    /// The details that only few replies need.
    var details: Details {
        get { box?.details ?? Details() }
        set { box = Box(newValue) }
    }

    /// Whether the target of the request has a secret.
    var hasSecretTarget: Bool { box?.details.hasSecretTarget ?? false }

    /// The origin of the page that asked, if it may read the answer.
    var allowedOrigin: [UInt8]? { box?.details.allowedOrigin }
}
