public import BelfryCenter
internal import BelfryJSON

/// The choice of queue entries to remove (rule Q20).
public enum DequeueRequest: Sendable, Equatable {
    /// The one with this id.
    case entry(NotificationID)
    /// All that are equal in what the mask names; it names something.
    ///
    /// With the sender in the mask and no object, it is those without an object.
    case matching(name: [UInt8]?, object: [UInt8]?, mask: Coalescing)
}

/// A request to enter a mode.
public struct ModeRequest: Sendable, Equatable {
    /// The mode.
    public var mode: [UInt8]
    /// Nanoseconds after which the lease ends; nil when it ends with the connection.
    public var lease: Int64?

    /// Joins both.
    public init(mode: [UInt8], lease: Int64? = nil) {
        self.mode = mode
        self.lease = lease
    }
}

/// A request to continue a client.
public struct ResumeRequest: Sendable, Equatable {
    /// Its session; the secret is there.
    public var session: IdentifierText
    /// The sequence number above which the replay ring is asked for.
    public var after: UInt64?
    /// The life of the center that the number is of; nil is this one.
    public var epoch: [UInt8]?

    /// Joins the parts.
    public init(session: IdentifierText, after: UInt64? = nil, epoch: [UInt8]? = nil) {
        self.session = session
        self.after = after
        self.epoch = epoch
    }
}

/// A look into a mailbox.
public struct MailboxRequest: Sendable, Equatable {
    /// The sequence number up to which everything is acknowledged.
    public var after: UInt64?
    /// How many notifications the answer has at most.
    public var limit: Int

    /// Joins both.
    public init(after: UInt64? = nil, limit: Int = 100) {
        self.after = after
        self.limit = limit
    }
}

/// The fields of a dequeue as they come, in JSON or in a query.
struct DequeueFields {
    var name: [UInt8]?
    var object: [UInt8]?
    var mask: Coalescing?
    var entry: NotificationID?

    /// Makes the request, or reports its fault: the field, nil for all of them together.
    func request(tell: (_ key: String?, _ detail: String) -> Void) -> DequeueRequest? {
        if let entry {
            if name == nil, object == nil, mask == nil { return .entry(entry) }
            tell("id", "cannot be combined with other fields")
            return nil
        }
        var given = Coalescing.none
        if name != nil { given.insert(.onName) }
        if object != nil { given.insert(.onSender) }
        guard let mask else {
            if given != .none { return .matching(name: name, object: object, mask: given) }
            tell(nil, "must have id, or some of name, object and coalesce")
            return nil
        }
        if mask == .none {
            tell("coalesce", "must be name, sender or both")
        } else if mask.contains(.onName), name == nil {
            tell("name", "is required, because coalesce compares it")
        } else {
            return .matching(name: name, object: object, mask: mask)
        }
        return nil
    }
}

extension FieldReader {
    private static let dequeueKeys = JSONKeyTable(["name", "object", "coalesce", "id"])

    mutating func readDequeue(in bytes: Span<UInt8>) throws(Problem) -> DequeueRequest? {
        var dequeue = DequeueFields()
        let isObject = try readObject(Self.dequeueKeys, in: bytes) {
            (fields, ordinal, bytes) throws(Problem) in
            switch ordinal {
            case 0: dequeue.name = try fields.optionalName("name", in: bytes)
            case 1: dequeue.object = try fields.optionalName("object", in: bytes)
            case 2: dequeue.mask = try fields.optionalCoalescing("coalesce", in: bytes)
            default: dequeue.entry = try fields.optionalNotificationID("id", in: bytes)
            }
        }
        guard isObject, faults.isEmpty else { return nil }
        return dequeue.request { key, detail in
            if let key { addFault(key, detail) } else { faults.add(place(), detail) }
        }
    }

    private static let suspensionKeys = JSONKeyTable(["suspended"])

    mutating func readSuspension(in bytes: Span<UInt8>) throws(Problem) -> Bool? {
        var isSuspended: Bool?
        let isObject = try readObject(Self.suspensionKeys, in: bytes) {
            (fields, _, bytes) throws(Problem) in
            isSuspended = try fields.boolean("suspended", in: bytes)
        }
        if isObject, !has(0) { addFault("suspended", "is required") }
        return isSuspended
    }

    private static let resumeKeys = JSONKeyTable(["session", "after", "epoch"])

    mutating func readResumption(in bytes: Span<UInt8>) throws(Problem) -> ResumeRequest? {
        var session: IdentifierText?
        var after: Int?
        var epoch: [UInt8]?
        let isObject = try readObject(Self.resumeKeys, in: bytes) {
            (fields, ordinal, bytes) throws(Problem) in
            switch ordinal {
            case 0:
                session = try fields.secret(
                    "session", "must be the session of a client", in: bytes
                ) { IdentifierText(client: $0) }
            case 1:
                let range = 0...ObserverFields.greatestSequence
                after = try fields.optionalInteger("after", in: range, of: bytes)
            default: epoch = try fields.optionalString("epoch", in: bytes)
            }
        }
        if isObject, !has(0) { addFault("session", "is required") }
        return session.map {
            ResumeRequest(session: $0, after: after.map { UInt64($0) }, epoch: epoch)
        }
    }

    private static let modeKeys = JSONKeyTable(["mode", "lease"])
    private static let callModeKeys = JSONKeyTable(["mode"])
    private static let defaultModeLease: Int64 = 60_000_000_000

    mutating func readMode(
        in bytes: Span<UInt8>, allowsLease: Bool
    ) throws(Problem) -> ModeRequest? {
        var mode: [UInt8]?
        var lease: Int64?
        let keys = allowsLease ? Self.modeKeys : Self.callModeKeys
        let isObject = try readObject(keys, in: bytes) {
            (fields, ordinal, bytes) throws(Problem) in
            if ordinal == 0 {
                mode = try fields.name("mode", in: bytes)
            } else {
                lease = try fields.optionalSeconds("lease", .modeLease, in: bytes)
            }
        }
        if isObject, !has(0) { addFault("mode", "is required") }
        if mode == Mode.common {
            addFault("mode", "must be a single mode; common means several modes")
        }
        let defaultLease = allowsLease ? Self.defaultModeLease : nil
        return mode.map { ModeRequest(mode: $0, lease: lease ?? defaultLease) }
    }

    private static let leaveKeys = JSONKeyTable(["token"])

    mutating func readModeToken(in bytes: Span<UInt8>) throws(Problem) -> IdentifierText? {
        var token: IdentifierText?
        let isObject = try readObject(Self.leaveKeys, in: bytes) {
            (fields, _, bytes) throws(Problem) in
            token = try fields.secret("token", "must be the token of a mode", in: bytes) {
                IdentifierText(mode: $0)
            }
        }
        if isObject, !has(0) { addFault("token", "is required") }
        return token
    }
}
