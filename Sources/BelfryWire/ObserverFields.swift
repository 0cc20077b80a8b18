internal import BelfryCenter
internal import BelfryJSON

/// The fields of an observer that is registered, as they come; nil for absent ones.
struct ObserverFields {
    private var observer = ObserverRequest()
    private var behavior: SuspensionBehavior?
    private var acknowledges = false
    private var endsWithConnection = false
    private var holdLimit: Int?
    private var minInterval: Int64?
    private var lease = Lease.absent
    private var selector: [UInt8]?
    private var hasObject = false
    private var target: [UInt8]?
    private var implements: [[UInt8]]?
    private var next: [UInt8]?
    private var ifHeld: ResponderTerms.IfHeld?
    private var concurrency: Int?
    private var keyPath: DocumentPath?
    private var initial: Bool?
    private var old: Bool?
    private var own: Bool?

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
        "acknowledge", "minInterval", "lifetime", "implements", "next", "ifHeld", "concurrency",
        "target", "keyPath", "initial", "old", "own",
    ]

    /// Reads or skips the value of one member.
    mutating func read(
        _ ordinal: Int, _ fields: inout FieldReader, in bytes: Span<UInt8>
    ) throws(Problem) {
        switch ordinal {
        case 0: try readName(&fields, in: bytes)
        case 1:
            hasObject = try !fields.skipNull(in: bytes)
            if hasObject { observer.object = try fields.name("object", in: bytes) }
        case 2:
            if try fields.skipNull(in: bytes) { return }
            selector = try fields.selector("selector", in: bytes)
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
        case 10: implements = try fields.optionalSelectors("implements", in: bytes)
        case 11: next = try fields.optionalName("next", in: bytes)
        case 12: try readIfHeld(&fields, in: bytes)
        case 13:
            let range = 1...ResponderTerms.concurrencyLimit
            concurrency = try fields.optionalInteger("concurrency", in: range, of: bytes)
        case 14: target = try fields.optionalName("target", in: bytes)
        case 15: keyPath = try fields.optionalKeyPath("keyPath", in: bytes)
        case 16: initial = try fields.optionalBoolean("initial", in: bytes)
        case 17: old = try fields.optionalBoolean("old", in: bytes)
        case 18: own = try fields.optionalBoolean("own", in: bytes)
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

    private mutating func readIfHeld(
        _ fields: inout FieldReader, in bytes: Span<UInt8>
    ) throws(Problem) {
        guard let text = try fields.optionalString("ifHeld", in: bytes) else { return }
        ifHeld = ResponderTerms.IfHeld(text: text)
        if ifHeld == nil { fields.addFault("ifHeld", ResponderTerms.IfHeld.detail) }
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

    /// Checks combinations, and puts defaults for absent fields.
    func request(allowsSession: Bool, _ fields: inout FieldReader) -> ObserverRequest {
        let isMailbox = allowsSession && observer.session == nil
        // The responder answers an action, not the observer.
        if isMailbox, acknowledges, target == nil {
            fields.addFault(
                "acknowledge", "must be false for a mailbox, which acknowledges by after")
        } else if acknowledges, behavior == .drop || behavior == .coalesce {
            fields.addFault(
                "suspensionBehavior", "must be hold or deliverImmediately to acknowledge")
        }
        if isMailbox, endsWithConnection {
            fields.addFault("lifetime", "must be token for a mailbox, which has no connection")
        }
        var request = observer
        request.selector = selector ?? request.selector
        request.terms = terms(isMailbox: isMailbox, limits: fields.limits)
        // Both are looked at: a field of one role does not go with another role.
        let (value, responder) = (valueTerms(&fields), responderTerms(&fields))
        if let value {
            request.role = .value(value)
        } else if let responder {
            request.role = .responder(responder)
            request.selector = []
        } else if let target {
            checkAction(&fields)
            request.role = .action(target: target)
        }
        return request
    }

    /// Checks the combinations of an observer with a target; it delivers through a responder.
    private func checkAction(_ fields: inout FieldReader) {
        let needed = [("name", observer.name != nil), ("selector", selector != nil)]
        for (key, isGiven) in needed where !isGiven {
            fields.addFault(key, "is required with target")
        }
        let given = [
            ("suspensionBehavior", behavior != nil), ("holdLimit", holdLimit != nil),
            ("minInterval", minInterval != nil), ("since", observer.since != nil),
        ]
        for (key, isGiven) in given where isGiven {
            fields.addFault(key, "cannot be combined with target, whose responder decides")
        }
    }

    /// The terms of a responder, if `implements` is given.
    ///
    /// Its methods are the selectors that it implements.
    private func responderTerms(_ fields: inout FieldReader) -> ResponderTerms? {
        guard let implements else {
            if next == nil, ifHeld == nil, concurrency == nil { return nil }
            let given = [
                ("next", next != nil), ("ifHeld", ifHeld != nil),
                ("concurrency", concurrency != nil),
            ]
            for (key, isGiven) in given where isGiven {
                fields.addFault(key, "requires the field implements")
            }
            return nil
        }
        if !hasObject { fields.addFault("object", "is required with implements") }
        let given = [
            ("name", observer.name != nil), ("selector", selector != nil),
            ("since", observer.since != nil), ("target", target != nil),
        ]
        for (key, isGiven) in given where isGiven {
            fields.addFault(key, "cannot be combined with implements")
        }
        var terms = ResponderTerms(implements: implements, next: next)
        terms.ifHeld = ifHeld ?? terms.ifHeld
        terms.concurrency = concurrency ?? terms.concurrency
        return terms
    }

    /// The terms of an observer of a value, if `keyPath` is given.
    private func valueTerms(_ fields: inout FieldReader) -> ValueTerms? {
        guard let keyPath else {
            if initial == nil, old == nil, own == nil { return nil }
            let given = [("initial", initial != nil), ("old", old != nil), ("own", own != nil)]
            for (key, isGiven) in given where isGiven {
                fields.addFault(key, "requires the field keyPath")
            }
            return nil
        }
        if !hasObject { fields.addFault("object", "is required with keyPath") }
        let given = [
            ("name", observer.name != nil), ("implements", implements != nil),
            ("target", target != nil),
            ("since", observer.since != nil), ("acknowledge", acknowledges),
        ]
        for (key, isGiven) in given where isGiven {
            fields.addFault(key, "cannot be combined with keyPath")
        }
        var terms = ValueTerms(path: keyPath)
        terms.sendsInitial = initial ?? terms.sendsInitial
        terms.sendsOld = old ?? terms.sendsOld
        terms.sendsOwn = own ?? terms.sendsOwn
        return terms
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

extension ResponderTerms {
    /// The most open asks that a responder may have at once, also the default.
    static let concurrencyLimit = 1_000
}
