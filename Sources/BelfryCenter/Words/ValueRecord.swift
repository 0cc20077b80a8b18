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

    /// Reads the canonical bytes of a value from a store; nil when they are invalid.
    public init?(
        object: [UInt8], text: [UInt8], changedSequence: UInt64, changedAt: Int64, parts: [Part]
    ) {
        let limits = DocumentLimits(byteLimit: .max, depthLimit: 128)
        guard let document = try? Document.parse(text.span, limits: limits), document.isObject
        else { return nil }
        self.init(
            object: object, document: document, changedSequence: changedSequence,
            changedAt: changedAt, parts: parts)
    }

    /// The canonical bytes of the value.
    public var text: [UInt8] { document.bytes }

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
        /// Its whole `ttl` in milliseconds; nil where an earlier program wrote the part.
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

        /// Reads the text of the path from a store; nil when it is invalid.
        public init?(
            pathText: [UInt8], expiresAt: Int64?, timeToLive: Int64? = nil, lease: Lease?
        ) {
            guard let path = try? DocumentPath.parse(pathText.span) else { return nil }
            self.init(path: path, expiresAt: expiresAt, timeToLive: timeToLive, lease: lease)
        }

        /// The text of the path.
        public var pathText: [UInt8] { path.text }
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
