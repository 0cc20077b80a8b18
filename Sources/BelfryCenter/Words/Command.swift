public import BelfryJSON

/// A change of a center: the only way in (``NotificationCenter/apply(_:at:into:)``).
///
/// The broker that accepts a command puts into it all that a log of commands does not determine:
/// times, identifiers and hashes of secrets. The same commands then give the same state everywhere.
public struct Command: Sendable {
    /// The name that its answer refers to.
    public let id: CommandID
    /// When it was accepted.
    public let time: CommandTime
    /// The change that it asks for.
    public var action: Action

    /// Joins the three parts.
    public init(id: CommandID, time: CommandTime, action: Action) {
        self.id = id
        self.time = time
        self.action = action
    }

    /// The actions that a command can ask for.
    public enum Action: Sendable {
        /// Sets the center's own limits.
        indirect case configure(CenterLimits)
        /// A client has connected; the observers are those that it has from its first moment.
        indirect case connect(ClientRegistration, observers: [ObserverRegistration], since: UInt64?)
        /// A client's connection has ended.
        ///
        /// It names the connection: one that was taken over is no longer the client's. In a log it
        /// has the index of the last entry that its broker had applied then; the broker that
        /// applies the log derives from it how far the connection was written.
        case disconnect(
            client: UInt64, connection: ConnectionName, end: ConnectionEnd = .broken,
            appliedIndex: UInt64? = nil, written: WrittenThrough? = nil)
        /// A client that connected just now continues an earlier one (Protocol.md section 6).
        case resume(Resumption)
        /// A command of one connection, from its client or from the broker that has the socket.
        ///
        /// The command counts only while the connection is that client's, or reads one of its
        /// mailboxes: another connection may take the client over while the command is on its way.
        indirect case onConnection(ClientConnection, Action)
        /// A command that counts only where it removes no more of others than the cover allows.
        indirect case within(Cover, Action)
        /// A client asks for suspension, or for its end.
        case setSuspended(client: UInt64, Bool)
        /// More bytes wait for a client's socket than the limit allows.
        case becomeSlow(client: UInt64)
        /// A client's socket has room again: it is no longer slow, and its flush continues.
        case drain(client: UInt64)
        /// One post.
        case post(Post, PostTerms)
        /// Several posts in one callout, all or nothing.
        case postBatch([Post], PostTerms)
        /// A client has answered a delivery that one of its observers must answer.
        case acknowledge(client: UInt64, DeliveryName, Response)
        /// One ask.
        indirect case ask(Ask, AskTerms)
        /// An ask is over for its asker, who no longer wants the answer.
        case withdraw(NotificationID)
        /// A request that waits over HTTP for the end of an ask is gone (rule R16).
        ///
        /// It waits by the command of this name.
        indirect case leaveAsk(NotificationID, CommandID)
        /// An observer answers an ask by its identifier.
        case answer(NotificationID, observer: UInt64, Response, principal: [UInt8] = [])
        /// Puts a value at a place of the value of an object.
        indirect case setValue(ValueWrite, Document, ValueLifetime)
        /// Applies a merge patch to the value at a place (RFC 7396).
        indirect case mergeValue(ValueWrite, patch: Document)
        /// Removes the value at a place.
        indirect case removeValue(ValueWrite)
        /// The store has the asks up to ``Effects/announcement``: they may be shown (rule R20).
        case showAnnounced(through: UInt64)
        /// A client registers an observer; `since` asks for a replay above that number.
        indirect case addObserver(ObserverRegistration, client: UInt64, since: UInt64?)
        /// Removes one observer.
        case removeObserver(serial: UInt64, by: Remover)
        /// Removes a client's observers that were registered so (rule O3).
        indirect case removeObservers(client: UInt64, ObserverFilter)
        /// Removes a client with all of its observers.
        case removeClient(client: UInt64, by: Remover)
        /// A mailbox is read: everything up to `through` is acknowledged, and leases start again.
        ///
        /// The leases are those of its observers. If the mailbox has nothing else, a long poll on
        /// the connection `wait` waits at it from now on.
        case readMailbox(observer: UInt64, through: UInt64?, wait: ConnectionName? = nil)
        /// A stream waits at a mailbox from now on, in place of an earlier reader.
        case attachStream(observer: UInt64, ConnectionName)
        /// A long poll or a stream has ended.
        case detachReader(observer: UInt64, ConnectionName)
        /// Removes queue entries that match; they are not posted (rule Q20).
        indirect case dequeue(QueueMatch)
        /// Removes one queue entry.
        case dequeueEntry(NotificationID, scope: PostScope)
        /// A client, or a caller over HTTP, enters a mode (rule Q16).
        indirect case enterMode(ModeEntry)
        /// A mode lease ends.
        case leaveMode(serial: UInt64)
        /// The callouts of a turn are over: asap entries of the current mode are posted.
        ///
        /// At least one is posted, up to so much work; one delivery is 1.
        case endTurn(workLimit: Int)
        /// The loop has no work: one idle entry of the current mode is posted (rule Q13).
        case idle
        /// Time has passed: all that is due by the time of the command happens, the earliest first.
        ///
        /// At least one happens, up to so much work; one delivery is 1.
        case passTime(workLimit: Int)
        /// The center stops: asap entries of the current mode are posted (rule Q23).
        ///
        /// All lasting state that the store does not have yet is reported as changes.
        case terminate
        /// The broker holds too much: the oldest held notifications are dropped here.
        ///
        /// At most so many bytes are held afterwards.
        case trimHeld(byteCount: Int)
        /// Forgets the oldest of a kind until no more than so many are left.
        case trim(KeptKind, count: Int)
        /// Makes an archive, or changes its terms.
        indirect case putArchive(ArchiveName, ArchiveTerms)
        /// Removes an archive with all that it keeps.
        indirect case removeArchive(ArchiveName)
        /// Forgets notifications that a query means, above a number; one command does a share.
        indirect case forget(PastQuery, above: UInt64)
        /// Forgets the oldest eighth of an owner's held notifications or remembered keys.
        case trimOwned(KeptKind, Owner)
    }
}

extension Command.Action {
    /// Whether it is the end of a turn, or of the center.
    var isEnd: Bool {
        switch self {
        case .endTurn, .terminate: true
        default: false
        }
    }
}
