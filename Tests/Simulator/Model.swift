import BelfryCenter
import BelfryHistory

/// The rules once more, in the plainest words: arrays that are searched from one end to the other.
///
/// It shares no code with the center, only the types of commands and effects. Its prediction of
/// each command must be exactly what the center does.
struct Model {
    var limits: CenterLimits
    var now: Int64
    var wall: Int64
    var sequence: UInt64 = 0
    /// Where the numbers of the last life end.
    var restoredThrough: UInt64 = 0
    /// With what this life began.

    /// In the order of their numbers.
    var clients: [Client] = []
    var observers: [Observer] = []
    var tombstones: [(serial: UInt64, tombstone: Tombstone)] = []
    /// The last notifications, oldest first.
    var ring: [Note] = []
    /// The fates of posts, oldest first.
    var fates: [Fate] = []
    /// Entries in the order of their places.
    var queue: [Entry] = []
    /// The bytes of the queue when the post at hand came.
    var queueByteCountBefore = 0
    /// Whether the command at hand is a post, whose answer is still to go out.
    var isPosting = false
    /// When what waits for a `minInterval` is looked at.
    var paceDeadlines: [(time: Int64, client: UInt64)] = []
    var modes: [Lease] = []
    /// Keys, oldest first.
    var keys: [KeyedAnswer] = []
    /// Posts that are waited for.
    var waiting: [Waiting] = []
    /// Until when an observer gets no more of a kind.
    var paces: [Pace] = []

    /// The reports that the center posts when the command is done.
    var reports: [Report] = []
    var reportCountBefore = 0
    var hasReportedOverflow = false
    var isTerminating = false

    /// The effects of the present command.
    var out = Prediction()
    /// The account of the notification that is being dispatched.
    var current: Account?
    /// The command at hand, if its poster waits or wants rows.
    var terms = PostTerms()

    init(limits: CenterLimits, now: Int64, wall: Int64) {
        self.limits = limits
        self.now = now
        self.wall = wall
    }

    /// A notification with its number.
    final class Note: Sendable {
        let id: NotificationID
        let sequence: UInt64
        let postedAt: Int64
        let causedBy: NotificationID?
        let name: [UInt8]
        let object: [UInt8]?
        let userInfo: [UInt8]?
        let expiresAt: Int64
        let isRestored: Bool

        init(
            id: NotificationID, sequence: UInt64, postedAt: Int64, causedBy: NotificationID?,
            name: [UInt8], object: [UInt8]?, userInfo: [UInt8]?, expiresAt: Int64, isRestored: Bool
        ) {
            self.id = id
            self.sequence = sequence
            self.postedAt = postedAt
            self.causedBy = causedBy
            self.name = name
            self.object = object
            self.userInfo = userInfo
            self.expiresAt = expiresAt
            self.isRestored = isRestored
        }

        var byteCount: Int { name.count + (object?.count ?? 0) + (userInfo?.count ?? 0) }

        func isKind(of other: Note) -> Bool { name == other.name && object == other.object }
    }

    /// A client and what is kept for it.
    struct Client {
        let id: UInt64
        let transport: Transport
        var connection: ConnectionName
        let sessionHash: SecretHash
        let principal: [UInt8]
        let connectedAt: Int64
        var stateSince: Int64
        var isConnected = true
        var isAsked = false
        /// It has asked for suspension since it was last told its losses.
        var wasAsked = false
        var isSlow = false
        /// More was to be written than it may owe answers for.
        var isOwing = false
        /// All of its observers together owe as much as may be held for it.
        var owesTooMuch = false
        /// More is held than one step of a flush writes.
        var isFlushing = false
        /// The first of what is held waits for a `minInterval`.
        var isPaced = false
        var disconnectedSince: Int64 = 0
        /// In the order of sequence numbers.
        var held: [Held] = []
        /// Written and not acknowledged, in the order of writing.
        var owed: [Held] = []
        /// Up to here it is written to in spite of having asked (rule D8).
        var immediateThrough: UInt64 = 0
        /// The last number that was written before its connection ended.
        var lastWritten: LastWritten?

        var isMailbox: Bool { transport == .mailbox }
        /// Law 5: the three reasons, and nothing else.
        var isSuspended: Bool { !isConnected || isSlow || isOwing || isAsked }
        var isLive: Bool { !isSuspended && !isFlushing && !isPaced && !isMailbox }

        var state: ClientState {
            if !isConnected { return .disconnected }
            if isSlow || isOwing || isFlushing { return .slow }
            return isAsked ? .asked : .live
        }
    }

    /// One notification kept for one observer.
    struct Held {
        let observer: UInt64
        let note: Note
        /// The count of the receipt that includes it; nil when it was counted before.
        var countedAs: Counted?
        var isRedelivered = false
        var isReplaceable = false
        /// It comes out of the replay ring.
        var isReplayed = false
        /// The poster waits for its answer.
        var isAwaited = false
        /// A reader of the mailbox was sent it.
        var wasShown = false
    }

    enum Counted { case held, coalesced, delivered }

    /// An observer and what it lost.
    struct Observer {
        let serial: UInt64
        let client: UInt64
        let tokenHash: SecretHash
        let name: [UInt8]?
        let object: [UInt8]?
        let role: ObserverRole
        /// The filter that its role has, in the words of the model.
        let filter: HistoryFilter?
        let selector: [UInt8]
        let terms: ObserverTerms
        let since: UInt64
        let createdAt: Int64
        var delivered: UInt64 = 0
        var coalesced: UInt64 = 0
        var dropped: UInt64 = 0
        var lastDeliveredAt: Int64?
        /// The highest number that was written to it.
        var writtenThrough: UInt64 = 0
        /// The number that was asked for at the registration, if that is less than `since`.
        var askedSince: UInt64?
        /// The number above which notifications are replayed to it.
        var replaysAbove: UInt64 { askedSince ?? since }
        /// Losses that were not told yet, by their sequence numbers.
        var losses: [Loss] = []
        /// It was to get more than it may owe answers for.
        var owes = false
        var missedDeadlines = 0
        var mailbox = Mailbox()

        func matches(_ note: Note) -> Bool {
            HistoryContent(name: note.name, object: note.object, userInfo: note.userInfo)
                .matches(name: name, object: object, filter)
        }

        /// Whether it names a channel of reports, or has a prefix of it.
        func names(channel: [UInt8]) -> Bool {
            name == channel || filter?.names(channel: channel) ?? false
        }
    }

    /// A loss for one reason; its count is nil when it is unknown.
    struct Loss {
        let reason: Gap.Reason
        var count: Int?
        var first: UInt64
        var last: UInt64
    }

    /// The state of mailboxes only.
    struct Mailbox {
        var acknowledgedThrough: UInt64 = 0
        var forgottenThrough: UInt64 = 0
        var streamedThrough: UInt64 = 0
        /// It lost something that its stream was not told.
        var hasNewLoss = false
        var lookedAt: Int64 = 0
        var reader: ConnectionName?
        var isStream = false
    }

    struct Pace {
        let observer: UInt64
        let note: Note
        var until: Int64
    }

    /// The account of a notification while it is dispatched.
    struct Account {
        var receipt: Receipt
        var rows: [ReportRow] = []
    }

    struct Fate {
        var receipt: Receipt
        let depth: Int
        let forgottenAt: Int64
    }
}

/// The effects that a command must have.
struct Prediction {
    var outcome: SeenOutcome = .plain(.done)
    var receipts: [Receipt] = []
    var reports: [[ReportRow]] = []
    var deliveries: [PredictedDelivery] = []
    var notices: [Notice] = []
    var completions: [Completion] = []
    /// Whether the answer promises something, so that it waits for the store.
    var promises = false
}

/// A delivery, with the notification itself in the place of its position.
struct PredictedDelivery {
    let connection: ConnectionName
    let observer: UInt64
    let note: Model.Note
    let selector: [UInt8]
    let transport: Transport
    let form: Delivery.Form
    let isRedelivered: Bool
}

// MARK: - Finding things

extension Model {
    func place(ofClient id: UInt64) -> Int? { clients.firstIndex { $0.id == id } }
    func place(ofObserver serial: UInt64) -> Int? { observers.firstIndex { $0.serial == serial } }

    /// The client of an observer, which it always has.
    func client(of observer: Int) -> Int {
        guard let place = place(ofClient: observers[observer].client) else {
            preconditionFailure("an observer has a client")
        }
        return place
    }

    func observers(ofClient id: UInt64) -> [Int] {
        observers.indices.filter { observers[$0].client == id }
    }

    /// The count of deliveries that wait for an observer.
    func heldCount(of observer: Int) -> Int {
        let serial = observers[observer].serial
        return clients[client(of: observer)].held.count { $0.observer == serial }
    }

    /// The part of them that its limit counts: replays are bounded by the ring.
    func limitedCount(of observer: Int) -> Int {
        let serial = observers[observer].serial
        return clients[client(of: observer)].held.count { $0.observer == serial && !$0.isReplayed }
    }

    /// How many answers an observer owes.
    func owedCount(of observer: Int) -> Int {
        let serial = observers[observer].serial
        return clients[client(of: observer)].owed.count { $0.observer == serial }
    }

    /// Whether the store keeps an observer: not one that ends with its connection.
    func isLasting(_ observer: Int) -> Bool {
        limits.isDurable && !observers[observer].terms.endsWithConnection
    }
}
