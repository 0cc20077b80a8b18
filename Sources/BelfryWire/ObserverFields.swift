internal import BelfryCenter
internal import BelfryJSON

/// The fields of an observer that is registered, as they come; nil is what was not given.
struct ObserverFields {
    private var observer = ObserverRequest()
    private var behavior: SuspensionBehavior?
    private var acknowledges = false
    private var endsWithConnection = false
    private var holdLimit: Int?
    private var minInterval: Int64?
    private var lease = Lease.absent

    private enum Lease {
        case absent
        case never
        case nanoseconds(Int64)
    }

    /// The greatest integer that every JSON reader keeps, 2^53 - 1 (RFC 8259 §6).
    static let greatestSequence = 9_007_199_254_740_991

    /// The members over JSON-RPC, where the connection is the client.
    static let callKeys = JSONKeyTable(names)
    /// The members over HTTP.
    static let keys = JSONKeyTable(names + ["session"])
    private static let names = [
        "name", "object", "selector", "since", "suspensionBehavior", "holdLimit", "lease",
        "acknowledge", "minInterval", "lifetime",
    ]

    /// Reads or skips the value of one member.
    mutating func read(
        _ ordinal: Int, _ fields: inout FieldReader, in bytes: Span<UInt8>
    ) throws(Problem) {
        switch ordinal {
        case 0: try readName(&fields, in: bytes)
        case 1: observer.object = try fields.optionalName("object", in: bytes)
        case 2: try readSelector(&fields, in: bytes)
        case 3:
            let range = 0...Self.greatestSequence
            observer.since = try fields.optionalInteger("since", in: range, of: bytes)
                .map { UInt64($0) }
        case 4: try readBehavior(&fields, in: bytes)
        case 5:
            let range = 1...max(fields.limits.greatestHoldLimit, 1)
            holdLimit = try fields.optionalInteger("holdLimit", in: range, of: bytes)
        case 6: try readLease(&fields, in: bytes)
        case 7: acknowledges = try fields.optionalBoolean("acknowledge", in: bytes) ?? false
        case 8: minInterval = try fields.optionalSeconds("minInterval", .minInterval, in: bytes)
        case 9: try readLifetime(&fields, in: bytes)
        default: observer.session = try fields.optionalString("session", in: bytes)
        }
    }

    private mutating func readName(
        _ fields: inout FieldReader, in bytes: Span<UInt8>
    ) throws(Problem) {
        observer.name = try fields.optionalName("name", in: bytes)
        if let name = observer.name, TextRule.isReserved(name), !TextRule.isLifetimeChannel(name) {
            fields.faults.addReservedName(fields.place([UInt8]("name".utf8)))
        }
    }

    private mutating func readSelector(
        _ fields: inout FieldReader, in bytes: Span<UInt8>
    ) throws(Problem) {
        guard let selector = try fields.optionalString("selector", in: bytes) else { return }
        observer.selector = selector
        if let fault = TextRule.faultOfSelector(selector, limits: fields.limits) {
            fields.addFault("selector", fault)
        }
    }

    private mutating func readBehavior(
        _ fields: inout FieldReader, in bytes: Span<UInt8>
    ) throws(Problem) {
        guard let text = try fields.optionalString("suspensionBehavior", in: bytes) else { return }
        behavior = SuspensionBehavior(text: text)
        if behavior == nil { fields.addFault("suspensionBehavior", SuspensionBehavior.detail) }
    }

    private mutating func readLease(
        _ fields: inout FieldReader, in bytes: Span<UInt8>
    ) throws(Problem) {
        if try fields.skipNull(in: bytes) {
            lease = .never
        } else if let nanoseconds = try fields.seconds("lease", .lease, in: bytes) {
            lease = .nanoseconds(nanoseconds)
        }
    }

    private mutating func readLifetime(
        _ fields: inout FieldReader, in bytes: Span<UInt8>
    ) throws(Problem) {
        guard let lifetime = try fields.optionalString("lifetime", in: bytes) else { return }
        endsWithConnection = lifetime.elementsEqual("connection".utf8)
        if !endsWithConnection, !lifetime.elementsEqual("token".utf8) {
            fields.addFault("lifetime", "must be token or connection")
        }
    }

    /// Checks what must go together, and puts defaults for what was not given.
    func request(allowsSession: Bool, _ fields: inout FieldReader) -> ObserverRequest {
        let isMailbox = allowsSession && observer.session == nil
        if isMailbox, acknowledges {
            fields.addFault("acknowledge", "must be false for a mailbox, which is read")
        } else if acknowledges, behavior == .drop || behavior == .coalesce {
            fields.addFault(
                "suspensionBehavior", "must be hold or deliverImmediately to acknowledge")
        }
        if isMailbox, endsWithConnection {
            fields.addFault("lifetime", "must be token for a mailbox, which has no connection")
        }
        var request = observer
        request.terms = terms(isMailbox: isMailbox, limits: fields.limits)
        return request
    }

    private func terms(isMailbox: Bool, limits: WireLimits) -> ObserverTerms {
        var terms = ObserverTerms()
        terms.suspensionBehavior = behavior ?? (isMailbox || acknowledges ? .hold : .coalesce)
        terms.acknowledges = acknowledges
        terms.endsWithConnection = endsWithConnection
        terms.holdLimit = holdLimit ?? min(limits.defaultHoldLimit, limits.greatestHoldLimit)
        terms.minInterval = minInterval ?? 0
        switch lease {
        case .absent:
            let lease = isMailbox ? limits.mailboxLease : limits.defaultLease
            terms.lease = SecondsRule.nanoseconds(of: min(lease, limits.leaseLimit))
        case .never: terms.lease = nil
        case .nanoseconds(let nanoseconds):
            terms.lease = min(nanoseconds, SecondsRule.nanoseconds(of: limits.leaseLimit))
        }
        return terms
    }
}

extension FieldReader {
    /// Reads the members of an observer.
    mutating func readObserver(
        in bytes: Span<UInt8>, allowsSession: Bool
    ) throws(Problem) -> ObserverRequest {
        var observer = ObserverFields()
        let keys = allowsSession ? ObserverFields.keys : ObserverFields.callKeys
        _ = try readObject(keys, in: bytes) { (fields, ordinal, bytes) throws(Problem) in
            try observer.read(ordinal, &fields, in: bytes)
        }
        return observer.request(allowsSession: allowsSession, &self)
    }
}
