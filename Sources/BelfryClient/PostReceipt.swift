internal import BelfryJSON

/// The account that a poster gets (Protocol.md section 1).
///
/// A post that waits in the queue has an `outcome` and no counts: all of them are 0.
public struct PostReceipt: Equatable, Sendable {
    /// The outcome of a post.
    public enum Outcome: Equatable, Sendable {
        /// The notification was posted.
        case posted
        /// The notification waits in the queue.
        case queued
        /// The post was coalesced into the notification with this id, which waits in the queue.
        case coalesced(into: String)
    }

    /// The outcome of a notification at one observer.
    public struct Row: Equatable, Sendable {
        /// The id of the observer, such as `o17`.
        public let observer: String
        /// The broker's word, such as `delivered`, `acknowledged` or `held`.
        public let outcome: String
        /// Why the observer refused it, in its words.
        public let refusal: String?
        /// The id of the responder that took an action, where the observer has a target.
        public let responder: String?
        /// The reason that no responder takes the action, such as `no-responder`.
        public let reason: String?
    }

    /// The identifier of the notification.
    public let id: String
    /// The outcome of the post.
    public let outcome: Outcome
    /// Its number in the sequence of its center; 0 until it leaves the queue.
    public let sequence: UInt64
    /// The observers whose filter it passed: delivered, held, coalesced and dropped together.
    public let matched: Int
    /// Put on the way to clients that were live; no promise of arrival.
    public let delivered: Int
    /// Held for clients that are suspended.
    public let held: Int
    /// Held in the place of an older one.
    public let coalesced: Int
    /// Not kept for clients that are suspended.
    public let dropped: Int
    /// Acknowledged by their observers before the answer.
    public let acknowledged: Int
    /// Refused by their observers.
    public let refused: Int
    /// Not acknowledged yet.
    public let pending: Int
    /// Removed from the queue by a post with the style `now`, or replaced by a delayed post.
    public let dequeued: Int
    /// Whether an archive keeps it.
    public let isKept: Bool
    /// When it enters the queue, as RFC 3339 has it, if that is later and known.
    public let dueAt: String?
    /// One row an observer, in the order of their registration, if the post asked for them.
    public let observers: [Row]
    /// The whole receipt as the broker wrote it.
    public let json: [UInt8]
}

extension PostReceipt {
    /// The counts, and the members that they are read from.
    private enum Key: String, CaseIterable {
        case sequence = "seq"
        case matched, delivered, held, coalesced, dropped, acknowledged, refused, pending, dequeued
    }

    private static let keys = JSONKeyTable(Key.allCases)

    /// Reads a receipt; members that are not known are passed over.
    init(json: [UInt8]) throws(ClientError) {
        guard let members = JSONObject(json), let id = members.string("id") else {
            throw .notUnderstood
        }
        var sequence = 0
        var (matched, delivered, held, coalesced, dropped) = (0, 0, 0, 0, 0)
        var (acknowledged, refused, pending, dequeued) = (0, 0, 0, 0)
        do {
            let bytes = json.span
            var reader = JSONReader()
            try reader.beginObject(in: bytes)
            while try reader.nextMember(in: bytes) {
                switch Self.keys.key(named: reader.key) {
                case .sequence: sequence = try reader.readInt(in: bytes)
                case .matched: matched = try reader.readInt(in: bytes)
                case .delivered: delivered = try reader.readInt(in: bytes)
                case .held: held = try reader.readInt(in: bytes)
                case .coalesced: coalesced = try reader.readInt(in: bytes)
                case .dropped: dropped = try reader.readInt(in: bytes)
                case .acknowledged: acknowledged = try reader.readInt(in: bytes)
                case .refused: refused = try reader.readInt(in: bytes)
                case .pending: pending = try reader.readInt(in: bytes)
                case .dequeued: dequeued = try reader.readInt(in: bytes)
                case nil: _ = try reader.skipValue(in: bytes)
                }
            }
        } catch {
            throw .notUnderstood
        }
        guard let sequence = UInt64(exactly: sequence) else { throw .notUnderstood }
        self.id = id
        switch (members.string("outcome"), members.string("into")) {
        case ("coalesced", let into?): outcome = .coalesced(into: into)
        case ("queued", _): outcome = .queued
        case (nil, _): outcome = .posted
        default: throw .notUnderstood
        }
        self.sequence = sequence
        self.matched = matched
        self.delivered = delivered
        self.held = held
        self.coalesced = coalesced
        self.dropped = dropped
        self.acknowledged = acknowledged
        self.refused = refused
        self.pending = pending
        self.dequeued = dequeued
        observers = members.objects("observers").compactMap(Row.init)
        isKept = members.raw("kept")?.elementsEqual("true".utf8) ?? false
        dueAt = members.string("dueAt")
        self.json = json
    }
}

extension PostReceipt.Row {
    init?(_ row: JSONObject) {
        guard let id = row.string("id"), let outcome = row.string("outcome") else { return nil }
        self.init(
            observer: id, outcome: outcome,
            refusal: row.raw("error").flatMap(JSONObject.init)?.string("message"),
            responder: row.string("observer"), reason: row.string("reason"))
    }
}
