public import BelfryCenter
internal import BelfryJSON

/// The parameters by which a caller reads or removes what archives keep.
struct PastFields {
    private var query = PastQuery()
    private var terms = FilterTerms()
    private var last: Int?
    /// Whether a place behind which losses count is given.
    private var hasAfter = false

    enum Key: String, CaseIterable {
        case name, namePrefix, object, objectPrefix, `where`, after, before, from, until, order
        case limit, last, lastEach, id
    }

    /// The parameters of a page, and those of a removal.
    static let reading = JSONKeyTable(Key.allCases.filter { $0 != .id })
    static let removing = JSONKeyTable<Key>(
        [.name, .namePrefix, .object, .objectPrefix, .after, .before, .id])

    /// Reads or skips the value of one parameter.
    mutating func read(
        _ key: Key, from reader: inout QueryReader, in bytes: Span<UInt8>
    ) throws(Problem) {
        let sequences = WireLimits.sequences
        switch key {
        case .name: query.name = try reader.name(in: bytes)
        case .namePrefix: terms.namePrefix = try reader.name(in: bytes)
        case .object: query.object = try reader.name(in: bytes)
        case .objectPrefix: terms.objectPrefix = try reader.name(in: bytes)
        case .where: terms.condition = reader.condition(in: bytes)
        case .after:
            hasAfter = true
            query.after = reader.integer(in: sequences, of: bytes).map { UInt64($0) } ?? 0
        case .before:
            query.before = reader.integer(in: sequences, of: bytes).map { UInt64($0) } ?? .max
        case .from: query.from = try reader.time(in: bytes) ?? .min
        case .until: query.until = try reader.time(in: bytes) ?? .max
        case .order:
            query.isNewestFirst = try reader.word(in: bytes) == PastOrder.newest
        case .limit: query.limit = reader.integer(in: 1...1_000, of: bytes) ?? query.limit
        case .last: last = reader.integer(in: 1...1_000, of: bytes)
        case .lastEach: query.lastEach = reader.integer(in: 1...100, of: bytes)
        case .id: query.id = try reader.notificationID(in: bytes)
        }
    }

    /// Makes the request, or reports its faults.
    func request(_ reader: inout QueryReader) -> PastRequest {
        func fault(_ key: Key, _ detail: String) {
            reader.faults.add(.parameter(key.rawValue), detail)
        }
        if query.name == nil, terms.namePrefix == nil {
            fault(.name, "is required, unless namePrefix is given")
        } else if query.name != nil, terms.namePrefix != nil {
            fault(.namePrefix, "cannot be combined with name")
        }
        if query.object != nil, terms.objectPrefix != nil {
            fault(.objectPrefix, "cannot be combined with object")
        }
        if last != nil, query.lastEach != nil { fault(.lastEach, "cannot be combined with last") }
        var request = PastRequest(query: query)
        request.isNewestFirst = query.isNewestFirst
        if terms.isFiner { request.query.terms = terms }
        if let last {
            (request.query.isNewestFirst, request.query.limit) = (true, last)
            request.isWhole = true
        }
        if query.lastEach != nil {
            request.query.limit = 1_000
            request.isWhole = true
        }
        request.tellsGaps = hasAfter && !query.isNewestFirst && !request.isWhole
        return request
    }
}

/// A request for a page of the past.
public struct PastRequest: Sendable {
    /// The notifications that are meant.
    public var query: PastQuery
    /// Whether the page begins with the newest.
    public var isNewestFirst = false
    /// Whether the page is all that was asked for: no other follows.
    public var isWhole = false
    /// Whether losses behind the beginning are told.
    public var tellsGaps = false

    fileprivate init(query: PastQuery) { self.query = query }
}

/// The order of a page.
enum PastOrder: String, OptionWord, CaseIterable {
    case oldest, newest

    var text: String { rawValue }
    static let detail = "must be oldest or newest"
}

extension PastRequest {
    /// Reads the query of a page of the past, or of a removal.
    ///
    /// - Throws: invalid-fields, also for an unknown parameter and one that comes twice.
    public init(
        query: [QueryParameter], isRemoval: Bool, limits: WireLimits
    ) throws(Problem) {
        var fields = PastFields()
        var reader = QueryReader(limits: limits)
        let keys = isRemoval ? PastFields.removing : PastFields.reading
        for parameter in query {
            guard let key = reader.key(of: parameter, in: keys) else { continue }
            try fields.read(key, from: &reader, in: parameter.value.span)
        }
        self = fields.request(&reader)
        try reader.faults.check()
    }
}

extension ArchiveRequest {
    /// Reads the terms of an archive; no content is the defaults.
    ///
    /// - Throws: malformed-json or invalid-fields.
    public init(in body: Span<UInt8>, _ reader: RequestReader) throws(Problem) {
        if reader.isBlank(body) {
            self.init(terms: ArchiveTerms())
        } else {
            self = try reader.read(body) { (fields) throws(Problem) in
                try fields.readArchive(in: body)
            }
        }
    }

    /// Reads the archives of the configuration file, an array.
    ///
    /// - Throws: malformed-json or invalid-fields.
    public static func configured(in text: Span<UInt8>) throws(Problem) -> [ArchiveRequest] {
        try RequestReader().read(text) { (fields) throws(Problem) in
            try fields.readConfiguredArchives(in: text)
        }
    }
}
