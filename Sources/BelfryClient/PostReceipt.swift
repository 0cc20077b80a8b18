internal import BelfryJSON

/// The account that a poster gets (DESIGN section 3.1).
public struct PostReceipt: Equatable, Sendable {
    /// The identifier of the notification.
    public let id: String
    /// Its number in the sequence of its center.
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
    /// The whole receipt as the broker wrote it.
    public let json: [UInt8]
}

extension PostReceipt {
    private static let keys = JSONKeyTable([
        "seq", "matched", "delivered", "held", "coalesced", "dropped", "acknowledged", "refused",
        "pending",
    ])

    /// Reads a receipt; members that are not known are passed over.
    init(json: [UInt8]) throws(ClientError) {
        var counts = [Int](repeating: 0, count: 9)
        var id: String?
        do {
            var reader = JSONReader()
            try reader.beginObject(in: json.span)
            while try reader.nextMember(in: json.span) {
                if reader.key.elementsEqual("id".utf8) {
                    id = String(decoding: try reader.readString(in: json.span), as: UTF8.self)
                } else if let ordinal = Self.keys.ordinal(of: reader.key) {
                    counts[ordinal] = try reader.readInt(in: json.span)
                } else {
                    _ = try reader.skipValue(in: json.span)
                }
            }
            try reader.finish(in: json.span)
        } catch {
            throw .notUnderstood
        }
        guard let id, let sequence = UInt64(exactly: counts[0]) else { throw .notUnderstood }
        self.id = id
        self.sequence = sequence
        matched = counts[1]
        delivered = counts[2]
        held = counts[3]
        coalesced = counts[4]
        dropped = counts[5]
        acknowledged = counts[6]
        refused = counts[7]
        pending = counts[8]
        self.json = json
    }
}
