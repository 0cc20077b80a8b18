/// Something that must last: what a store keeps of a center, and a restarted center begins with.
///
/// Changes of one command are committed together, and in the order of the commands. Observers whose
/// lifetime is their connection never appear, nor does what is held for them.
public enum Change: Sendable, Equatable {
    /// The center has something that must last from now on.
    case center(CenterRecord)
    /// Sequence numbers up to this one may be used: a restart begins above it.
    case sequenceReserved(through: UInt64)
    /// A client is there, or is different now.
    case client(ClientRecord)
    /// A client is gone, and all that belongs to it.
    case clientRemoved(UInt64)
    /// An observer is there, or is different now.
    case observer(ObserverRecord)
    /// An observer is gone, and what was held for it; its tombstone remains.
    case observerRemoved(serial: UInt64, Tombstone)
    /// A notification is held by somebody from now on.
    case notification(NotificationRecord)
    /// Nobody holds this notification any more.
    case notificationReleased(sequence: UInt64)
    /// An observer holds a notification from now on.
    case held(observer: UInt64, sequence: UInt64)
    /// An observer holds a notification no more.
    case released(observer: UInt64, sequence: UInt64)
    /// What an observer lost for one reason and was not told yet; a count of zero forgets it.
    case gap(observer: UInt64, GapRecord)
    /// A queue entry is there, or is different now.
    case queued(QueueRecord)
    /// A queue entry is gone.
    case dequeued(NotificationID)
    /// An idempotency key has its effect, or its answer is different now.
    case key(KeyRecord)
    /// An idempotency key is forgotten.
    case keyForgotten(principal: [UInt8], text: [UInt8])
}

/// What lasts of a center itself.
public struct CenterRecord: Sendable, Equatable {
    /// What makes its sequence numbers different from those of other lives.
    public let epoch: [UInt8]

    /// Takes the epoch.
    public init(epoch: [UInt8]) {
        self.epoch = epoch
    }
}

/// What lasts of a client with an observer that lasts.
public struct ClientRecord: Sendable, Equatable {
    /// Its number.
    public let id: UInt64
    /// How it gets its notifications.
    public let transport: Transport
    /// The hash of the secret that speaks for it.
    public let sessionHash: SecretHash
    /// Who it is.
    public let principal: [UInt8]
    /// Whether it asked for suspension.
    public let isAsked: Bool
    /// When it connected first, in milliseconds since 1970.
    public let connectedAt: Int64
    /// Nanoseconds that its observers have outlived its connection so far, as last noted.
    public let disconnectedFor: Int64
    /// What is held up to this sequence number is written although it asked for suspension.
    public let immediateThrough: UInt64
    /// What it was written last before its connection ended; nil where nobody knows.
    public let lastWritten: LastWritten?

    /// Joins the parts.
    public init(
        id: UInt64, transport: Transport, sessionHash: SecretHash, principal: [UInt8],
        isAsked: Bool, connectedAt: Int64, disconnectedFor: Int64, immediateThrough: UInt64,
        lastWritten: LastWritten? = nil
    ) {
        self.id = id
        self.transport = transport
        self.sessionHash = sessionHash
        self.principal = principal
        self.isAsked = isAsked
        self.connectedAt = connectedAt
        self.disconnectedFor = disconnectedFor
        self.immediateThrough = immediateThrough
        self.lastWritten = lastWritten
    }
}

/// The last notification that a client was written on a connection.
public struct LastWritten: Sendable, Equatable {
    /// Its number; 0 where there was none.
    public let sequence: UInt64
    /// Whether it was written for several observers, and the line may have ended between their frames.
    public let isShared: Bool

    /// Joins both.
    public init(sequence: UInt64, isShared: Bool) {
        self.sequence = sequence
        self.isShared = isShared
    }

    /// Whether a client that has seen a number has seen all that it was written.
    func isSeen(by seen: UInt64) -> Bool {
        isShared ? seen > sequence : seen >= sequence
    }
}

/// What lasts of an observer.
public struct ObserverRecord: Sendable, Equatable {
    /// Its number.
    public let serial: UInt64
    /// The number of its client.
    public let client: UInt64
    /// The hash of the secret half of its token.
    public let tokenHash: SecretHash
    /// The notification name of its filter; nil is any.
    public let name: [UInt8]?
    /// The object of its filter; nil is any.
    public let object: [UInt8]?
    /// The method that its client is called with.
    public let selector: [UInt8]
    /// How it is treated.
    public let terms: ObserverTerms
    /// The sequence number above which it gets notifications.
    public let since: UInt64
    /// When it was registered, in milliseconds since 1970.
    public let createdAt: Int64
    /// Everything up to this sequence number was acknowledged; only a mailbox has more than 0.
    public let acknowledgedThrough: UInt64
    /// What a mailbox was asked for up to this sequence number may be gone, although it was shown.
    public let forgottenThrough: UInt64

    /// Joins the parts.
    public init(
        serial: UInt64, client: UInt64, tokenHash: SecretHash, name: [UInt8]?, object: [UInt8]?,
        selector: [UInt8], terms: ObserverTerms, since: UInt64, createdAt: Int64,
        acknowledgedThrough: UInt64, forgottenThrough: UInt64
    ) {
        self.serial = serial
        self.client = client
        self.tokenHash = tokenHash
        self.name = name
        self.object = object
        self.selector = selector
        self.terms = terms
        self.since = since
        self.createdAt = createdAt
        self.acknowledgedThrough = acknowledgedThrough
        self.forgottenThrough = forgottenThrough
    }
}

/// What an observer lost for one reason, and was not told yet.
public struct GapRecord: Sendable, Equatable {
    /// Why.
    public let reason: Gap.Reason
    /// How many; nil when nobody can know.
    public var count: Int?
    /// The first sequence number that is missing.
    public var first: UInt64
    /// The last sequence number that is missing.
    public var last: UInt64

    /// Joins the parts.
    public init(reason: Gap.Reason, count: Int?, first: UInt64, last: UInt64) {
        self.reason = reason
        self.count = count
        self.first = first
        self.last = last
    }

    /// Takes in another loss for the same reason.
    mutating func add(_ other: GapRecord) {
        first = min(first, other.first)
        last = max(last, other.last)
        if let more = other.count { count? += more } else { count = nil }
    }
}

/// What lasts of a notification that is held.
public struct NotificationRecord: Sendable, Equatable {
    /// The notification; when it expires says `timeToLive`, for clocks start again.
    public let notification: Notification
    /// Nanoseconds that are left until it is dropped; nil is for ever.
    public let timeToLive: Int64?

    /// Joins both.
    public init(notification: Notification, timeToLive: Int64?) {
        self.notification = notification
        self.timeToLive = timeToLive
    }
}

/// What lasts of a queue entry.
public struct QueueRecord: Sendable, Equatable {
    /// The notification.
    public let id: NotificationID
    /// Its place: entries leave in the order of their places.
    public let place: UInt64
    /// Name, object and userInfo.
    public let content: Notification.Content
    /// The notification whose handling posted it.
    public let causedBy: NotificationID?
    /// How long the chain of `causedBy` is with it at its end.
    public let depth: Int
    /// When it leaves.
    public let style: PostingStyle
    /// What it was posted with.
    public let coalescing: Coalescing
    /// The modes in which it may be posted.
    public let modes: [[UInt8]]
    /// How many other posts it stands for.
    public let mergedCount: Int
    /// When it was enqueued, in milliseconds since 1970.
    public let enqueuedAt: Int64
    /// Nanoseconds that are left until it counts as asap; nil is for ever.
    public let delayLeft: Int64?
    /// Nanoseconds that are left until it is dropped; nil is for ever.
    public let timeToLive: Int64?
    /// Whether it is delivered in spite of suspension.
    public let isImmediate: Bool

    /// Joins the parts.
    public init(
        id: NotificationID, place: UInt64, content: Notification.Content,
        causedBy: NotificationID?, depth: Int, style: PostingStyle, coalescing: Coalescing,
        modes: [[UInt8]], mergedCount: Int, enqueuedAt: Int64, delayLeft: Int64?,
        timeToLive: Int64?, isImmediate: Bool
    ) {
        self.id = id
        self.place = place
        self.content = content
        self.causedBy = causedBy
        self.depth = depth
        self.style = style
        self.coalescing = coalescing
        self.modes = modes
        self.mergedCount = mergedCount
        self.enqueuedAt = enqueuedAt
        self.delayLeft = delayLeft
        self.timeToLive = timeToLive
        self.isImmediate = isImmediate
    }
}

/// What lasts of an idempotency key.
public struct KeyRecord: Sendable, Equatable {
    /// The key, and the hash of its request.
    public let key: IdempotencyKey
    /// One receipt for each post, as they stood when they were last noted.
    public let receipts: [Receipt]
    /// For each receipt its observers, if the request asked for them.
    public let reports: [[ReportRow]]

    /// Joins the parts.
    public init(key: IdempotencyKey, receipts: [Receipt], reports: [[ReportRow]]) {
        self.key = key
        self.receipts = receipts
        self.reports = reports
    }
}

/// All that a store has of one center: a restarted center begins with it.
public struct CenterImage: Sendable, Equatable {
    /// The name, as it stands in URLs.
    public var name: [UInt8]
    /// What makes its sequence numbers different.
    public var epoch: [UInt8]
    /// Sequence numbers up to this one may have been used.
    public var sequence: UInt64
    /// Whether the last life ended in order: then nothing is missing that was not noted.
    public var isComplete: Bool
    /// In the order of their numbers.
    public var clients: [ClientRecord] = []
    /// In the order of their numbers.
    public var observers: [ObserverRecord] = []
    /// In the order in which they were removed.
    public var tombstones: [(serial: UInt64, tombstone: Tombstone)] = []
    /// In the order of their sequence numbers.
    public var notifications: [NotificationRecord] = []
    /// In the order of their sequence numbers, then of the observers.
    public var held: [(observer: UInt64, sequence: UInt64)] = []
    /// In the order of the observers.
    public var gaps: [(observer: UInt64, gap: GapRecord)] = []
    /// In the order of their places.
    public var queue: [QueueRecord] = []
    /// The oldest first.
    public var keys: [KeyRecord] = []

    /// Makes the image of a center that has nothing yet.
    public init(name: [UInt8], epoch: [UInt8], sequence: UInt64 = 0, isComplete: Bool = true) {
        self.name = name
        self.epoch = epoch
        self.sequence = sequence
        self.isComplete = isComplete
    }

    /// Whether both images are the same.
    public static func == (left: CenterImage, right: CenterImage) -> Bool {
        left.name == right.name && left.epoch == right.epoch && left.sequence == right.sequence
            && left.isComplete == right.isComplete && left.clients == right.clients
            && left.observers == right.observers
            && left.tombstones.elementsEqual(right.tombstones, by: { $0 == $1 })
            && left.notifications == right.notifications
            && left.held.elementsEqual(right.held, by: { $0 == $1 })
            && left.gaps.elementsEqual(right.gaps, by: { $0 == $1 })
            && left.queue == right.queue && left.keys == right.keys
    }
}
