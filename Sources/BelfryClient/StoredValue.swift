/// A value as it is at the broker.
public struct StoredValue: Equatable, Sendable {
    /// The JSON text: members in the byte order of their keys, without white space.
    public let json: String
    /// The tag of this value: `ifMatch` of a write that must not overwrite another value.
    public let etag: String
    /// The number in the sequence of the center up to which this is known.
    public let sequence: UInt64

    init(json: [UInt8]) throws(ClientError) {
        guard let members = JSONObject(json), let value = members.raw("value"),
            let etag = members.string("etag"),
            let sequence = members.integer("seq").flatMap({ UInt64(exactly: $0) })
        else { throw .notUnderstood }
        self.json = String(decoding: value, as: UTF8.self)
        self.etag = etag
        self.sequence = sequence
    }
}

/// The account of a write.
public struct ValueReceipt: Equatable, Sendable {
    /// Whether a byte of the value has changed; if not, no observer is notified.
    public let isChanged: Bool
    /// The tag of the value, or nil for a value that is gone.
    public let etag: String?
    /// The number of the change, or of the last one before a write that changed nothing.
    public let sequence: UInt64
    /// The observers that the change concerned.
    public let matched: Int
    /// The whole receipt as the broker wrote it, with the counts of a post's.
    public let json: [UInt8]

    init(json: [UInt8]) throws(ClientError) {
        guard let members = JSONObject(json), let changed = members.raw("changed"),
            let sequence = members.integer("seq").flatMap({ UInt64(exactly: $0) })
        else { throw .notUnderstood }
        isChanged = changed.elementsEqual("true".utf8)
        etag = members.string("etag")
        self.sequence = sequence
        matched = members.integer("matched") ?? 0
        self.json = json
    }
}
