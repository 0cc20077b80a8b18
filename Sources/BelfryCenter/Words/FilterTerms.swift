import BelfryBytes
public import BelfryJSON

/// The terms by which an observer gets less than its name and its object say (rules P1, P9, W1).
public struct FilterTerms: Sendable, Equatable {
    /// The names of which one must match; empty for a filter without a set of names.
    public var names: [[UInt8]] = []
    /// The text that the name must begin with.
    public var namePrefix: [UInt8]?
    /// The text that the object must begin with.
    public var objectPrefix: [UInt8]?
    /// The condition that the userInfo must fulfil.
    public var condition: JSONCondition?
    /// The conditions of the grants under which the observer was registered (rule W11).
    public var grants: [GrantCondition] = []

    /// The bytes of `belfry.`, which the prefix of a reserved channel has at least (rule P4).
    static let reservedByteCount = 7

    /// Makes terms that let everything pass.
    public init() {}

    /// Whether a set of names, a prefix or a condition is given.
    public var isFiner: Bool {
        !names.isEmpty || namePrefix != nil || objectPrefix != nil || condition != nil
            || !grants.isEmpty
    }

    /// Whether they have names or a prefix of names in the place of a name.
    public var namesChannels: Bool { !names.isEmpty || namePrefix != nil }

    /// Whether the userInfo decides, too.
    public var hasCondition: Bool { condition != nil || !grants.isEmpty }

    /// The texts of which a search finds a part.
    var texts: [[UInt8]?] { names + [namePrefix, objectPrefix] }

    /// Whether the terms of an observer have all that these have (rules O3 and P6).
    ///
    /// A set of names is equal whatever its order.
    func isPart(of terms: FilterTerms?) -> Bool {
        guard let terms else { return false }
        return (names.isEmpty || Set(names) == Set(terms.names))
            && (namePrefix == nil || namePrefix == terms.namePrefix)
            && (objectPrefix == nil || objectPrefix == terms.objectPrefix)
            && (condition == nil || condition == terms.condition)
    }

    /// The terms without the condition of the userInfo.
    var withoutCondition: FilterTerms {
        var terms = self
        (terms.condition, terms.grants) = (nil, [])
        return terms
    }

    /// The alternatives that the grants of the observer demand for a name; empty for none.
    func alternatives(for name: Span<UInt8>) -> [JSONCondition] {
        for grant in grants where grant.covers(name) { return grant.alternatives }  // Bound: few
        return []
    }

    /// The bytes of its texts, about.
    public var byteCount: Int {
        names.reduce(32) { $0 + $1.count + 2 } + (namePrefix?.count ?? 0)
            + (objectPrefix?.count ?? 0) + (condition?.text.count ?? 0)
            + grants.reduce(0) { $0 + $1.byteCount }
    }
}

/// The conditions of grants, of which a notification must fulfil one (rule W11).
public struct GrantCondition: Sendable, Equatable {
    /// The names of the registration for which the conditions hold; empty for all.
    public var names: [[UInt8]]
    /// The conditions, of which one must be true.
    public var alternatives: [JSONCondition]

    /// Joins the parts.
    public init(names: [[UInt8]] = [], alternatives: [JSONCondition]) {
        self.names = names
        self.alternatives = alternatives
    }

    func covers(_ name: Span<UInt8>) -> Bool {
        names.isEmpty || names.contains { bytesAreEqual($0.span, name) }
    }

    fileprivate var byteCount: Int {
        names.reduce(0) { $0 + $1.count } + alternatives.reduce(0) { $0 + $1.text.count }
    }
}

extension FilterTerms: Footprinted {
    /// The blocks of the terms; the index has those of the conditions, which observers share.
    var footprint: Int {
        Footprint.array(of: 1, stride: MemoryLayout<FilterTerms>.stride)
            + Footprint.array(of: names.count, stride: MemoryLayout<[UInt8]>.stride)
            + names.reduce(0) { $0 + $1.footprint } + (namePrefix?.footprint ?? 0)
            + (objectPrefix?.footprint ?? 0)
            + Footprint.array(of: grants.count, stride: MemoryLayout<GrantCondition>.stride)
            + grants.reduce(0) { sum, grant in
                sum
                    + Footprint.array(
                        of: grant.names.count, stride: MemoryLayout<[UInt8]>.stride)
                    + grant.names.reduce(0) { $0 + $1.footprint }
                    + Footprint.array(
                        of: grant.alternatives.count, stride: MemoryLayout<JSONCondition>.stride)
            }
    }
}
