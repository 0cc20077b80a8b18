import BelfryJSON

/// Reads a file of keys, and keeps the place of each value for its faults.
struct AccessFileReader {
    let json: [UInt8]
    private var reader = JSONReader()

    init(_ json: [UInt8]) {
        self.json = json
    }

    /// Visits the members of an object; each one is read or skipped by the body.
    mutating func object(
        _ place: JSONPointer,
        member: (
            _ key: String, _ place: JSONPointer, _ reader: inout AccessFileReader
        ) throws(AccessError) -> Void
    ) throws(AccessError) {
        try read(place) { reader, span throws(JSONError) in try reader.beginObject(in: span) }
        var keys: Set<[UInt8]> = []
        while try read(
            place, { reader, span throws(JSONError) in try reader.nextMember(in: span) })
        {
            let key = reader.key
            let inner = place.appending(key: key)
            guard keys.insert(key).inserted else { throw fault(inner, "is repeated") }
            try member(String(decoding: key, as: UTF8.self), inner, &self)
        }
    }

    /// Visits the elements of an array; each one is read or skipped by the body.
    mutating func array(
        _ place: JSONPointer, limit: Int,
        element: (
            _ place: JSONPointer, _ reader: inout AccessFileReader
        ) throws(AccessError) -> Void
    ) throws(AccessError) {
        try read(place) { reader, span throws(JSONError) in try reader.beginArray(in: span) }
        var index = 0
        while try read(
            place, { reader, span throws(JSONError) in try reader.nextElement(in: span) })
        {
            guard index < limit else { throw fault(place, "has more than \(limit) elements") }
            try element(place.appending(index: index), &self)
            index += 1
        }
    }

    mutating func bytes(_ place: JSONPointer) throws(AccessError) -> [UInt8] {
        try read(place) { reader, span throws(JSONError) in try reader.readString(in: span) }
    }

    mutating func text(_ place: JSONPointer) throws(AccessError) -> String {
        String(decoding: try bytes(place), as: UTF8.self)
    }

    /// A number in seconds, as milliseconds.
    mutating func milliseconds(_ place: JSONPointer) throws(AccessError) -> Int64 {
        let seconds = try read(place) { reader, span throws(JSONError) in
            try reader.readDouble(in: span)
        }
        guard seconds.magnitude < 1e12 else { throw fault(place, "is not a time") }
        return Int64(seconds * 1_000)
    }

    mutating func kind(_ place: JSONPointer) throws(AccessError) -> JSONKind {
        try read(place) { reader, span throws(JSONError) in try reader.peekKind(in: span) }
    }

    /// Reads a condition of a grant.
    mutating func condition(_ place: JSONPointer) throws(AccessError) -> JSONCondition {
        let range = try read(place) { reader, span throws(JSONError) in
            try reader.skipValue(in: span)
        }
        do throws(JSONConditionError) {
            return try JSONCondition(json.span.extracting(range))
        } catch {
            throw fault(place.appending(error.pointer), error.message)
        }
    }

    mutating func skip(_ place: JSONPointer) throws(AccessError) {
        _ = try read(place) { reader, span throws(JSONError) in try reader.skipValue(in: span) }
    }

    /// Checks that nothing follows.
    mutating func finish() throws(AccessError) {
        try read(.root) { reader, span throws(JSONError) in try reader.finish(in: span) }
    }

    /// A fault of the value that was read last.
    func fault(_ place: JSONPointer, _ reason: String) -> AccessError {
        .invalid(place, at: max(0, reader.index - 1), in: json, reason)
    }

    private mutating func read<Result>(
        _ place: JSONPointer,
        _ body: (inout JSONReader, Span<UInt8>) throws(JSONError) -> Result
    ) throws(AccessError) -> Result {
        let json = json
        do throws(JSONError) {
            return try body(&reader, json.span)
        } catch {
            throw AccessError(error, in: json, at: place)
        }
    }
}

extension Grants {
    /// How many grants one caller may have, and how many patterns each list of one.
    static let countLimit = 1_000
    /// The number of grants of one caller that may have a condition.
    public static let conditionLimit = 32

    /// Reads `[{"verbs":["post"],"names":["Mail*"],"objects":["user:42"],"centers":["default"]}]`.
    ///
    /// Absent lists are `*`.
    static func read(
        _ place: JSONPointer, _ reader: inout AccessFileReader, isToken: Bool = false
    ) throws(AccessError) -> Grants {
        var grants: [Grant] = []
        try reader.array(place, limit: countLimit) { place, reader throws(AccessError) in
            grants.append(try grant(place, &reader, isToken: isToken))
            guard grants.count(where: { $0.condition != nil }) <= conditionLimit else {
                throw reader.fault(place, "is one more than \(conditionLimit) grants with `where`")
            }
        }
        return Grants(grants)
    }

    /// Reads a grant; in a token one that cannot have its condition allows nothing (rule W11).
    private static func grant(
        _ place: JSONPointer, _ reader: inout AccessFileReader, isToken: Bool
    ) throws(AccessError) -> Grant {
        var grant = Grant([])
        try reader.object(place) { key, place, reader throws(AccessError) in
            switch key {
            case "verbs":
                try reader.array(place, limit: countLimit) { place, reader throws(AccessError) in
                    let name = try reader.bytes(place)
                    let row = Verbs.names.first { $0.name.utf8.elementsEqual(name) }
                    guard let row else { throw reader.fault(place, "is not a verb") }
                    grant.verbs.formUnion(row.verb)
                }
            case "names": grant.names = try patterns(place, &reader)
            case "objects": grant.objects = try patterns(place, &reader)
            case "centers": grant.centers = try patterns(place, &reader)
            case "where": grant.condition = try reader.condition(place)
            default: throw reader.fault(place, "is not a member of a grant")
            }
        }
        if grant.verbs.isEmpty { throw reader.fault(place, "has no verbs") }
        if grant.condition != nil, !grant.verbs.isSubset(of: .conditional) {
            guard isToken else {
                throw reader.fault(
                    place, "has `where`, which goes with \(Verbs.conditional.text) alone")
            }
            grant.verbs = []
        }
        return grant
    }

    private static func patterns(
        _ place: JSONPointer, _ reader: inout AccessFileReader
    ) throws(AccessError) -> [Pattern] {
        var patterns: [Pattern] = []
        try reader.array(place, limit: countLimit) { place, reader throws(AccessError) in
            let text = try reader.text(place)
            guard !text.isEmpty else { throw reader.fault(place, "must not be empty") }
            patterns.append(Pattern(text))
        }
        return patterns
    }
}
