public import BelfryJSON

/// The stored record of the value of an object: all of it, in one row.
public struct ValueRecord: Sendable, Equatable {
    /// The object.
    public let object: [UInt8]
    /// The value.
    public let document: Document
    /// The number of its last change.
    public let changedSequence: UInt64
    /// The time of that change, in milliseconds since 1970.
    public let changedAt: Int64
    /// The parts with a `ttl` or a `lease`, in the order of setting.
    public let parts: [Part]

    /// Joins the parts.
    public init(
        object: [UInt8], document: Document, changedSequence: UInt64, changedAt: Int64,
        parts: [Part]
    ) {
        self.object = object
        self.document = document
        self.changedSequence = changedSequence
        self.changedAt = changedAt
        self.parts = parts
    }

    /// The bytes of all texts.
    public var byteCount: Int {
        parts.reduce(object.count + document.byteCount) { $0 + $1.path.text.count + 32 }
    }

    /// A place whose value expires or has a lease.
    public struct Part: Sendable, Equatable {
        /// The place.
        public let path: DocumentPath
        /// Its end by `ttl`, in milliseconds since 1970.
        public let expiresAt: Int64?
        /// Its whole `ttl` in milliseconds; nil where it has none.
        public let timeToLive: Int64?
        /// The client of the entry, and the nanoseconds that the entry outlives its connection.
        public let lease: Lease?

        /// Joins the parts.
        public init(
            path: DocumentPath, expiresAt: Int64?, timeToLive: Int64? = nil, lease: Lease?
        ) {
            self.path = path
            self.expiresAt = expiresAt
            self.timeToLive = timeToLive
            self.lease = lease
        }
    }

    /// An entry of a client.
    public struct Lease: Sendable, Equatable {
        /// The number of the client.
        public let client: UInt64
        /// Nanoseconds that the entry outlives its connection.
        public let nanoseconds: Int64

        /// Joins both.
        public init(client: UInt64, nanoseconds: Int64) {
            self.client = client
            self.nanoseconds = nanoseconds
        }
    }
}
