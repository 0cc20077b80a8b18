/// A change of a center: the only way in (``NotificationCenter/apply(_:at:into:)``).
///
/// Whoever accepts a command puts into it what a log of commands does not determine: times,
/// identifiers and hashes of secrets. The same commands then give the same state everywhere.
public struct Command: Sendable {
    /// The name by which its answer is found.
    public let id: CommandID
    /// When it was accepted.
    public let time: CommandTime
    /// What it asks for.
    public let action: Action

    /// Joins the three parts.
    public init(id: CommandID, time: CommandTime, action: Action) {
        self.id = id
        self.time = time
        self.action = action
    }

    /// What a command can ask for.
    public enum Action: Sendable {
        /// The center's own limits.
        indirect case configure(CenterLimits)
        /// A client has connected; the observers are those that it has from its first moment.
        indirect case connect(ClientRegistration, observers: [ObserverRegistration], since: UInt64?)
        /// A client's connection has ended.
        ///
        /// It says which connection: one that was taken over from is no longer the client's.
        case disconnect(client: UInt64, connection: ConnectionName)
        /// A client that connected just now continues an earlier one (Protocol.md section 6).
        case resume(Resumption)
        /// A client asks for suspension, or for its end.
        case setSuspended(client: UInt64, Bool)
        /// More bytes wait for a client's socket than may.
        case becomeSlow(client: UInt64)
        /// A client's socket has room again: it is slow no more, and what it was held goes on.
        case drain(client: UInt64)
        /// One post.
        case post(Post, PostTerms)
        /// Several posts in one callout, all or nothing.
        case postBatch([Post], PostTerms)
        /// An acknowledging observer has answered a delivery; `error` is its refusal, as JSON text.
        case acknowledge(client: UInt64, observer: UInt64, sequence: UInt64, error: [UInt8]?)
        /// A client registers an observer; `since` asks for what the replay ring has above it.
        indirect case addObserver(ObserverRegistration, client: UInt64, since: UInt64?)
        /// Removes one observer.
        case removeObserver(serial: UInt64, by: Remover)
        /// Removes a client's observers whose filter is this one (rule O3).
        ///
        /// Nil stands for any; with both nil nothing is removed (rule O10).
        case removeObservers(client: UInt64, name: [UInt8]?, object: [UInt8]?)
        /// Removes a client with all of its observers.
        case removeClient(client: UInt64, by: Remover)
        /// A mailbox is looked into: everything up to `through` is acknowledged, and the lease of
        /// its observers starts again.
        case readMailbox(observer: UInt64, through: UInt64?)
        /// A long poll or a stream waits at a mailbox from now on; an earlier one is told to go.
        case attachReader(observer: UInt64, ConnectionName, isStream: Bool)
        /// A long poll or a stream has ended.
        case detachReader(observer: UInt64, ConnectionName)
        /// Removes queue entries that match; they are not posted (rule Q20).
        indirect case dequeue(QueueMatch)
        /// Removes one queue entry.
        case dequeueEntry(NotificationID, scope: PostScope)
        /// A client, or somebody over HTTP, enters a mode (rule Q16).
        indirect case enterMode(ModeEntry)
        /// A mode lease ends.
        case leaveMode(serial: UInt64)
        /// The callouts of a turn are over: the asap entries of the current mode are posted, at least
        /// one, up to so much work; one delivery is 1.
        case endTurn(workLimit: Int)
        /// Nothing is to be done: one idle entry of the current mode is posted (rule Q13).
        case idle
        /// Time has passed: what is due by the time of the command happens, the earliest first and at
        /// least one, up to so much work; one delivery is 1.
        case passTime(workLimit: Int)
        /// The center stops: asap entries of the current mode are posted, and all that must last and
        /// is not kept up to date is told as changes (rule Q23).
        case terminate
        /// All centers hold too much: the oldest held notifications are dropped until no more than
        /// so many bytes are held here.
        case trimHeld(byteCount: Int)
        /// Forgets the oldest of a kind until no more than so many are left.
        case trim(KeptKind, count: Int)
        /// Forgets the oldest eighth of what is held, or of the keys that are kept, for an owner.
        case trimOwned(KeptKind, Owner)
    }
}

/// The name of a command: which node accepted it, in which of its lives, and its number there.
public struct CommandID: Hashable, Sendable {
    /// The machine.
    public let node: UInt32
    /// Which start of the broker on that machine.
    public let incarnation: UInt64
    /// The number of the command in that life.
    public let counter: UInt64

    /// Joins the three parts.
    public init(node: UInt32, incarnation: UInt64, counter: UInt64) {
        self.node = node
        self.incarnation = incarnation
        self.counter = counter
    }
}

/// The time that a command carries: what people read, and what durations are measured with.
public struct CommandTime: Sendable, Equatable {
    /// Milliseconds since 1970, UTC.
    public let wallMilliseconds: Int64
    /// Nanoseconds of a clock that never goes back.
    public let monotonicNanoseconds: Int64

    /// Joins both clocks.
    public init(wallMilliseconds: Int64, monotonicNanoseconds: Int64) {
        self.wallMilliseconds = wallMilliseconds
        self.monotonicNanoseconds = monotonicNanoseconds
    }
}

/// One notification that a poster hands in.
public struct Post: Sendable {
    /// The identifier that it will have.
    public let id: NotificationID
    /// Name, object and userInfo.
    public let content: Notification.Content
    /// The notification whose handling posts this one (rule C12).
    public let causedBy: NotificationID?
    /// How it is posted; nil for a plain post without options, which nearly all are.
    public let options: PostOptions?

    /// Joins the parts.
    public init(
        id: NotificationID, content: Notification.Content, causedBy: NotificationID? = nil,
        options: PostOptions? = nil
    ) {
        self.id = id
        self.content = content
        self.causedBy = causedBy
        self.options = options
    }
}

/// A connection, named by its machine and its number there: a center keeps no reference to it.
public struct ConnectionName: Hashable, Sendable {
    /// The machine that has the socket.
    public let node: UInt32
    /// The number of the connection on that machine; never used twice in one life of the broker.
    public let number: UInt64

    /// Joins both parts.
    public init(node: UInt32, number: UInt64) {
        self.node = node
        self.number = number
    }
}

/// How a client gets its notifications.
public enum Transport: UInt8, Sendable, CaseIterable {
    /// JSON-RPC over a WebSocket.
    case webSocket
    /// Server-Sent Events.
    case events
    /// Nothing is sent: whoever has an observer's token comes and looks.
    case mailbox
}

/// A client that connects.
public struct ClientRegistration: Sendable {
    /// Its number; `c4` has 4.
    public let id: UInt64
    /// How it gets its notifications.
    public let transport: Transport
    /// The owner that what it makes counts for.
    public let owner: Owner
    /// Where they are to be sent.
    public let connection: ConnectionName
    /// The hash of the secret that speaks for the client.
    public let sessionHash: SecretHash
    /// Who it is, as access control named it.
    public let principal: [UInt8]

    /// Joins the parts.
    public init(
        id: UInt64, transport: Transport, connection: ConnectionName, sessionHash: SecretHash,
        principal: [UInt8], owner: Owner = .none
    ) {
        self.id = id
        self.transport = transport
        self.connection = connection
        self.sessionHash = sessionHash
        self.principal = principal
        self.owner = owner
    }
}

/// An observer that a client registers.
public struct ObserverRegistration: Sendable {
    /// Its number, above all that were registered before; `o17` has 17.
    public let serial: UInt64
    /// The hash of the secret half of its token.
    public let tokenHash: SecretHash
    /// The notification name that must match; nil is any (rule C2).
    public let name: [UInt8]?
    /// The object that must match; nil is any.
    public let object: [UInt8]?
    /// The method that the client is called with.
    public let selector: [UInt8]
    /// How it is treated, and how long it lives.
    public let terms: ObserverTerms

    /// Joins the parts.
    public init(
        serial: UInt64, tokenHash: SecretHash, name: [UInt8]?, object: [UInt8]?, selector: [UInt8],
        terms: ObserverTerms = ObserverTerms()
    ) {
        self.serial = serial
        self.tokenHash = tokenHash
        self.name = name
        self.object = object
        self.selector = selector
        self.terms = terms
    }
}

/// The hash of a secret: the first 128 bits of its SHA-256.
public struct SecretHash: Hashable, Sendable {
    /// The first 64 bits.
    public let high: UInt64
    /// The next 64 bits.
    public let low: UInt64

    /// Joins both halves.
    public init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// Whether both hashes are equal, in a time that does not depend on where they differ.
    public func matches(_ other: SecretHash) -> Bool {
        (high ^ other.high) | (low ^ other.low) == 0
    }
}

/// Who removed an observer (rule O9).
public enum Remover: Sendable, Equatable {
    /// A client, by its number.
    case client(UInt64)
    /// Somebody over HTTP, as access control named them.
    case principal([UInt8])
    /// The broker itself.
    case broker
}

/// The limits that one center keeps (Protocol.md section 11).
public struct CenterLimits: Sendable, Equatable {
    /// Observers of one client; the default is 10,000.
    public var clientObserverLimit = 10_000
    /// Notifications in the replay ring; the default is 1,000.
    public var replayCountLimit = 1_000
    /// Bytes of name, object and userInfo in the replay ring; the default is 4 MiB.
    public var replayByteLimit = 4 << 20
    /// Removed observers that are remembered; the default is 100,000.
    public var tombstoneLimit = 100_000
    /// Posts whose fate is remembered; the default is 100,000.
    public var fateLimit = 100_000
    /// How long a fate is remembered; the default is 5 minutes.
    public var fateLifetime: Duration = .seconds(300)
    /// Names without an observer that are remembered; the default is 10,000.
    public var unobservedNameLimit = 10_000
    /// The longest chain of `causedBy` (rule C12); the default is 32.
    public var causedByDepthLimit = 32
    /// Queue entries; the default is 10,000.
    public var queueEntryLimit = 10_000
    /// Mode leases on the stack; the default is 32.
    public var modeStackLimit = 32
    /// Modes that the entries of the queue name, in all; the default is 1,000.
    public var queueModeLimit = 1_000
    /// The modes that `common` stands for (rule Q17); the default is `default`.
    public var commonModes: [[UInt8]] = [Mode.default]
    /// Notifications held for one client; the default is 10,000.
    public var clientHeldCountLimit = 10_000
    /// Bytes of notifications held for one client; the default is 16 MiB.
    public var clientHeldByteLimit = 16 << 20
    /// How many deliveries an acknowledging observer may owe an answer before it counts as slow.
    public var unacknowledgedLimit = 1_000
    /// After how many missed deadlines in a row posters no longer wait for an observer.
    public var missedDeadlineLimit = 3
    /// How many bytes of held notifications one step of a flush writes; the default is 256 KiB.
    public var flushByteLimit = 256 << 10
    /// Idempotency keys that are remembered; the default is 100,000.
    public var keyLimit = 100_000
    /// Bytes of the answers that are remembered by key, about; the default is 32 MiB.
    public var keyByteLimit = 32 << 20
    /// How long an idempotency key is remembered; the default is 5 minutes.
    public var keyLifetime: Duration = .seconds(300)
    /// Whether changes that must last are told; the default is no, for a broker without a store.
    public var isDurable = false
    /// How long an observer is disconnected before it is listed as a leak; the default is 1 h.
    public var orphanAfter: Duration = .seconds(3600)

    /// Takes the defaults.
    public init() {}
}
