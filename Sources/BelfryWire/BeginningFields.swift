public import BelfryCenter
internal import BelfryJSON

/// The fields by which an observer says where in the past it begins.
struct BeginningFields {
    /// The sequence number of `since`, if it is one.
    private(set) var sequence: UInt64?
    private var since: PastBeginning?
    private var last: Int?
    private var lastEach: Int?

    enum Key: String, CaseIterable {
        case since, last, lastEach
    }

    /// The parameters of a stream.
    static let parameters = JSONKeyTable(Key.allCases)

    /// Whether one of them is given.
    var isGiven: Bool { sequence != nil || since != nil || last != nil || lastEach != nil }

    /// Reads or skips the value of one member.
    mutating func read(
        _ key: Key, _ fields: inout FieldReader, in bytes: Span<UInt8>
    ) throws(Problem) {
        switch key {
        case .since where try fields.kind(in: bytes) == .string:
            try readText(from: &fields, in: bytes)
        case .since:
            sequence = try fields.integer(in: WireLimits.sequences, of: bytes)
                .map { UInt64($0) }
        case .last: last = try fields.integer(in: Self.lastRange, of: bytes)
        case .lastEach: lastEach = try fields.integer(in: Self.eachRange, of: bytes)
        }
    }

    /// Reads or skips the value of one parameter.
    mutating func read(
        _ key: Key, _ reader: inout QueryReader, in bytes: Span<UInt8>
    ) throws(Problem) {
        switch key {
        case .since where Decimal.read(bytes) != nil:
            sequence = reader.integer(in: WireLimits.sequences, of: bytes)
                .map { UInt64($0) }
        case .since: try readText(from: &reader, in: bytes)
        case .last: last = reader.integer(in: Self.lastRange, of: bytes)
        case .lastEach: lastEach = reader.integer(in: Self.eachRange, of: bytes)
        }
    }

    private static let lastRange = 1...1_000
    private static let eachRange = 1...100

    private mutating func readText(
        from source: inout some FieldSource, in bytes: Span<UInt8>
    ) throws(Problem) {
        since = try source.value(
            "must be a sequence number, oldest, or a time as in 2026-11-22T06:00:00Z", in: bytes
        ) { text in
            text.elementsEqual("oldest".utf8)
                ? .oldest : TimeText.milliseconds(of: text.span).map { .from($0) }
        }
    }

    /// The place that is no number; more than one place is a fault.
    func beginning(tell: (Key, String) -> Void) -> PastBeginning? {
        let hasSince = sequence != nil || since != nil
        if last != nil, hasSince { tell(.last, "cannot be combined with since") }
        if lastEach != nil, hasSince || last != nil {
            tell(.lastEach, "cannot be combined with since or last")
        }
        if let last { return .last(last) }
        if let lastEach { return .lastEach(lastEach) }
        return since
    }
}

/// The place in the past at which the observers of a stream begin.
public struct StreamBeginning: Sendable {
    /// The number, if the place is one.
    public let sequence: UInt64?
    /// The place that is no number.
    public let beginning: PastBeginning?

    /// Reads the parameters of a stream.
    ///
    /// - Throws: invalid-fields, also for a parameter that comes twice.
    public init(query: [QueryParameter], limits: WireLimits) throws(Problem) {
        var fields = BeginningFields()
        var reader = QueryReader(limits: limits)
        for parameter in query {
            guard let key = reader.key(of: parameter, in: BeginningFields.parameters) else {
                continue
            }
            try fields.read(key, &reader, in: parameter.value.span)
        }
        beginning = fields.beginning { reader.faults.add(.parameter($0.rawValue), $1) }
        sequence = fields.sequence
        try reader.faults.check()
    }
}
