import BelfryJSON

/// What an observer is for.
public enum ObserverRole: Sendable, Equatable {
    /// It observes notifications of its filter, and nothing more.
    case plain
    /// It holds the address that its object names, and answers what is asked there.
    indirect case responder(ResponderTerms)
    /// What it observes goes to whoever holds an address, which calls its selector there.
    indirect case action(target: [UInt8])
    /// It observes a place of the value of its object, and no notifications.
    indirect case value(ValueTerms)

    /// What makes it an observer of a value, if it is one.
    public var value: ValueTerms? {
        if case .value(let terms) = self { terms } else { nil }
    }

    /// What makes it a responder, if it is one.
    public var responder: ResponderTerms? {
        if case .responder(let terms) = self { terms } else { nil }
    }

    /// The address that its deliveries go to, if they go to one.
    public var target: [UInt8]? {
        if case .action(let target) = self { target } else { nil }
    }

    /// About the bytes of its texts.
    public var byteCount: Int {
        switch self {
        case .plain: 0
        case .responder(let terms):
            terms.implements.reduce(16 + (terms.next?.count ?? 0)) { $0 + $1.count + 2 }
        case .action(let target): target.count
        case .value(let terms): 16 + terms.pathText.count
        }
    }

    /// Whether it observes notifications of its filter, and nothing more.
    @inline(__always)
    var isPlain: Bool {
        if case .plain = self { true } else { false }
    }
}

extension ObserverRole: Footprinted {
    /// The blocks that it has: itself, unless it is plain, and the texts that only it has.
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
        }
    }
}
