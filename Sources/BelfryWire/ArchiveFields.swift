public import BelfryCenter

/// The terms of an archive, as the content of a request has them (rules A1 to A5).
struct ArchiveFields {
    private var terms = ArchiveTerms()
    /// Whether the request says where the notifications are.
    private var isStored: Bool?

    private var name: ArchiveName?
    private var byteLimit: Int?

    enum Key: String, CaseIterable {
        case count, bytes, age, each, keepLast, stored, name, namePrefix
    }

    /// The members of a request, whose path has the name.
    static let table = FieldTable(Key.allCases.filter { $0 != .name && $0 != .namePrefix })
    /// The members of an archive of the configuration file.
    static let configured = FieldTable(Key.allCases)

    /// Reads or skips the value of one member.
    mutating func read(
        _ key: Key, _ fields: inout FieldReader, in bytes: Span<UInt8>
    ) throws(Problem) {
        switch key {
        case .count: terms.count = try fields.integer(in: Self.countRange, of: bytes)
        case .bytes:
            byteLimit = try fields.integer(in: Self.byteRange, of: bytes)
            terms.byteLimit = byteLimit ?? terms.byteLimit
        case .age:
            terms.age = try fields.seconds(Self.ageRule, in: bytes).map { $0 / 1_000_000 }
        case .each: terms.each = try fields.word(in: bytes) ?? terms.each
        case .keepLast:
            terms.keepLast = try fields.integer(in: 0...1_000, of: bytes) ?? terms.keepLast
        case .stored: isStored = try fields.boolean(in: bytes)
        case .name, .namePrefix:
            if name != nil { fields.addFault("cannot be combined with name or namePrefix") }
            name = try fields.name(in: bytes).map {
                ArchiveName($0, isPrefix: key == .namePrefix)
            }
        }
    }

    private static let countRange = 1...1_000_000
    /// The broker's own limit is checked where it is known.
    private static let byteRange = 4_096...(1 << 40)
    private static let ageRule = SecondsRule(from: 1, through: 31_622_400)

    /// Checks combinations, and puts defaults for absent fields.
    func request(_ fields: inout FieldReader) -> ArchiveRequest {
        if terms.keepLast > 0, terms.age == nil {
            fields.addFault(Key.keepLast, "requires the field age, in spite of which they stay")
        }
        return ArchiveRequest(
            name: name, terms: terms, isStored: isStored, hasByteLimit: byteLimit != nil)
    }
}

/// A request to make an archive, or to change it.
public struct ArchiveRequest: Sendable {
    /// The channels, in the configuration file alone.
    public var name: ArchiveName?
    /// The bounds.
    public var terms: ArchiveTerms
    /// Whether the store keeps the notifications; nil where the request does not say.
    public var isStored: Bool?
    /// Whether the request says how many bytes are kept; else the broker may lower the default.
    public var hasByteLimit = false

    init(
        name: ArchiveName? = nil, terms: ArchiveTerms, isStored: Bool? = nil,
        hasByteLimit: Bool = false
    ) {
        self.name = name
        self.terms = terms
        self.isStored = isStored
        self.hasByteLimit = hasByteLimit
    }
}

extension ArchiveTerms.Each: OptionWord {
    var text: String {
        switch self {
        case .name: "name"
        case .object: "object"
        }
    }

    static let detail = "must be name or object"
}

extension FieldReader {
    /// Reads the terms of an archive.
    mutating func readArchive(in bytes: Span<UInt8>) throws(Problem) -> ArchiveRequest? {
        var archive = ArchiveFields()
        guard try beginObject(in: bytes) else { return nil }
        while let key = try nextKey(of: ArchiveFields.table, in: bytes) {
            try archive.read(key, &self, in: bytes)
        }
        return archive.request(&self)
    }

    /// Reads the archives of the configuration file.
    mutating func readConfiguredArchives(
        in bytes: Span<UInt8>
    ) throws(Problem) -> [ArchiveRequest] {
        var archives: [ArchiveRequest] = []
        try readObjects(in: bytes) { (fields, bytes) throws(Problem) in
            var archive = ArchiveFields()
            while let key = try fields.nextKey(of: ArchiveFields.configured, in: bytes) {
                try archive.read(key, &fields, in: bytes)
            }
            let request = archive.request(&fields)
            if request.name == nil {
                fields.addFault(ArchiveFields.Key.name, "is required, unless namePrefix is given")
            }
            if let name = request.name, archives.contains(where: { $0.name == name }) {
                fields.addFault(
                    name.isPrefix ? ArchiveFields.Key.namePrefix : .name,
                    "is that of an archive before; each has one place")
            }
            archives.append(request)
        }
        return archives
    }
}
