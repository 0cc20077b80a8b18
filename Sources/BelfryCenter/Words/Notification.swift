import BelfryBytes

/// A posted notification: a name, an optional object, an optional `userInfo` (rule C1).
///
/// A notification is immutable. It gets its sequence number when it is dispatched.
public struct Notification: Sendable, Equatable {
    /// The identifier by which its fate can be looked up.
    public let id: NotificationID
    /// Its place in the one order of its center (law 2).
    public let sequence: UInt64
    /// When it was dispatched, in milliseconds since 1970.
    public let postedAt: Int64
    /// The notification whose handling posted this one.
    public let causedBy: NotificationID?
    /// Name, object and userInfo.
    public let content: Content
    /// When a held copy is dropped, on the monotonic clock in nanoseconds; `Int64.max` is never.
    public let expiresAt: Int64
    /// Whether it may have been delivered in an earlier life of the broker.
    public let isRestored: Bool
    /// Whether an archive kept it when it was dispatched.
    public internal(set) var isKept = false

    /// Joins the parts.
    public init(
        id: NotificationID, sequence: UInt64, postedAt: Int64, causedBy: NotificationID?,
        content: Content, expiresAt: Int64 = .max, isRestored: Bool = false,
        isKept: Bool = false
    ) {
        self.id = id
        self.sequence = sequence
        self.postedAt = postedAt
        self.causedBy = causedBy
        self.content = content
        self.expiresAt = expiresAt
        self.isRestored = isRestored
        self.isKept = isKept
    }

    /// Whether it was removed: no notification has an empty name.
    var isErased: Bool { content.byteCount == 0 }

    /// The number alone, of a notification that was removed: its `ttl` is over.
    var erased: Notification {
        Notification(
            id: id, sequence: sequence, postedAt: postedAt, causedBy: nil,
            content: Content(name: []), expiresAt: .min)
    }

    /// Name, object and userInfo, joined in one buffer.
    ///
    /// They are compared and passed on as bytes; `userInfo` is the JSON text that was posted.
    public struct Content: Sendable, Equatable {
        private let bytes: [UInt8]
        private let nameByteCount: UInt32
        /// `UInt32.max` when there is no object.
        private let objectByteCount: UInt32
        private let hasUserInfo: Bool

        /// Joins the three parts.
        public init(name: [UInt8], object: [UInt8]? = nil, userInfo: [UInt8]? = nil) {
            self.init(
                joined: name + (object ?? []) + (userInfo ?? []), nameByteCount: name.count,
                objectByteCount: object?.count, hasUserInfo: userInfo != nil)
        }

        /// Takes a buffer that already has the parts joined in this order.
        public init(
            joined bytes: [UInt8], nameByteCount: Int, objectByteCount: Int?, hasUserInfo: Bool
        ) {
            self.bytes = bytes
            self.nameByteCount = UInt32(nameByteCount)
            self.objectByteCount = objectByteCount.map { UInt32($0) } ?? UInt32.max
            self.hasUserInfo = hasUserInfo
        }

        /// The name and the object alone.
        var withoutUserInfo: Content {
            hasUserInfo
                ? Content(
                    joined: [UInt8](copying: bytes.span.extracting(0..<userInfoStart)),
                    nameByteCount: Int(nameByteCount),
                    objectByteCount: hasObject ? Int(objectByteCount) : nil, hasUserInfo: false)
                : self
        }

        /// Whether another content has the same name and the same object.
        func isSameKind(as other: Content) -> Bool {
            nameByteCount == other.nameByteCount && objectByteCount == other.objectByteCount
                && bytesAreEqual(
                    bytes.span.extracting(0..<userInfoStart),
                    other.bytes.span.extracting(0..<userInfoStart))
        }

        /// The bytes of the three parts.
        public var byteCount: Int { bytes.count }

        /// Whether it has an object.
        public var hasObject: Bool { objectByteCount != UInt32.max }

        private var userInfoStart: Int {
            Int(nameByteCount) + (hasObject ? Int(objectByteCount) : 0)
        }

        /// The notification name.
        public var name: Span<UInt8> {
            @_lifetime(borrow self)
            get { bytes.span.extracting(0..<Int(nameByteCount)) }
        }

        /// The object that filters and coalescing compare, if there is one.
        public var object: Span<UInt8>? {
            @_lifetime(borrow self)
            get {
                guard hasObject else { return nil }
                return bytes.span.extracting(Int(nameByteCount)..<userInfoStart)
            }
        }

        /// The JSON object that was posted, if there is one.
        public var userInfo: Span<UInt8>? {
            @_lifetime(borrow self)
            get {
                guard hasUserInfo else { return nil }
                return bytes.span.extracting(userInfoStart..<bytes.count)
            }
        }
    }
}
