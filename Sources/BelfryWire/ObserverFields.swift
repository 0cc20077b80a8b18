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
    private var filter: FilterFields?
    private var beginning = BeginningFields()

    private enum Lease {
        case absent
        case never
        case nanoseconds(Int64)
    }

    enum Key: String, CaseIterable {
        case name, object, selector, since, suspensionBehavior, holdLimit, lease, acknowledge
        case minInterval, lifetime, implements, next, ifHeld, concurrency, target
        case keyPath, initial, old, own, session
        case names, namePrefix, objectPrefix, `where`, last, lastEach
    }

    /// The members over HTTP; a lease of null never ends.
    static let table = FieldTable(Key.allCases, takingNull: [.lease])
    /// The members over JSON-RPC, where the connection is the client.
    static let callTable = FieldTable(
        Key.allCases.filter { $0 != .session }, takingNull: [.lease])

    /// Reads or skips the value of one member.
    mutating func read(
        _ key: Key, _ fields: inout FieldReader, in bytes: Span<UInt8>
    ) throws(Problem) {
        switch key {
        case .name: try readName(&fields, in: bytes)
        case .object:
            hasObject = true
            observer.object = try fields.name(in: bytes)
        case .selector: selector = try fields.selector(in: bytes)
        case .since:
            try beginning.read(.since, &fields, in: bytes)
            observer.since = beginning.sequence
        case .suspensionBehavior: behavior = try fields.word(in: bytes)
        case .holdLimit:
            let range = 1...max(fields.limits.greatestHoldLimit, 1)
            holdLimit = try fields.integer(in: range, of: bytes)
        case .lease: try readLease(&fields, in: bytes)
        case .acknowledge: acknowledges = try fields.boolean(in: bytes) ?? false
        case .minInterval:
            minInterval = try fields.seconds(.init(from: 0, through: 3_600), in: bytes)
        case .lifetime: try readLifetime(&fields, in: bytes)
        case .implements: implements = try fields.selectors(in: bytes)
        case .next: next = try fields.name(in: bytes)
        case .ifHeld: ifHeld = try fields.word(in: bytes)
        case .concurrency:
            concurrency = try fields.integer(in: 1...ResponderTerms.concurrencyLimit, of: bytes)
        case .target: target = try fields.name(in: bytes)
        case .keyPath: keyPath = try fields.keyPath(in: bytes)
        case .initial: initial = try fields.boolean(in: bytes)
        case .old: old = try fields.boolean(in: bytes)
        case .own: own = try fields.boolean(in: bytes)
        case .session: observer.session = try fields.string(in: bytes)
        case .names: try readFilter(.names, &fields, in: bytes)
        case .namePrefix: try readFilter(.namePrefix, &fields, in: bytes)
        case .objectPrefix: try readFilter(.objectPrefix, &fields, in: bytes)
        case .where: try readFilter(.where, &fields, in: bytes)
        case .last: try beginning.read(.last, &fields, in: bytes)
        case .lastEach: try beginning.read(.lastEach, &fields, in: bytes)
        }
    }

    private mutating func readName(
        _ fields: inout FieldReader, in bytes: Span<UInt8>
    ) throws(Problem) {
        observer.name = try fields.name(in: bytes)
        if let name = observer.name { fields.checkReserved(name) }
    }

    /// Reads a field of a finer filter; few observers have one.
    private mutating func readFilter(
        _ key: FilterFields.Key, _ fields: inout FieldReader, in bytes: Span<UInt8>
    ) throws(Problem) {
        let filter = filter ?? FilterFields()
        self.filter = filter
        try filter.read(key, &fields, in: bytes)
    }

    private mutating func readLease(
        _ fields: inout FieldReader, in bytes: Span<UInt8>
    ) throws(Problem) {
        if try fields.skipNull(in: bytes) {
            lease = .never
        } else if let nanoseconds = try fields.seconds(Self.leaseRule, in: bytes) {
            lease = .nanoseconds(nanoseconds)
        }
    }

    /// A lease has a limit too, but a greater one is lowered and not refused.
    private static let leaseRule = SecondsRule(above: 0, through: .infinity)

    private mutating func readLifetime(
        _ fields: inout FieldReader, in bytes: Span<UInt8>
    ) throws(Problem) {
        guard let lifetime = try fields.string(in: bytes) else { return }
        endsWithConnection = lifetime.elementsEqual("connection".utf8)
        if !endsWithConnection, !lifetime.elementsEqual("token".utf8) {
            fields.addFault("must be token or connection")
        }
    }

    /// Checks combinations, and puts defaults for absent fields.
    func request(allowsSession: Bool, _ fields: inout FieldReader) -> ObserverRequest {
        let isMailbox = allowsSession && observer.session == nil
        // The responder answers an action, not the observer.
        if isMailbox, acknowledges, target == nil {
            fields.addFault(
                Key.acknowledge, "must be false for a mailbox, which acknowledges by after")
        } else if acknowledges, behavior == .drop || behavior == .coalesce {
            fields.addFault(
                Key.suspensionBehavior, "must be hold or deliverImmediately to acknowledge")
        }
        if isMailbox, endsWithConnection {
            fields.addFault(
                Key.lifetime, "must be token for a mailbox, which has no connection")
        }
        var request = observer
        request.selector = selector ?? request.selector
        request.terms = terms(isMailbox: isMailbox, limits: fields.limits)
        // Both are looked at: a field of one role does not go with another role.
        let (value, responder) = (valueTerms(&fields), responderTerms(&fields))
        filter?.check(hasName: observer.name != nil, hasObject: hasObject, &fields)
        request.beginning = beginning.beginning { fields.addFault($0, $1) }
        if let value {
            filter?.refuse(with: Key.keyPath, &fields)
            request.role = .value(value)
        } else if let responder {
            filter?.refuse(with: Key.implements, &fields)
            request.role = .responder(responder)
            request.selector = []
        } else if let target {
            checkAction(&fields)
            request.role = .action(target: target)
        }
        if let terms = filter?.terms, terms.isFiner {
            request.role = .filtered(terms, target: target)
        }
        return request
    }

    /// Checks the combinations of an observer with a target; it delivers through a responder.
    private func checkAction(_ fields: inout FieldReader) {
        let hasName = observer.name != nil || filter?.terms.namesChannels == true
        let needed = [(Key.name, hasName), (.selector, selector != nil)]
        for (key, isGiven) in needed where !isGiven {
            fields.addFault(key, "is required with target")
        }
        let given = [
            (Key.suspensionBehavior, behavior != nil), (.holdLimit, holdLimit != nil),
            (.minInterval, minInterval != nil), (.since, beginning.isGiven),
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
                (Key.next, next != nil), (.ifHeld, ifHeld != nil),
                (.concurrency, concurrency != nil),
            ]
            for (key, isGiven) in given where isGiven {
                fields.addFault(key, "requires the field implements")
            }
            return nil
        }
        if !hasObject { fields.addFault(Key.object, "is required with implements") }
        let given = [
            (Key.name, observer.name != nil), (.selector, selector != nil),
            (.since, beginning.isGiven), (.target, target != nil),
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
            let given = [(Key.initial, initial != nil), (.old, old != nil), (.own, own != nil)]
            for (key, isGiven) in given where isGiven {
                fields.addFault(key, "requires the field keyPath")
            }
            return nil
        }
        if !hasObject { fields.addFault(Key.object, "is required with keyPath") }
        let given = [
            (Key.name, observer.name != nil), (.implements, implements != nil),
            (.target, target != nil),
            (.since, beginning.isGiven), (.acknowledge, acknowledges),
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
    ) throws(Problem) -> ObserverRequest? {
        var observer = ObserverFields()
        guard try beginObject(in: bytes) else { return nil }
        let table = allowsSession ? ObserverFields.table : ObserverFields.callTable
        while let key = try nextKey(of: table, in: bytes) {
            try observer.read(key, &self, in: bytes)
        }
        return observer.request(allowsSession: allowsSession, &self)
    }
}

extension ResponderTerms {
    /// The most open asks that a responder may have at once, also the default.
    static let concurrencyLimit = 1_000
}

extension ResponderTerms.IfHeld: OptionWord {
    var text: String {
        switch self {
        case .replace: "replace"
        case .refuse: "refuse"
        case .share: "share"
        }
    }

    static let detail = "must be replace, refuse or share"
}
