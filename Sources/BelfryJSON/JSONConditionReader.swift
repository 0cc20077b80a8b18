import BelfryBytes

/// Compiles the text of a condition.
struct JSONConditionReader {
    /// The names that an object of operators has.
    private enum Operator: String, CaseIterable {
        case above
        case atLeast
        case below
        case atMost
        case prefix
        case suffix
        case contains
        case exists
        case not
    }

    private static let operators = JSONKeyTable(Operator.allCases)

    private typealias Tests = [JSONConditionPlan.Test]

    private var reader = JSONReader()
    private var plan = JSONConditionPlan()
    private var conditionCount = 0

    private init() {}

    /// Compiles a text without outer blanks.
    static func plan(of text: Span<UInt8>) throws(JSONConditionError) -> JSONConditionPlan {
        guard text.count <= JSONCondition.byteLimit else {
            throw JSONConditionError("", "a where has at most \(JSONCondition.byteLimit) bytes")
        }
        do throws(JSONError) {
            _ = try JSONScanner.validate(text)
        } catch {
            throw JSONConditionError("", "a where is JSON, nested at most 64 deep")
        }
        var reader = JSONConditionReader()
        try reader.readWhole(in: text)
        return reader.plan
    }

    private mutating func readWhole(in text: Span<UInt8>) throws(JSONConditionError) {
        let kind = kind(in: text)
        if kind == .object { return try readAlternative(at: "", in: text) }
        guard kind == .array else {
            throw JSONConditionError(
                "", "a where is an object of conditions, or an array of such objects")
        }
        beginArray(in: text)
        var count = 0
        while nextElement(in: text) {
            guard count < JSONCondition.alternativeLimit else {
                throw JSONConditionError(
                    "", "a where has at most \(JSONCondition.alternativeLimit) alternatives")
            }
            guard self.kind(in: text) == .object else {
                throw JSONConditionError("/\(count)", "an alternative is an object of conditions")
            }
            try readAlternative(at: "/\(count)", in: text)
            count += 1
        }
        if count == 0 {
            throw JSONConditionError(
                "", "an array without alternatives is never true; name one, or leave the where out")
        }
    }

    private mutating func readAlternative(
        at pointer: String, in text: Span<UInt8>
    ) throws(JSONConditionError) {
        beginObject(in: text)
        let firstTerm = plan.terms.count
        var paths: [[UInt8]] = []
        while let key = try nextKey(of: pointer, in: text) {
            let place = Self.pointer(pointer, key)
            guard !paths.contains(key) else {
                throw JSONConditionError(
                    place, "the key path comes twice; put its operators into one object")
            }
            paths.append(key)
            try readTerm(of: key, at: place, in: text)
        }
        if paths.isEmpty {
            throw JSONConditionError(
                pointer, "an object without conditions is always true; name one, or leave it out")
        }
        plan.endAlternative(from: firstTerm)
    }

    private mutating func readTerm(
        of key: [UInt8], at pointer: String, in text: Span<UInt8>
    ) throws(JSONConditionError) {
        let keys = try append(path: key, at: pointer)
        var (tests, denied): (Tests, Tests) = ([], [])
        if kind(in: text) == .object {
            (tests, denied) = try readOperators(at: pointer, in: text, isInNot: false)
        } else {
            try count(at: pointer)
            tests = [try readEqual(at: pointer, in: text)]
        }
        let start = plan.tests.count
        plan.tests += tests + denied
        plan.terms.append(
            JSONConditionPlan.Term(
                keys: keys, tests: start..<plan.tests.count, firstDenied: start + tests.count))
    }

    /// Appends the keys of a path, and returns their numbers.
    private mutating func append(
        path text: [UInt8], at pointer: String
    ) throws(JSONConditionError) -> Range<Int> {
        let path: DocumentPath
        do throws(DocumentPathError) {
            path = try DocumentPath.parse(text.span)
            guard !path.isWhole else { throw .emptyKey(at: 0) }
        } catch {
            throw JSONConditionError(pointer, error)
        }
        let first = plan.keys.count
        for key in path.keys {
            let start = plan.bytes.count
            plan.bytes += key
            plan.keys.append(JSONMembers.Key(start..<plan.bytes.count, in: plan.bytes.span))
        }
        return first..<plan.keys.count
    }

    /// Counts one more condition.
    private mutating func count(at pointer: String) throws(JSONConditionError) {
        guard conditionCount < JSONCondition.conditionLimit else {
            throw JSONConditionError(
                pointer, "a where has at most \(JSONCondition.conditionLimit) conditions")
        }
        conditionCount += 1
    }

    // MARK: Operators

    /// Reads an object of operators: the tests that must hold, and those of its `not`.
    private mutating func readOperators(
        at pointer: String, in text: Span<UInt8>, isInNot: Bool
    ) throws(JSONConditionError) -> (tests: Tests, denied: Tests) {
        beginObject(in: text)
        var (tests, denied): (Tests, Tests) = ([], [])
        var found = JSONKeySet()
        while let key = try nextKey(of: pointer, in: text) {
            let place = Self.pointer(pointer, key)
            guard let ordinal = Self.operators.ordinal(of: key) else {
                let names = Operator.allCases.map(\.rawValue).joined(separator: ", ")
                let name = String(decoding: key, as: UTF8.self)
                throw JSONConditionError(place, "unknown operator \"\(name)\"; use one of \(names)")
            }
            guard found.insert(ordinal) else {
                throw JSONConditionError(place, "the operator comes twice; leave one of them out")
            }
            try count(at: place)
            switch Self.operators[ordinal] {
            case .above: tests.append(try readTest(.above, of: .number, at: place, in: text))
            case .atLeast: tests.append(try readTest(.atLeast, of: .number, at: place, in: text))
            case .below: tests.append(try readTest(.below, of: .number, at: place, in: text))
            case .atMost: tests.append(try readTest(.atMost, of: .number, at: place, in: text))
            case .prefix: tests.append(try readTest(.prefix, of: .string, at: place, in: text))
            case .suffix: tests.append(try readTest(.suffix, of: .string, at: place, in: text))
            case .contains: tests.append(try readContains(at: place, in: text))
            case .exists: tests.append(try readExists(at: place, in: text))
            case .not where isInNot:
                throw JSONConditionError(place, "a not has no other one in it; leave both out")
            case .not where kind(in: text) == .object:
                denied = try readOperators(at: place, in: text, isInNot: true).tests
            case .not: denied = [try readEqual(at: place, in: text)]
            }
        }
        guard found != JSONKeySet() else {
            throw JSONConditionError(
                pointer, "an object has operators: one at least, like {\"exists\":true}")
        }
        return (tests, denied)
    }

    /// Reads a scalar, or an array of them, to one of which a value is equal.
    private mutating func readEqual(
        at pointer: String, in text: Span<UInt8>
    ) throws(JSONConditionError) -> JSONConditionPlan.Test {
        let first = plan.operands.count
        guard kind(in: text) == .array else {
            try readOperand(at: pointer, in: text)
            return JSONConditionPlan.Test(.equal, first..<plan.operands.count)
        }
        beginArray(in: text)
        while nextElement(in: text) {
            let count = plan.operands.count - first
            guard count < JSONCondition.valueLimit else {
                throw JSONConditionError(
                    pointer, "an array has at most \(JSONCondition.valueLimit) values")
            }
            try readOperand(at: "\(pointer)/\(count)", in: text)
        }
        guard plan.operands.count > first else {
            throw JSONConditionError(pointer, "no value is one of none; name one at least")
        }
        return JSONConditionPlan.Test(.equal, first..<plan.operands.count)
    }

    private mutating func readTest(
        _ relation: JSONConditionPlan.Relation, of kind: JSONKind, at pointer: String,
        in text: Span<UInt8>
    ) throws(JSONConditionError) -> JSONConditionPlan.Test {
        guard self.kind(in: text) == kind else {
            let wanted = kind == .number ? "a number" : "a string"
            throw JSONConditionError(pointer, "the operator \(relation.rawValue) takes \(wanted)")
        }
        let first = plan.operands.count
        try readOperand(at: pointer, in: text)
        return JSONConditionPlan.Test(relation, first..<first + 1)
    }

    private mutating func readContains(
        at pointer: String, in text: Span<UInt8>
    ) throws(JSONConditionError) -> JSONConditionPlan.Test {
        if kind(in: text) == .null {
            throw JSONConditionError(pointer, "the operator contains takes no null")
        }
        let (first, fallbackStart) = (plan.operands.count, plan.fallbacks.count)
        try readOperand(at: pointer, in: text)
        if plan.operands[first].kind == .string {
            let fallbacks = plan.fallbacks(of: plan.operands[first].range)
            plan.fallbacks += fallbacks
        }
        return JSONConditionPlan.Test(.contains, first..<first + 1, fallbackStart: fallbackStart)
    }

    private mutating func readExists(
        at pointer: String, in text: Span<UInt8>
    ) throws(JSONConditionError) -> JSONConditionPlan.Test {
        guard kind(in: text) == .boolean, let exists = try? reader.readBool(in: text) else {
            throw JSONConditionError(pointer, "the operator exists takes true or false")
        }
        return JSONConditionPlan.Test(exists ? .present : .absent, 0..<0)
    }

    /// Reads a scalar, and appends it to the operands.
    private mutating func readOperand(
        at pointer: String, in text: Span<UInt8>
    ) throws(JSONConditionError) {
        let start = plan.bytes.count
        let kind = kind(in: text)
        if kind == .string {
            do throws(JSONError) {
                try reader.readString(in: text, into: &plan.bytes)
            } catch {
                throw JSONConditionError(
                    pointer, "a string has half a surrogate pair, which is no text")
            }
            let range = start..<plan.bytes.count
            return plan.operands.append(JSONScalar(string: range, in: plan.bytes.span))
        }
        guard kind != .array, kind != .object, let range = try? reader.skipValue(in: text) else {
            throw JSONConditionError(
                pointer, "the value is a string, a number, true, false or null here")
        }
        let value = JSONScalar(at: range.lowerBound, in: text)
        guard value.kind != .other else {
            let limit = JSONScalar.exponentDigitLimit
            throw JSONConditionError(pointer, "an exponent has at most \(limit) digits")
        }
        plan.bytes.append(text.extracting(range))
        plan.operands.append(value.moved(by: start - range.lowerBound))
    }
}

// The steps over a text that has been validated: an error is half a surrogate pair in a key.
extension JSONConditionReader {
    private mutating func kind(in text: Span<UInt8>) -> JSONKind? {
        try? reader.peekKind(in: text)
    }

    private mutating func beginObject(in text: Span<UInt8>) {
        try? reader.beginObject(in: text)
    }

    private mutating func beginArray(in text: Span<UInt8>) {
        try? reader.beginArray(in: text)
    }

    private mutating func nextElement(in text: Span<UInt8>) -> Bool {
        (try? reader.nextElement(in: text)) ?? false
    }

    /// The next key of an object, unescaped; nil at its end.
    private mutating func nextKey(
        of pointer: String, in text: Span<UInt8>
    ) throws(JSONConditionError) -> [UInt8]? {
        do throws(JSONError) {
            return try reader.nextMember(in: text) ? reader.key : nil
        } catch {
            throw JSONConditionError(pointer, "a key has half a surrogate pair, which is no text")
        }
    }

    /// The pointer to a member of the object that another one points to (RFC 6901 §3).
    private static func pointer(_ pointer: String, _ key: [UInt8]) -> String {
        var bytes = [UInt8](pointer.utf8) + [.slash]
        for byte in key {
            switch byte {
            case UInt8(ascii: "~"): bytes += [byte, .zero]
            case .slash: bytes += [UInt8(ascii: "~"), .zero + 1]
            default: bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
