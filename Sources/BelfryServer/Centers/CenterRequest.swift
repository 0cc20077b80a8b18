import BelfryAccess
import BelfryCenter
import BelfryHTTP
import BelfryLoop
import BelfryWire

/// Something that is asked of one center: it travels to the loop on which the center lives.
struct Submission: Sendable {
    /// The center; it comes into being by a post or by a client.
    let center: [UInt8]
    /// What is asked.
    var request: CenterRequest
    /// Who asks.
    let caller: Caller
    /// Where the answer goes, and in which form.
    let reply: Reply
    /// Where it comes from, if that is counted.
    var address: NetworkAddress?
}

/// What can be asked of a center.
enum CenterRequest: Sendable {
    case post(PostRequest, PostWishes?)
    case postBatch([PostRequest], PostWishes?)
    indirect case ask(AskRequest, AskWishes)
    case withdraw(NotificationID)
    indirect case answer(NotificationID, Secret, Response)
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
    /// The same, answered at once.
    var withoutWait: CenterRequest {
        switch self {
        case .fate(let id, _): .fate(id, wait: 0)
        case .readValue(let look, _): .readValue(look, wait: 0)
        case .readMailbox(let secret, let request, _): .readMailbox(secret, request, wait: 0)
        default: self
        }
    }

    /// Whether its answer may be much larger than what is asked.
    var mayBeLarge: Bool {
        switch self {
        case .fate, .readValue, .readMailbox, .openStream, .look, .centers: true
        case .connect(_, let observers, let since): !observers.isEmpty || since != nil
        case .post, .postBatch, .ask, .withdraw, .answer, .write, .addObserver, .removeObserver,
            .removeClient, .suspendClient, .dequeue, .enterMode, .leaveMode, .endCenter,
            .changeCluster, .makeTicket, .calls, .note:
            false
        }
    }

    /// A page of a listing.
    static func listing(_ listing: CenterListing) -> CenterRequest { .look(.listing(listing)) }
}

/// The news that a connection has for its center, which sends no answer.
enum ConnectionNote: Sendable {
    /// - Parameter wasWritten: whether anything was written to it since its client is known.
    case disconnect(client: UInt64, end: ConnectionEnd = .broken, wasWritten: Bool = true)
    case becomeSlow(client: UInt64)
    case drain(client: UInt64)
    /// Its event stream has been silent for long.
    case keepAlive(client: UInt64)
    /// It waits for nothing any more: its client has shut down its half, or is gone.
    case endWait
    case detachReader(observer: UInt64)
}

/// What only few posts ask for besides themselves: most ask for nothing of it.
final class PostWishes: Sendable {
    /// How many nanoseconds the poster waits for its observers; nil is as long as usual.
    let wait: Int64?
    /// The name under which the answer is found again, and the hash of the request.
    let key: (text: [UInt8], requestHash: SecretHash)?

    /// Joins both; nil where there is nothing to wish.
    init?(wait: Int64?, key: (text: [UInt8], requestHash: SecretHash)?) {
        if wait == nil, key == nil { return nil }
        self.wait = wait
        self.key = key
    }
}

/// What an asker wishes besides an answer.
struct AskWishes: Sendable {
    /// How many nanoseconds it waits; nil is as long as usual.
    var wait: Int64?
    /// Whether the ask lives on when the wait is over.
    var outlivesAsker = false
    /// The name under which the answer is found again, and the hash of the request.
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

/// Where an answer goes.
struct Reply: Sendable {
    /// The loop that has the connection.
    let loop: Int
    /// The connection; a stale one is ignored.
    let connection: ConnectionID
    /// The form of the answer.
    let form: Form
    /// How messages for the connection are encoded: it is a part of its number.
    let encoding: FrameEncoding

    /// The number under which a center knows the connection.
    var number: ConnectionNumber {
        ConnectionNumber(loop: loop, connection: connection, encoding: encoding)
    }

    enum Form: Sendable {
        /// Nobody waits.
        case none
        /// A response to an HTTP request.
        case http(HTTPReply)
        /// A text frame of the WebSocket on which a client calls.
        case calls
    }
}

/// What a response to an HTTP request depends on besides its content.
struct HTTPReply: Sendable {
    var context: ResponseContext
    /// Whether the request removes something, which is done also where nothing new is promised.
    var isRemoval = false
    /// Answer a post with 204.
    var isMinimal = false
    /// One row an observer in the receipt.
    var reportsObservers = false
    /// Whether a post is asked for whose timer stands in the query, and not in the content.
    var hasTimerInQuery = false
    /// Whether the client takes content that is encoded with gzip.
    var acceptsGzip = false
    /// How messages will be encoded, if it is the opening of a WebSocket.
    var encoding = FrameEncoding.plain
    /// Which preference was honoured (RFC 7240 §3).
    var appliedPreference = AppliedPreference.none
    /// Whether another origin would get another answer.
    var variesByOrigin = false
    /// What only few replies need; most requests ask for nothing of it.
    private var box: Box?

    init(context: ResponseContext) {
        self.context = context
    }

    /// Whether it depends on the context alone.
    var isUsual: Bool {
        !isMinimal && !reportsObservers && appliedPreference == .none && !variesByOrigin
            && box == nil
    }

    enum AppliedPreference: String {
        case none
        case minimal = "return=minimal"
        case asynchronous = "respond-async"
    }

    /// What only few replies need.
    struct Details: Sendable {
        /// The path before `/observers/…`, so that locations keep it.
        var pathPrefix: [UInt8] = []
        /// The origin of the page that asked, if it may read the answer.
        var allowedOrigin: [UInt8]?
        /// Whether the target of the request has a secret: the answer stays out of every cache.
        var hasSecretTarget = false
        /// The opening of a WebSocket: accept key, subprotocol, and extensions.
        var acceptKey: [UInt8] = []
        var subprotocol: [UInt8]?
        var extensions: [UInt8]?
        /// What was asked for, if the log is to tell of it.
        var asked: Asked?
    }

    /// One reference in the place of four.
    private final class Box: Sendable {
        let details: Details

        init(_ details: Details) {
            self.details = details
        }
    }

    /// What only few replies need.
    var details: Details {
        get { box?.details ?? Details() }
        set { box = Box(newValue) }
    }

    /// Whether the target of the request has a secret.
    var hasSecretTarget: Bool { box?.details.hasSecretTarget ?? false }

    /// The origin of the page that asked, if it may read the answer.
    var allowedOrigin: [UInt8]? { box?.details.allowedOrigin }
}
