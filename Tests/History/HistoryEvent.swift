/// Something that can be seen of a broker from outside.
///
/// That is a request or its answer, a frame on a connection, the result of a look, or a crash.
package enum HistoryEvent {
    case connected(client: UInt64, connection: UInt64, isMailbox: Bool)
    /// The connection has ended, and the broker knows.
    case disconnected(client: UInt64, connection: UInt64)
    case resumed(client: UInt64, newcomer: UInt64, connection: UInt64, after: UInt64?)
    /// A poll or a stream waits at a mailbox, or has ended.
    case attached(observer: UInt64, connection: UInt64, isStream: Bool)
    case detached(observer: UInt64, connection: UInt64)
    case suspended(client: UInt64, Bool)
    /// More waits for the socket of a client than may, or no longer.
    case slow(client: UInt64, Bool)
    /// It asked for another state, and is not answered yet.
    case doubtful(client: UInt64)

    case registered(HistoryObserver)
    case removed(HistoryRemoval)
    /// The removal of an observer was asked for, and is not answered yet; then it is.
    case leaving(observer: UInt64)
    case gone(observer: UInt64)
    /// All observers that there are.
    case listed([HistoryRow])

    /// A post was accepted.
    case posted(HistoryPost)
    /// A notification got its number: an observer of everything knows it.
    case dispatched(HistoryNotification)
    /// The answer to a post; one that is not final is followed by another.
    case answered(HistoryReceipt, isFinal: Bool)
    /// The fate of a post, as a look shows it; nil when it is forgotten.
    case looked([UInt8], HistoryReceipt?)

    case wrote(HistoryFrame)
    case told(HistoryGap)
    /// A client has answered a delivery; one that is not sure may have answered it before.
    case acknowledged(observer: UInt64, sequence: UInt64, isRefused: Bool, isSure: Bool)
    /// A reader has looked into a mailbox, and has read everything up to a number.
    case lookedInto(observer: UInt64, through: UInt64?)
    case page(
        observer: UInt64, notifications: [(id: [UInt8], sequence: UInt64)], gaps: [HistoryGap])

    case mode([UInt8])
    /// The queue as a look shows it.
    case queue([[UInt8]])
    /// A turn ends, the broker is idle, or it stops: entries of the queue may leave.
    case drains(HistoryDrain)
    /// Time has passed: all that was due has happened, or some of it may be left to the next time.
    case passed(isWhole: Bool)
    /// A turn is over: all that it was to post has been posted, or is left to the next one.
    case rests
    /// Held deliveries of all centers were trimmed.
    case trimmed
    case limits(HistoryLimits)

    /// The answers of all commands up to this one have left.
    case committed(through: Int)
    /// The broker ended, in order or not; the next one has its state, or begins with nothing.
    case restarted(isOrderly: Bool, hasState: Bool)
}

/// An observer as it was registered and answered.
package struct HistoryObserver {
    package enum Behavior { case drop, coalesce, hold, deliverImmediately }

    package var serial: UInt64
    package var client: UInt64
    package var name: [UInt8]?
    package var object: [UInt8]?
    /// The names, prefixes and conditions that it has beside them.
    package var filter: HistoryFilter?
    package var selector: [UInt8]
    package var behavior: Behavior
    package var acknowledges = false
    package var endsWithConnection = false
    package var isPaced = false
    package var holdLimit = 1_000
    package var lease: Int64?
    /// The `since` of the answer: nothing up to it comes live.
    package var since: UInt64
    /// The `since` of the request: from there on the ring is replayed.
    package var replayedAbove: UInt64?

    package init(
        serial: UInt64, client: UInt64, name: [UInt8]?, object: [UInt8]?, selector: [UInt8],
        behavior: Behavior, since: UInt64
    ) {
        self.serial = serial
        self.client = client
        self.name = name
        self.object = object
        self.selector = selector
        self.behavior = behavior
        self.since = since
    }
}

/// The target of a removal.
package enum HistoryRemoval {
    case observer(UInt64)
    case client(UInt64)
    case filter(client: UInt64, name: [UInt8]?, object: [UInt8]?, HistoryFilter?)
}

/// The row of an observer in a listing.
package struct HistoryRow {
    package let serial: UInt64
    package let heldCount: Int

    package init(serial: UInt64, heldCount: Int) {
        self.serial = serial
        self.heldCount = heldCount
    }
}

/// A post as it was handed in.
package struct HistoryPost {
    package enum Style { case plain, now, asap, idle }

    package var content: HistoryContent
    package var id: [UInt8]
    package var style = Style.plain
    package var coalescesName = false
    package var coalescesSender = false
    package var keepsLatest = false
    package var isImmediate = false
    /// Whether its poster may post everything.
    package var isUnscoped = true
    /// Others came with it in one callout: its answer shows the state behind all of them.
    package var isInBatch = false
    package var modes: [[UInt8]] = []
    package var maxDelay: Int64?
    package var timeToLive: Int64?

    package init(id: [UInt8], content: HistoryContent) {
        self.id = id
        self.content = content
    }
}

package struct HistoryContent: Equatable {
    package var name: [UInt8]
    package var object: [UInt8]?
    package var userInfo: [UInt8]?

    package init(name: [UInt8], object: [UInt8]?, userInfo: [UInt8]?) {
        self.name = name
        self.object = object
        self.userInfo = userInfo
    }

    /// Name and object: what coalescing under suspension compares.
    var kind: HistoryKind { HistoryKind(name: name, object: object) }
    var byteCount: Int { name.count + (object?.count ?? 0) + (userInfo?.count ?? 0) }
}

struct HistoryKind: Hashable {
    let name: [UInt8]
    let object: [UInt8]?
}

/// A notification with its number.
package struct HistoryNotification {
    package let id: [UInt8]
    package let sequence: UInt64
    package let content: HistoryContent

    package init(id: [UInt8], sequence: UInt64, content: HistoryContent) {
        self.id = id
        self.sequence = sequence
        self.content = content
    }
}

/// The account of a post, or its fate.
package struct HistoryReceipt: Equatable {
    package enum State: Equatable {
        case posted, queued, dequeued, expired
        case coalesced(into: [UInt8])
    }

    package var id: [UInt8]
    package var sequence: UInt64
    package var state = State.posted
    package var matched = 0
    package var delivered = 0
    package var held = 0
    package var coalesced = 0
    package var dropped = 0
    package var acknowledged = 0
    package var refused = 0
    package var pending = 0
    package var dequeued = 0

    package init(id: [UInt8], sequence: UInt64) {
        self.id = id
        self.sequence = sequence
    }
}

/// A delivery that was written to a connection, read from its bytes.
///
/// Its selector shows the observer, or else its writer does.
package struct HistoryFrame {
    package var connection: UInt64
    package var observer: UInt64
    /// Nil where the frame calls no method.
    package var selector: [UInt8]?
    package var notification: HistoryNotification
    package var isRedelivered: Bool

    package init(
        connection: UInt64, observer: UInt64, selector: [UInt8]?,
        notification: HistoryNotification, isRedelivered: Bool
    ) {
        self.connection = connection
        self.observer = observer
        self.selector = selector
        self.notification = notification
        self.isRedelivered = isRedelivered
    }
}

/// A loss as an observer is told it.
package struct HistoryGap {
    package enum Reason { case dropped, coalesced, overflow, expired, unknown }

    package var observer: UInt64
    package var reason: Reason
    /// Nil when the count is unknown.
    package var lost: Int?
    package var first: UInt64
    package var last: UInt64

    package init(observer: UInt64, reason: Reason, lost: Int?, first: UInt64, last: UInt64) {
        self.observer = observer
        self.reason = reason
        self.lost = lost
        self.first = first
        self.last = last
    }
}

package enum HistoryDrain {
    /// A turn ends, and posts all that its snapshot has.
    case turn
    /// A turn ends, and may leave some of its snapshot to the next one.
    case share
    case idle, stop
}

/// The limits that losses by overflow are judged by.
package struct HistoryLimits {
    package var clientHeldCount = 10_000
    package var clientHeldByteCount = 16 << 20
    package var commonModes: [[UInt8]] = []

    package init() {}
}

/// A fault that a history shows.
package struct HistoryFault: Error {
    package let text: String

    init(_ text: String) { self.text = text }
}
