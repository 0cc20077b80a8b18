/// A walk over all stored properties of a value, however deep they are.
///
/// It goes by `Mirror`, so no list of properties exists that could lack one. The properties that do
/// not count are in ``treatments``, each with its reason. Dictionaries and sets have no order.
package struct StateWalk {
    /// How the walk treats a property that two equal states may have differently.
    package enum Treatment: Equatable, Sendable {
        /// It is not walked, for a reason.
        case leftOut(String)
        /// It is a circle with room to spare, of which the elements from start to end count.
        case circle
        /// It has the ends of intervals, of which only those behind ``clock`` count.
        case running
    }

    /// The properties, as `Type.property`, that are not walked as they are.
    package static let treatments: [String: Treatment] = {
        let byReason = [
            "It is a secret of the process, or a place that follows from it.": [
                "KeyTable.seed", "KeyTable.hashes", "KeyTable.buckets", "PositionTable.seed",
                "PositionTable.buckets", "Shard.seed", "ObservedKind.textHash",
            ],
            "It remembers a question, not a fact.": ["KeyTable.recent"],
            "It measures memory, which a restored state counts anew.": [
                "CountedTable.blockByteCount", "Value.counted", "ValueTable.valueByteCount",
                "ValueTrie.nodeByteCount",
            ],
            "It counts for this process alone (decision 97).": [
                "Backlog.losses", "CenterMemory.kept", "CenterMemory.measure", "OwnedMemory.growth",
                "Shard.ended",
            ],
            "It is for archives, and for beginnings at a time, which no log has.": [
                "Channel.lastSequence", "ChannelTable.forgotten", "ReplayRing.forgottenAt",
                "History.restoredAt", "NotificationCenter.archiveBox",
            ],
            "It lives only while a command is applied (decision 97).": [
                "NotificationCenter.dispatching", "NotificationQueue.journal",
            ],
            "It follows from the filters of observers, and numbers prefixes as they came.": [
                "ObserverIndex.finer", "ChannelWatch.names",
            ],
            "It is a lower bound, which a restored shard finds anew.": ["ShardLog.dueAt"],
            "It has intervals that are over, which are forgotten over time.": ["PaceTable.order"],
            "It has used tickets, which a snapshot lacks; `tickets` has the others.": [
                "TicketTable.order", "Share.order",
            ],
        ]
        var treatments: [String: Treatment] = [
            "Ring.storage": .circle, "PaceTable.ends": .running,
        ]
        for (reason, names) in byReason {
            for name in names { treatments[name] = .leftOut(reason) }
        }
        return treatments
    }()

    /// The property of a center that has its time, in nanoseconds.
    private static let clock = "NotificationCenter.lastTime"

    /// The number that all parts so far make.
    fileprivate var digest = Mix()
    /// The parts by their paths; nil where only the digest is wanted.
    fileprivate var parts: [String: String]?
    /// The names of ``treatments`` that the walk has met.
    package private(set) var treated: Set<String> = []
    private var path: [String] = []
    private var plans: [ObjectIdentifier: Plan] = [:]
    private var now: Int64?
    private var isRunningOnly = false

    /// Walks over a value.
    ///
    /// - Parameter keepsParts: whether the walk keeps the text and the path of each part.
    package init(_ value: Any, keepsParts: Bool = false) {
        parts = keepsParts ? [:] : nil
        walk(value)
    }

    private mutating func walk(_ value: Any) {
        let type = ObjectIdentifier(Swift.type(of: value))
        if let leaf = leaves[type] {
            leaf(value, &digest)
            note("\(value)")
            return
        }
        let mirror = Mirror(reflecting: value)
        precondition(mirror.superclassMirror == nil, "a class with a superclass: \(value)")
        switch mirror.displayStyle {
        case .dictionary, .set: walkUnordered(mirror)
        case .collection: walkList(mirror.children.map(\.value))
        case .optional, .enum: walkCase(value, mirror)
        case .struct, .class, .tuple: walkProperties(of: value, mirror, type)
        default:
            // A range has a mirror of its own kind.
            precondition(!mirror.children.isEmpty, "\(Swift.type(of: value)) shows no parts")
            walkProperties(of: value, mirror, type)
        }
    }

    // MARK: Parts

    private mutating func walk(_ value: Any, at step: @autoclosure () -> String) {
        if parts != nil { path.append(step()) }
        walk(value)
        if parts != nil { path.removeLast() }
    }

    private mutating func note(_ text: @autoclosure () -> String) {
        if parts != nil { parts?[path.joined()] = text() }
    }

    private mutating func walkList(_ elements: [Any]) {
        digest.add(UInt64(elements.count))
        note("\(elements.count) parts")
        for (place, element) in elements.enumerated() { walk(element, at: "[\(place)]") }
    }

    /// Walks over a dictionary or a set: the digests of the entries are added up.
    private mutating func walkUnordered(_ mirror: Mirror) {
        let (outer, isRunningOnly) = (digest, isRunningOnly)
        self.isRunningOnly = false
        var (sum, count): (UInt64, UInt64) = (0, 0)
        for child in mirror.children {
            var key = child.value
            if mirror.displayStyle == .dictionary {
                let entry = Array(Mirror(reflecting: child.value).children.map(\.value))
                // An empty list says as much as none.
                if Self.isEmpty(entry[1]) { continue }
                if isRunningOnly, let now, let end = entry[1] as? Int64, end <= now { continue }
                key = entry[0]
            }
            digest = Mix()
            walk(child.value, at: "[\(key)]")
            sum &+= digest.word
            count += 1
        }
        digest = outer
        digest.add(count)
        digest.add(sum)
        note("\(count) parts")
    }

    private static func isEmpty(_ value: Any) -> Bool {
        let mirror = Mirror(reflecting: value)
        return mirror.displayStyle == .collection && mirror.children.isEmpty
    }

    private mutating func walkCase(_ value: Any, _ mirror: Mirror) {
        guard let content = mirror.children.first else {
            let name = mirror.displayStyle == .optional ? "nil" : "\(value)"
            digest.add(name)
            return note(name)
        }
        let name = content.label ?? ""
        digest.add(name)
        walk(content.value, at: mirror.displayStyle == .optional ? "" : ".\(name)")
    }

    // MARK: Properties

    /// How the properties of a type are walked, in their order.
    private struct Plan {
        var treatments: [(name: String, treatment: Treatment?)] = []
        var clock: Int?
        var isInline = false
    }

    private mutating func walkProperties(
        of value: Any, _ mirror: Mirror, _ type: ObjectIdentifier
    ) {
        let properties = Array(mirror.children)
        let plan = plan(for: value, type, properties)
        if plan.isInline {
            return walkList(
                (value as? any SIMD)?.elements ?? (value as? any InlineElements)?.elements ?? [])
        }
        let outerNow = now
        if let clock = plan.clock { now = properties[clock].value as? Int64 }
        digest.add(UInt64(properties.count))
        note("\(properties.count) properties")
        for (property, (name, treatment)) in zip(properties, plan.treatments) {
            if treatment != nil { treated.insert(name) }
            switch treatment {
            case nil: walk(property.value, at: ".\(property.label ?? "")")
            case .leftOut: continue
            case .circle: walkCircle(properties, at: property)
            case .running:
                isRunningOnly = true
                walk(property.value, at: ".\(property.label ?? "")")
                isRunningOnly = false
            }
        }
        now = outerNow
    }

    private mutating func plan(
        for value: Any, _ type: ObjectIdentifier, _ properties: [Mirror.Child]
    ) -> Plan {
        if let plan = plans[type] { return plan }
        // A generic type has one row for all its kinds.
        let typeName = "\(Swift.type(of: value))".prefix { $0 != "<" }
        var plan = Plan(isInline: value is any SIMD || value is any InlineElements)
        for (place, property) in properties.enumerated() {
            let name = "\(typeName).\(property.label ?? "")"
            plan.treatments.append((name, Self.treatments[name]))
            if name == Self.clock { plan.clock = place }
        }
        plans[type] = plan
        return plan
    }

    /// Walks over the elements of a ring, the first one first.
    private mutating func walkCircle(_ properties: [Mirror.Child], at storage: Mirror.Child) {
        let places = Array(Mirror(reflecting: storage.value).children.map(\.value))
        func position(_ name: String) -> UInt64 {
            guard let found = properties.first(where: { $0.label == name })?.value as? UInt64
            else { preconditionFailure("a ring has its \(name)") }
            return found
        }
        let positions = position("startPosition")..<position("endPosition")
        walkList(positions.map { places[Int($0 % UInt64(places.count))] })
    }
}

/// A list of a fixed length, of which a mirror shows no elements.
private protocol InlineElements {
    var elements: [Any] { get }
}

extension InlineArray: InlineElements where Element: Copyable {
    fileprivate var elements: [Any] { indices.map { self[$0] } }
}

extension SIMD {
    fileprivate var elements: [Any] { indices.map { self[$0] } }
}

/// A number that mixes words.
private struct Mix {
    private(set) var word: UInt64 = 0xcbf2_9ce4_8422_2325

    mutating func add(_ other: UInt64) {
        word = (word ^ other) &* 0x9e37_79b9_7f4a_7c15
        word ^= word >> 29
    }

    mutating func add(_ text: String) {
        add(UInt64(text.utf8.count))
        for byte in text.utf8 { add(UInt64(byte)) }
    }
}

/// The types that are walked as a whole: numbers, texts, and lists of numbers.
private let leaves: [ObjectIdentifier: @Sendable (Any, inout Mix) -> Void] = {
    var leaves: [ObjectIdentifier: @Sendable (Any, inout Mix) -> Void] = [:]
    func add<Number: FixedWidthInteger & SendableMetatype>(_ type: Number.Type) {
        leaves[ObjectIdentifier(type)] = { value, mix in
            if let number = value as? Number { mix.add(UInt64(truncatingIfNeeded: number)) }
        }
        leaves[ObjectIdentifier([Number].self)] = { value, mix in
            guard let numbers = value as? [Number] else { return }
            mix.add(UInt64(numbers.count))
            for number in numbers { mix.add(UInt64(truncatingIfNeeded: number)) }
        }
    }
    add(Int.self)
    add(Int8.self)
    add(Int16.self)
    add(Int32.self)
    add(Int64.self)
    add(UInt.self)
    add(UInt8.self)
    add(UInt16.self)
    add(UInt32.self)
    add(UInt64.self)
    leaves[ObjectIdentifier(Bool.self)] = { value, mix in mix.add(value as? Bool == true ? 1 : 0) }
    leaves[ObjectIdentifier(Double.self)] = { value, mix in
        if let number = value as? Double { mix.add(number.bitPattern) }
    }
    leaves[ObjectIdentifier(String.self)] = { value, mix in
        if let text = value as? String { mix.add(text) }
    }
    return leaves
}()

/// A number that is equal for two equal states, in every process of one program.
///
/// - Complexity: Linear in the whole state, at about a microsecond for each number of it.
package func stateDigest(of state: Any) -> UInt64 {
    StateWalk(state).digest.word
}

/// The first place where two values differ, of which mostly the digests are made alone.
package func firstDifference(_ left: Any, _ right: Any) -> String? {
    if stateDigest(of: left) == stateDigest(of: right) { return nil }
    return differences(left, right).first ?? "the order or the kinds of its parts"
}

/// The places where two values differ, as the paths of their properties.
package func differences(_ left: Any, _ right: Any) -> [String] {
    let ours = StateWalk(left, keepsParts: true).parts ?? [:]
    let others = StateWalk(right, keepsParts: true).parts ?? [:]
    return Set(ours.keys).union(others.keys).sorted().compactMap { path in
        ours[path] == others[path]
            ? nil : "\(path): \(ours[path] ?? "none"), \(others[path] ?? "none")"
    }
}
