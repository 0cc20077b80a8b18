/// A name of a field, which is compared byte by byte; these are the ones that are spoken here.
public enum HeaderField: String, CaseIterable, Sendable {
    /// The id by which a stream recognizes a repeated message.
    case msgID = "Nats-Msg-Id"
    /// The number of a message in its stream.
    case sequence = "Nats-Sequence"
    /// The number of the message before it; see `StoredPlace`.
    case lastSequence = "Nats-Last-Sequence"
    /// The stream that a message lies in.
    case stream = "Nats-Stream"
    /// The subject to which a message was published first.
    case subject = "Nats-Subject"
    /// How many messages are left behind this one.
    case numPending = "Nats-Num-Pending"
}

/// The status of a header block that the server itself sends, and no client.
public struct HeaderStatus: RawRepresentable, Equatable, Sendable {
    /// The three digits.
    public let rawValue: UInt16

    /// A status of three digits.
    public init(rawValue: UInt16) {
        self.rawValue = rawValue
    }

    /// 100: an idle heartbeat, or a request of flow control.
    public static let idle = Self(rawValue: 100)
    /// 204: the end of a batch.
    public static let endOfBatch = Self(rawValue: 204)
    /// 404: no such message.
    public static let notFound = Self(rawValue: 404)
    /// 408: the request was malformed, or its time is over.
    public static let badRequest = Self(rawValue: 408)
    /// 503: the subject of a request has no subscriber.
    public static let noResponders = Self(rawValue: 503)
}
