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

    /// Makes effects with nothing in them.
    public init() {}

    /// Forgets everything, and keeps the storage.
    public mutating func reset() {
        if outcome.hasMore { outcome = .done }
        Self.empty(&notifications, capacityLimit: 1_024)
        Self.empty(&deliveries, capacityLimit: 65_536)
        Self.empty(&receipts, capacityLimit: 1_024)
        Self.empty(&notices, capacityLimit: 1_024)
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
    /// The observers that were registered, in the order of the request.
    case registered([ObserverRow])
    /// How many observers were removed.
    case removed(Int)
    /// Nothing was changed.
    case refused(Refusal)

    /// Whether it says more than that the command was done.
    var hasMore: Bool {
        switch self {
        case .done: false
        case .registered, .removed, .refused: true
        }
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
    /// Whether it comes out of the replay ring.
    public let isRedelivered: Bool
}

/// The account of one post (law 3): matched = delivered + held + coalesced + dropped.
public struct Receipt: Sendable, Equatable {
    /// The notification.
    public let id: NotificationID
    /// Its sequence number.
    public let sequence: UInt64
    /// Observers whose filter matched.
    public var matched: UInt32 = 0
    /// Put on the way to a client that was live; no promise of arrival.
    public var delivered: UInt32 = 0
}

/// What a client is told besides notifications.
public enum Notice: Sendable, Equatable {
    /// Somebody else removed one of its observers (rule O9).
    case removed(connection: UInt64, transport: Transport, observer: UInt64, Tombstone)
    /// One of its observers lost notifications, or may have (law 3).
    case gap(connection: UInt64, transport: Transport, Gap)
    /// The client was removed: its connection must close with 4002.
    case clientRemoved(connection: UInt64, transport: Transport)
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
    public enum Reason: Sendable, Equatable {
        /// The replay ring no longer has them.
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
}

/// Why an observer was removed.
public enum RemovalReason: UInt8, Sendable {
    /// Somebody asked for it.
    case removed
    /// Its connection ended, and it was registered for no longer than that.
    case connectionClosed
    /// Its client was removed.
    case clientRemoved
}
