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
    private var name: [UInt8]?
    private var object: [UInt8]?
    private var mask: Coalescing?
    private var entry: NotificationID?

    enum Key: String, CaseIterable {
        case name, object, coalesce, id
    }

    static let table = FieldTable(Key.allCases)
    /// The parameters of a query; an entry has a path of its own.
    static let parameters = JSONKeyTable<Key>([.name, .object, .coalesce])

    /// Reads or skips the value of one field.
    mutating func read(
        _ key: Key, from source: inout some FieldSource, in bytes: Span<UInt8>
    ) throws(Problem) {
        switch key {
        case .name: name = try source.name(in: bytes)
        case .object: object = try source.name(in: bytes)
        case .coalesce: mask = try source.coalescing(in: bytes)
        case .id: entry = try source.notificationID(in: bytes)
        }
    }

    /// Makes the request, or reports its fault: the field, nil for all of them together.
    func request(tell: (_ key: Key?, _ detail: String) -> Void) -> DequeueRequest? {
        if let entry {
            if name == nil, object == nil, mask == nil { return .entry(entry) }
            tell(.id, "cannot be combined with other fields")
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
            tell(.coalesce, "must be name, sender or both")
        } else if mask.contains(.onName), name == nil {
            tell(.name, "is required, because coalesce compares it")
        } else {
            return .matching(name: name, object: object, mask: mask)
        }
        return nil
    }
}

extension FieldReader {
    mutating func readDequeue(in bytes: Span<UInt8>) throws(Problem) -> DequeueRequest? {
        var dequeue = DequeueFields()
        guard try beginObject(in: bytes) else { return nil }
        while let key = try nextKey(of: DequeueFields.table, in: bytes) {
            try dequeue.read(key, from: &self, in: bytes)
        }
        guard faults.isEmpty else { return nil }
        return dequeue.request { key, detail in
            if let key { addFault(key, detail) } else { faults.add(place(), detail) }
        }
    }

    private enum SuspensionKey: String, CaseIterable { case suspended }
    private static let suspension = FieldTable(SuspensionKey.allCases, required: [.suspended])

    mutating func readSuspension(in bytes: Span<UInt8>) throws(Problem) -> Bool? {
        var isSuspended: Bool?
        guard try beginObject(in: bytes) else { return nil }
        while let key = try nextKey(of: Self.suspension, in: bytes) {
            switch key {
            case .suspended: isSuspended = try boolean(in: bytes)
            }
        }
        return isSuspended
    }

    private enum ResumeKey: String, CaseIterable { case session, after, epoch }
    private static let resume = FieldTable(ResumeKey.allCases, required: [.session])

    mutating func readResumption(in bytes: Span<UInt8>) throws(Problem) -> ResumeRequest? {
        var session: IdentifierText?
        var after: Int?
        var epoch: [UInt8]?
        guard try beginObject(in: bytes) else { return nil }
        while let key = try nextKey(of: Self.resume, in: bytes) {
            switch key {
            case .session:
                session = try secret("must be the session of a client", in: bytes) {
                    IdentifierText(client: $0)
                }
            case .after:
                after = try integer(in: WireLimits.sequences, of: bytes)
            case .epoch: epoch = try string(in: bytes)
            }
        }
        return session.map {
            ResumeRequest(session: $0, after: after.map { UInt64($0) }, epoch: epoch)
        }
    }

    private enum ModeKey: String { case mode, lease }
    private static let mode = FieldTable<ModeKey>([.mode, .lease], required: [.mode])
    private static let callMode = FieldTable<ModeKey>([.mode], required: [.mode])
    private static let defaultModeLease: Int64 = 60_000_000_000

    mutating func readMode(
        in bytes: Span<UInt8>, allowsLease: Bool
    ) throws(Problem) -> ModeRequest? {
        var mode: [UInt8]?
        var lease: Int64?
        guard try beginObject(in: bytes) else { return nil }
        while let key = try nextKey(of: allowsLease ? Self.mode : Self.callMode, in: bytes) {
            switch key {
            case .mode: mode = try name(in: bytes)
            case .lease: lease = try seconds(.init(from: 1, through: 3_600), in: bytes)
            }
        }
        if mode == Mode.common {
            addFault(ModeKey.mode, "must be a single mode; common means several modes")
        }
        let defaultLease = allowsLease ? Self.defaultModeLease : nil
        return mode.map { ModeRequest(mode: $0, lease: lease ?? defaultLease) }
    }

    private enum TokenKey: String, CaseIterable { case token }
    private static let modeToken = FieldTable(TokenKey.allCases, required: [.token])

    mutating func readModeToken(in bytes: Span<UInt8>) throws(Problem) -> IdentifierText? {
        var token: IdentifierText?
        guard try beginObject(in: bytes) else { return nil }
        while let key = try nextKey(of: Self.modeToken, in: bytes) {
            switch key {
            case .token:
                token = try secret("must be the token of a mode", in: bytes) {
                    IdentifierText(mode: $0)
                }
            }
        }
        return token
    }
}
