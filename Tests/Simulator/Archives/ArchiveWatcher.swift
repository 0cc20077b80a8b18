import BelfryCenter

/// An observer, as far as its client knows: where it began, what came, and which gaps were told.
struct ArchiveWatcher {
    /// The filter of an observer or of a removal.
    struct Filter {
        var names: [[UInt8]] = []
        var prefix: [UInt8]?
        var object: [UInt8]?
        /// The least value of `n`.
        var least: Int?

        func matches(_ post: ArchiveTruth.Post) -> Bool {
            covers(post.name) && (object == nil || object == post.object)
                && (least.map { post.number >= $0 } ?? true)
        }

        func covers(_ name: [UInt8]) -> Bool {
            if !names.isEmpty { return names.contains(name) }
            return prefix.map { name.starts(with: $0) } ?? true
        }

        /// Whether a loss is of a kind that it observes (rule A9).
        func touches(_ loss: ArchiveTruth.Loss) -> Bool {
            covers(loss.post.name)
                && (object == nil || !loss.isOfObject || loss.post.object == object
                    || names.isEmpty || loss.reason == .notKept)
        }
    }

    /// The place at which it begins.
    enum PastBeginning {
        case present
        case above(UInt64)
        case other(BelfryCenter.PastBeginning)
    }

    let serial: UInt64
    let client: UInt64
    let filter: Filter
    let drops: Bool
    let acknowledges: Bool
    let isMailbox: Bool
    /// It was promised all above this number; up to `join` as far as it is this young.
    var start: UInt64
    var from = Int64.min
    /// The last number before it was registered.
    let join: UInt64
    /// The numbers up to `join` that were there for it, if it was promised nothing.
    var chosen: Set<UInt64>?
    /// Those of which they were chosen: another one may be when the search comes later.
    var choice: Set<UInt64> = []
    var came: Set<UInt64> = []
    /// The numbers that were written on this connection.
    var written: Set<UInt64> = []
    var last: UInt64 = 0
    var gaps: [Gap] = []
    var hasResumed = false
    var hasRestarted = false
    /// Whether there may be duplicates: it has read again from an earlier place.
    var mayRepeat = false
    /// The number that the ring had forgotten while one of its channels was not kept.
    var ringLoss: UInt64 = 0
    /// Numbers that it may lack: its client came back with them, and another observer was removed.
    var doubts: Set<UInt64> = []
    /// The number up to which its mailbox is acknowledged.
    var through: UInt64 = 0

    func wasTold(_ sequence: UInt64) -> Bool {
        gaps.contains { $0.firstSequence <= sequence && sequence <= $0.lastSequence }
    }

    /// Whether a notification must come to it, or be told as lost.
    func wants(_ post: ArchiveTruth.Post) -> Bool {
        guard filter.matches(post) else { return false }
        if post.sequence > join { return true }
        if let chosen { return chosen.contains(post.sequence) }
        return post.sequence > start && post.postedAt >= from
    }
}

/// The other end of a connection, with the frames that it has not read.
struct ArchiveEnd {
    struct Frame {
        let observer: UInt64
        let sequence: UInt64
    }

    let client: UInt64
    let transport: Transport
    var connection: UInt64?
    var isAsked = false
    var isSlow = false
    var unread: [Frame] = []
    /// The number of the last frame that came.
    var lastCame: UInt64?
    /// The number of the last frame that was written on this connection without a mark.
    var lastPlain: UInt64 = 0
    /// Whether frames were lost with the line since the last one that came.
    var hasLost = false
    /// Whether an observer was removed on this connection, or since it ended.
    var hasRemoved = false
    /// A flush that goes on when the socket has room.
    var isFlushing = false

    var isLive: Bool { connection != nil && !isAsked }
}
