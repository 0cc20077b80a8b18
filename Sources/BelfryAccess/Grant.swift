public import BelfryJSON

/// The operations that a grant allows (Access.md section 1).
public struct Verbs: OptionSet, Sendable, Hashable {
    /// One bit for each verb.
    public let rawValue: UInt16

    /// Makes a set from its bits.
    public init(rawValue: UInt16) {
        self.rawValue = rawValue
    }

    /// Post notifications.
    public static let post = Verbs(rawValue: 1 << 0)
    /// Register observers.
    public static let observe = Verbs(rawValue: 1 << 1)
    /// Look inside: listings, explain, reports.
    public static let inspect = Verbs(rawValue: 1 << 2)
    /// Remove what belongs to others.
    public static let admin = Verbs(rawValue: 1 << 3)
    /// Observe every notification: a filter with neither name nor object (rule C4).
    public static let wildcard = Verbs(rawValue: 1 << 4)
    /// Post in spite of suspension.
    public static let immediate = Verbs(rawValue: 1 << 5)
    /// Register observers that posters wait for.
    public static let acknowledge = Verbs(rawValue: 1 << 6)
    /// Enter modes of a center's queue.
    public static let modes = Verbs(rawValue: 1 << 7)
    /// Register observers that outlive any absence of their client.
    public static let forever = Verbs(rawValue: 1 << 8)

    /// Register responders.
    public static let respond = Verbs(rawValue: 1 << 9)
    /// Ask responders.
    public static let ask = Verbs(rawValue: 1 << 10)
    /// Read and observe values.
    public static let read = Verbs(rawValue: 1 << 11)
    /// Write and remove values.
    public static let set = Verbs(rawValue: 1 << 12)

    /// Every verb with its name, in the order of the documentation.
    public static let names: [(name: String, verb: Verbs)] = [
        ("post", .post), ("observe", .observe), ("inspect", .inspect), ("admin", .admin),
        ("wildcard", .wildcard), ("immediate", .immediate), ("acknowledge", .acknowledge),
        ("modes", .modes), ("forever", .forever), ("respond", .respond), ("ask", .ask),
        ("read", .read), ("set", .set),
    ]

    /// All verbs.
    public static let all = Verbs(rawValue: (1 << 13) - 1)

    /// The names of the verbs, with commas between them.
    public var text: String {
        Self.names.filter { contains($0.verb) }.map(\.name).joined(separator: ", ")
    }

    /// The verbs of a grant with a condition: posting and observing, and what goes with them.
    public static let conditional: Verbs = [
        .post, .observe, .wildcard, .immediate, .acknowledge, .forever,
    ]
}

/// Verbs on some centers, names and objects.
public struct Grant: Sendable, Equatable {
    /// The verbs that are allowed.
    public var verbs: Verbs
    /// The notification names.
    public var names: [Pattern]
    /// The objects.
    public var objects: [Pattern]
    /// The centers.
    public var centers: [Pattern]
    /// The condition that a userInfo must fulfil to be posted or observed (rules W11 and W12).
    public var condition: JSONCondition?

    /// Makes a grant; by default on everything.
    public init(
        _ verbs: Verbs, names: [Pattern] = [.any], objects: [Pattern] = [.any],
        centers: [Pattern] = [.any], condition: JSONCondition? = nil
    ) {
        self.verbs = verbs
        self.names = names
        self.objects = objects
        self.centers = centers
        self.condition = condition
    }

    var isUnrestricted: Bool {
        names == [.any] && objects == [.any] && centers == [.any] && condition == nil
    }

    fileprivate func covers(center: Span<UInt8>, name: Span<UInt8>?, object: Span<UInt8>?) -> Bool {
        centers.contains(where: { $0.covers(center) }) && names.contains(where: { $0.covers(name) })
            && objects.contains(where: { $0.covers(object) })
    }
}

/// An exact text, or a prefix that is written with `*` at its end.
public struct Pattern: Sendable, Hashable {
    /// The text, without a `*`.
    public let bytes: [UInt8]
    /// Whether it covers all that begins with the text.
    public let isPrefix: Bool

    /// The pattern as it is written.
    public var text: [UInt8] { isPrefix ? bytes + [UInt8(ascii: "*")] : bytes }

    /// Covers everything, also an absent name or object.
    public static let any = Pattern("*")

    /// Reads a pattern; a `*` at the end makes it a prefix.
    public init(_ text: String) {
        isPrefix = text.utf8.last == UInt8(ascii: "*")
        bytes = isPrefix ? text.utf8.dropLast() : Array(text.utf8)
    }

    /// Whether it covers a text; only `*` covers an absent one.
    public func covers(_ text: Span<UInt8>?) -> Bool {
        guard let text else { return isPrefix && bytes.isEmpty }
        guard isPrefix ? text.count >= bytes.count : text.count == bytes.count else { return false }
        for index in bytes.indices where bytes[index] != text[index] { return false }
        return true
    }
}

/// All that one caller may do.
public struct Grants: Sendable, Equatable {
    /// The grants; one of them must cover a request alone.
    public let grants: [Grant]
    /// The verbs that are allowed on everything, which decide most requests.
    private let everywhere: Verbs
    /// Whether one of the grants has a condition.
    public let haveConditions: Bool

    /// Joins grants.
    public init(_ grants: [Grant]) {
        self.grants = grants
        everywhere = grants.filter(\.isUnrestricted).reduce(into: Verbs()) {
            $0.formUnion($1.verbs)
        }
        haveConditions = grants.contains { $0.condition != nil }
    }

    /// Allows nothing.
    public static let none = Grants([])

    /// Whether a verb is allowed on a name and an object of a center.
    ///
    /// A name or object that is absent means all of them, and needs a grant on `*`. A grant with a
    /// condition allows its verbs, too: ``conditions(of:center:name:object:)`` restricts them.
    public func allow(
        _ verb: Verbs, center: Span<UInt8>, name: Span<UInt8>?, object: Span<UInt8>?
    ) -> Bool {
        if everywhere.contains(verb) { return true }
        for grant in grants where grant.verbs.contains(verb) {
            if grant.covers(center: center, name: name, object: object) { return true }
        }
        return false
    }

    /// Whether a verb is allowed on a notification with this userInfo (rule W12).
    public func allow(
        _ verb: Verbs, center: Span<UInt8>, name: Span<UInt8>, object: Span<UInt8>?,
        userInfo: Span<UInt8>?
    ) -> Bool {
        if everywhere.contains(verb) { return true }
        for grant in grants where grant.verbs.contains(verb) {
            if grant.covers(center: center, name: name, object: object),
                grant.condition?.isTrue(in: userInfo) ?? true
            {
                return true
            }
        }
        return false
    }

    /// The conditions of the grants that allow a verb, one of which must be true (rule W11).
    ///
    /// - Returns: nothing where a grant without a condition allows the verb.
    public func conditions(
        of verb: Verbs, center: [UInt8], name: [UInt8]?, object: [UInt8]?
    ) -> [JSONCondition] {
        if !haveConditions || everywhere.contains(verb) { return [] }
        var conditions: [JSONCondition] = []
        for grant in grants where grant.verbs.contains(verb) {
            guard Grants([grant]).allow(verb, center: center, name: name, object: object) else {
                continue
            }
            guard let condition = grant.condition else { return [] }
            if !conditions.contains(condition) { conditions.append(condition) }
        }
        return conditions
    }

    /// Whether one of some verbs is allowed on a name of a center, with some object or with none.
    public func allowSome(_ verbs: Verbs, center: Span<UInt8>, name: Span<UInt8>) -> Bool {
        if !everywhere.isDisjoint(with: verbs) { return true }
        for grant in grants where !grant.verbs.isDisjoint(with: verbs) {
            if grant.centers.contains(where: { $0.covers(center) }),
                grant.names.contains(where: { $0.covers(name) })
            {
                return true
            }
        }
        return false
    }

    /// Whether one of some verbs is allowed on an object of a center, with some name.
    public func allowSome(_ verbs: Verbs, center: Span<UInt8>, object: Span<UInt8>) -> Bool {
        if !everywhere.isDisjoint(with: verbs) { return true }
        for grant in grants where !grant.verbs.isDisjoint(with: verbs) {
            if grant.centers.contains(where: { $0.covers(center) }),
                grant.objects.contains(where: { $0.covers(object) })
            {
                return true
            }
        }
        return false
    }

    /// Whether a verb is allowed on anything at all of a center.
    public func allowSome(_ verb: Verbs, center: Span<UInt8>) -> Bool {
        if everywhere.contains(verb) { return true }
        for grant in grants where grant.verbs.contains(verb) {
            if grant.centers.contains(where: { $0.covers(center) }) { return true }
        }
        return false
    }

    /// On which names and objects a verb is allowed in a center: one of them must cover both.
    public func patterns(
        of verb: Verbs, center: Span<UInt8>
    ) -> [(names: [Pattern], objects: [Pattern])] {
        var patterns: [(names: [Pattern], objects: [Pattern])] = []
        for grant in grants where grant.verbs.contains(verb) {
            if grant.centers.contains(where: { $0.covers(center) }) {
                patterns.append((grant.names, grant.objects))
            }
        }
        return patterns
    }

    /// Whether anything at all is allowed in a center.
    public func allowAny(center: Span<UInt8>) -> Bool {
        if !everywhere.isEmpty { return true }
        for grant in grants where !grant.verbs.isEmpty {
            if grant.centers.contains(where: { $0.covers(center) }) { return true }
        }
        return false
    }

    /// Whether a verb is allowed on anything of any center.
    public func allowSomewhere(_ verb: Verbs) -> Bool {
        grants.contains { $0.verbs.contains(verb) }
    }

    /// Whether nothing is allowed.
    public var isEmpty: Bool { grants.allSatisfy(\.verbs.isEmpty) }

    /// Whether a verb is allowed on everything.
    public func allowEverywhere(_ verb: Verbs) -> Bool { everywhere.contains(verb) }
}

extension Grants {
    /// Whether a verb is allowed on a name and an object of a center, given as arrays.
    public func allow(
        _ verb: Verbs, center: [UInt8], name: [UInt8]?, object: [UInt8]?
    ) -> Bool {
        switch (name, object) {
        case (nil, nil): allow(verb, center: center.span, name: nil, object: nil)
        case (let name?, nil): allow(verb, center: center.span, name: name.span, object: nil)
        case (nil, let object?): allow(verb, center: center.span, name: nil, object: object.span)
        case (let name?, let object?):
            allow(verb, center: center.span, name: name.span, object: object.span)
        }
    }
}
