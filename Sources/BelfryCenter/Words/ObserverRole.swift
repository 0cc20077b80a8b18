import BelfryJSON

/// The role of an observer.
public enum ObserverRole: Sendable, Equatable {
    /// The observer gets the notifications of its filter.
    case plain
    /// The observer holds the address that its object names, and answers the asks there.
    indirect case responder(ResponderTerms)
    /// The notifications go to the holder of an address, as calls of the observer's selector.
    indirect case action(target: [UInt8])
    /// The observer gets the changes at a place of the value of its object, and no notifications.
    indirect case value(ValueTerms)
    /// The observer gets the notifications that its terms let pass, or an action for each of them.
    indirect case filtered(FilterTerms, target: [UInt8]?)

    /// The terms of an observer of a value; nil for any other role.
    public var value: ValueTerms? {
        if case .value(let terms) = self { terms } else { nil }
    }

    /// The terms of a responder; nil for any other role.
    public var responder: ResponderTerms? {
        if case .responder(let terms) = self { terms } else { nil }
    }

    /// The address that its deliveries go to; nil for a role without a target.
    public var target: [UInt8]? {
        switch self {
        case .action(let target): target
        case .filtered(_, let target): target
        case .plain, .responder, .value: nil
        }
    }

    /// The terms of a finer filter; nil for an observer without them.
    public var filter: FilterTerms? {
        if case .filtered(let terms, _) = self { terms } else { nil }
    }

    /// The bytes of its texts, about.
    public var byteCount: Int {
        switch self {
        case .plain: 0
        case .responder(let terms):
            terms.implements.reduce(16 + (terms.next?.count ?? 0)) { $0 + $1.count + 2 }
        case .action(let target): target.count
        case .value(let terms): 16 + terms.pathText.count
        case .filtered(let terms, let target): terms.byteCount + (target?.count ?? 0)
        }
    }

    /// Whether it only gets the notifications of its name and object.
    @inline(__always)
    var isPlain: Bool {
        if case .plain = self { true } else { false }
    }

    /// Whether it has a finer filter.
    @inline(__always)
    var isFiltered: Bool {
        if case .filtered = self { true } else { false }
    }

    /// Whether its client simply gets what it matches: nothing else is to be done for a delivery.
    @inline(__always)
    var deliversAtOnce: Bool {
        switch self {
        case .plain, .filtered(_, target: nil): true
        case .responder, .action, .value, .filtered: false
        }
    }
}

extension ObserverRole: Footprinted {
    /// The blocks of a role that is not plain: its own, and the texts that only it has.
    var footprint: Int {
        switch self {
        case .plain: 0
        case .responder(let terms):
            Footprint.array(of: 1, stride: MemoryLayout<ResponderTerms>.stride)
                + Footprint.array(of: terms.implements.count, stride: MemoryLayout<[UInt8]>.stride)
                + terms.implements.reduce(terms.next?.footprint ?? 0) { $0 + $1.footprint }
        case .action(let target):
            Footprint.array(of: 1, stride: MemoryLayout<[UInt8]>.stride) + target.footprint
        case .value(let terms):
            // The keys of the path are those of the nodes that lead to its place.
            Footprint.array(of: 1, stride: MemoryLayout<ValueTerms>.stride)
                + Footprint.array(of: terms.path.keys.count, stride: MemoryLayout<[UInt8]>.stride)
        case .filtered(let terms, let target): terms.footprint + (target?.footprint ?? 0)
        }
    }
}
