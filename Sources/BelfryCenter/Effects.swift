/// What a command brought about: the answer to its submitter, and what must be written to whom.
///
/// The storage is reused from command to command.
public struct Effects: Sendable {
    /// The answer to whoever submitted the command.
    public var outcome: Outcome = .done
    /// The notifications that were dispatched or are replayed; deliveries name them by position.
    public var notifications: [Notification] = []
    /// What goes to which connection, in the order in which it must be written.
    public var deliveries: [Delivery] = []
    /// One receipt for each post of the command, in its order.
    public var receipts: [Receipt] = []
    /// What clients are told besides notifications, each before any delivery of the same command.
    public var notices: [Notice] = []
    /// For each receipt its observers in registration order, if the command asked for them.
    public var reports: [[ReportRow]] = []
    /// Answers to earlier commands that were waited for, and are complete now.
    public var completions: [Completion] = []
    /// What must last, in the order in which it happened; empty when nothing must.
    public var changes: [Change] = []

    /// Makes effects with nothing in them.
    public init() {}

    /// Forgets everything, and keeps the storage.
    public mutating func reset() {
        if outcome.hasMore { outcome = .done }
        Self.empty(&notifications, capacityLimit: 1_024)
        Self.empty(&deliveries, capacityLimit: 65_536)
        Self.empty(&receipts, capacityLimit: 1_024)
        Self.empty(&notices, capacityLimit: 1_024)
        Self.empty(&reports, capacityLimit: 16)
        Self.empty(&completions, capacityLimit: 1_024)
        Self.empty(&changes, capacityLimit: 4_096)
    }

    /// Removes all elements; a command mostly leaves one or none, which costs next to nothing.
    private static func empty<Element>(_ elements: inout [Element], capacityLimit: Int) {
        if elements.isEmpty { return }
        if elements.count == 1, elements.capacity <= capacityLimit {
            elements.removeLast()
        } else {
            elements.removeAll(keepingCapacity: elements.capacity <= capacityLimit)
        }
    }
}

/// The answer to a command.
public enum Outcome: Sendable, Equatable {
    /// It was done, and there is no more to say; for posts the receipts say it.
    case done
    /// The posts were dispatched, and are waited for: a ``Completion`` follows under the command's
    /// name. The receipts say how they stand now.
    case waiting
    /// The posts were made before under the same key; the receipts are those of the first answer.
    case replayed(form: UInt8)
    /// The observers that were registered, in the order of the request.
    case registered([ObserverRow])
    /// How many observers were removed.
    case removed(Int)
    /// A client goes on; the deliveries are what it was held, as far as it is written at once.
    indirect case resumed(ResumedClient)
    /// How many queue entries were removed.
    case dequeued(Int)
    /// Nothing was changed.
    case refused(Refusal)

    /// Whether it says more than that the command was done.
    var hasMore: Bool {
        if case .done = self { false } else { true }
    }
}

/// A client that goes on after a new connection has taken it over.
public struct ResumedClient: Sendable, Equatable {
    /// The client.
    public let row: ClientRow
    /// Its observers in registration order.
    public let observers: [ObserverRow]
    /// How many notifications were held for it, those that are written now among them.
    public let heldCount: Int

    /// Joins the parts.
    public init(row: ClientRow, observers: [ObserverRow], heldCount: Int) {
        self.row = row
        self.observers = observers
        self.heldCount = heldCount
    }
}

/// The answer to a command that was waited for.
public struct Completion: Sendable, Equatable {
    /// The command: the post, or a later one with the same key.
    public let command: CommandID
    /// One receipt for each post, in its order.
    public let receipts: [Receipt]
    /// For each receipt its observers, if the command asked for them.
    public let reports: [[ReportRow]]
    /// The form of the first answer, if this one replays it.
    public let replayedForm: UInt8?

    /// Joins the parts.
    public init(
        command: CommandID, receipts: [Receipt], reports: [[ReportRow]], replayedForm: UInt8? = nil
    ) {
        self.command = command
        self.receipts = receipts
        self.reports = reports
        self.replayedForm = replayedForm
    }
}

/// Why a command changed nothing.
public enum Refusal: Error, Sendable, Equatable {
    /// The center has no such client.
    case unknownClient
    /// The center has and remembers no such observer.
    case unknownObserver
    /// The observer was removed before (rule O4).
    case observerRemoved(Tombstone)
    /// The client has as many observers as it may.
    case tooManyObservers(limit: Int)
    /// The chain of `causedBy` is too long (rule C12); `post` is the place in the batch.
    case causedByTooDeep(limit: Int, post: Int)
    /// A `now` post whose modes are not current (rule Q18).
    case modeNotCurrent(current: [UInt8], post: Int)
    /// The queue is full (rule Q24).
    case queueFull(limit: Int)
    /// All queues of the broker hold as many bytes as they may.
    case queueBytesFull
    /// What the command asks for would have to be stored, and cannot be.
    case cannotStore
    /// The idempotency key was used for another request.
    case keyReused
    /// The mode stack is full.
    case modeStackFull(limit: Int)
    /// There is no such mode lease.
    case unknownMode
    /// There is no such queue entry.
    case unknownEntry
    /// A client that has registered observers cannot continue another one.
    case resumeTooLate
    /// The observer belongs to a client that gets its notifications in another way.
    case noMailbox
}

/// One notification on its way to one observer.
public struct Delivery: Sendable, Equatable {
    /// The number of the connection that it goes to.
    public let connection: UInt64
    /// The serial number of the observer.
    public let observer: UInt64
    /// Which of ``Effects/notifications`` it is.
    public let notification: UInt32
    /// The selector, whose text ``NotificationCenter/selector(_:)`` has: equal numbers, equal frames.
    public let selector: UInt32
    /// How the client gets it.
    public let transport: Transport
    /// What the frame is.
    public let form: Form
    /// Whether it may have been delivered before.
    public let isRedelivered: Bool

    /// What the frame of a delivery is.
    public enum Form: UInt8, Sendable {
        /// It names no observer: one frame serves all observers of a selector.
        case shared
        /// A request that its observer answers.
        case acknowledged
        /// It names its observer, and is not answered: a stream of a mailbox.
        case named
    }
}

/// The account of one post (law 3): matched = delivered + held + coalesced + dropped.
public struct Receipt: Sendable, Equatable {
    /// The notification.
    public let id: NotificationID
    /// Its sequence number; 0 while it is queued.
    public let sequence: UInt64
    /// What became of it.
    public var state = State.posted
    /// Observers whose filter matched.
    public var matched: UInt32 = 0
    /// Put on the way to a client that was live; no promise of arrival.
    public var delivered: UInt32 = 0
    /// Kept for a client that is suspended.
    public var held: UInt32 = 0
    /// Held in the place of an older one.
    public var coalesced: UInt32 = 0
    /// Lost for an observer, which is told a gap.
    public var dropped: UInt32 = 0
    /// Acknowledging observers that have processed it.
    public var acknowledged: UInt32 = 0
    /// Acknowledging observers that have refused it.
    public var refused: UInt32 = 0
    /// Acknowledging observers that have not answered yet.
    public var pending: UInt32 = 0
    /// Queue entries that a `now` post took out.
    public var dequeued: UInt32 = 0

    /// Makes the account of a post that nothing is counted for yet.
    public init(id: NotificationID, sequence: UInt64) {
        self.id = id
        self.sequence = sequence
    }

    /// What became of a post.
    public enum State: Sendable, Equatable {
        /// It was dispatched; the numbers count.
        case posted
        /// It waits in the queue.
        case queued
        /// Another notification stands for it.
        case coalesced(into: NotificationID)
        /// It was taken out of the queue, and never posted.
        case dequeued
        /// Its time to live ended in the queue.
        case expired
    }
}

/// What one observer made of a notification (`report=observers`).
public struct ReportRow: Sendable, Equatable {
    /// The serial number of the observer.
    public let observer: UInt64
    /// What happened.
    public var outcome: Outcome

    /// Joins both.
    public init(observer: UInt64, outcome: Outcome) {
        self.observer = observer
        self.outcome = outcome
    }

    /// What happened to a notification at one observer.
    public enum Outcome: Sendable, Equatable {
        /// Put on the way to it.
        case delivered
        /// It has processed it.
        case acknowledged
        /// It has refused it; the JSON-RPC error as it was sent, at most 1 KiB.
        case refused(error: [UInt8])
        /// It has not answered yet.
        case pending
        /// Kept until its client is live.
        case held
        /// Held in the place of an older one.
        case coalesced
        /// Lost.
        case dropped
        /// It was live, and went before it answered; the notification is kept for redelivery.
        case disconnected
    }
}

/// What a client is told besides notifications.
public enum Notice: Sendable, Equatable {
    /// Somebody else removed one of its observers (rule O9).
    case removed(connection: UInt64, transport: Transport, observer: UInt64, Tombstone)
    /// One of its observers lost notifications, or may have (law 3).
    case gap(connection: UInt64, transport: Transport, Gap)
    /// The client was removed: its connection must close with 4002.
    case clientRemoved(connection: UInt64, transport: Transport)
    /// Another connection has taken the client over: this one must close with 4001.
    case takenOver(connection: UInt64)
    /// Another reader has taken the place of this poll or stream: it is answered with 409.
    case readerReplaced(connection: UInt64, isStream: Bool)
    /// The mailbox of an observer has something for the poll that waits on this connection.
    case mailboxFilled(connection: UInt64, observer: UInt64)
    /// More was held than one step writes: a `drain` command must follow once the socket has room.
    case flushGoesOn(client: UInt64, connection: UInt64)
}

/// What an observer lost.
public struct Gap: Sendable, Equatable {
    /// The serial number of the observer.
    public let observer: UInt64
    /// Its selector.
    public let selector: [UInt8]
    /// How many notifications; nil when nobody can know.
    public let lostCount: Int?
    /// The first sequence number that may be missing.
    public let firstSequence: UInt64
    /// The last sequence number that may be missing.
    public let lastSequence: UInt64
    /// Why.
    public let reason: Reason

    /// Joins the parts.
    public init(
        observer: UInt64, selector: [UInt8], lostCount: Int?, firstSequence: UInt64,
        lastSequence: UInt64, reason: Reason
    ) {
        self.observer = observer
        self.selector = selector
        self.lostCount = lostCount
        self.firstSequence = firstSequence
        self.lastSequence = lastSequence
        self.reason = reason
    }

    /// Why notifications were lost.
    public enum Reason: UInt8, Sendable, Equatable, CaseIterable {
        /// The observer's behaviour is to lose what comes while its client is suspended (rule D5).
        case dropped
        /// A later one of the same name and object took its place (rule D6).
        case coalesced
        /// More was held than may be (rule D7).
        case overflow
        /// Its time to live ended.
        case expired
        /// The replay ring no longer has them, or nobody can know.
        case unknown
    }
}

/// What remains of a removed observer (law 4).
public struct Tombstone: Sendable, Equatable {
    /// The hash of the secret half of its token.
    public let tokenHash: SecretHash
    /// When it was removed, in milliseconds since 1970.
    public let removedAt: Int64
    /// Who removed it.
    public let removedBy: Remover
    /// Why it was removed.
    public let reason: RemovalReason
    /// Its filter, for whoever must decide who may see this.
    public let name: [UInt8]?
    /// The object of its filter.
    public let object: [UInt8]?

    /// Joins the parts.
    public init(
        tokenHash: SecretHash, removedAt: Int64, removedBy: Remover, reason: RemovalReason,
        name: [UInt8]?, object: [UInt8]?
    ) {
        self.tokenHash = tokenHash
        self.removedAt = removedAt
        self.removedBy = removedBy
        self.reason = reason
        self.name = name
        self.object = object
    }
}

/// Why an observer was removed.
public enum RemovalReason: UInt8, Sendable, CaseIterable {
    /// Somebody asked for it.
    case removed
    /// Its connection ended, and it was registered for no longer than that.
    case connectionClosed
    /// Its client was removed.
    case clientRemoved
    /// Its lease ended (rule O7).
    case expired
}
