internal import BelfryJSON

/// The channels of an archive: one, or all whose names begin alike.
public enum ArchiveName: Equatable, Sendable {
    /// The channel of this name.
    case exactly(String)
    /// Every channel whose name begins with this text.
    case prefix(String)
}

/// The bounds of an archive; the broker has defaults for those that are nil.
///
/// All of them hold at once. What is past one of them goes, the oldest first.
public struct ArchiveTerms: Equatable, Sendable {
    /// The kinds of notifications that `count` and `keepLast` count.
    public enum Each: String, Sendable {
        /// Those of one name.
        case name
        /// Those of one name and one object.
        case object
    }

    /// How many are kept of each kind, 1 to 1,000,000; by default any number.
    public var count: Int?
    /// How many bytes the whole archive has, from 4 KiB; the broker's default is 16 MiB.
    public var byteLimit: Int?
    /// How long each is kept since it was posted, in whole seconds; by default as long as it fits.
    public var age: Duration?
    /// The kinds; the broker's default is `name`.
    public var each: Each?
    /// How many of each kind stay in spite of `age`, 0 to 1,000; the broker's default is 0.
    public var keepLast: Int?
    /// Whether the store has them, or memory alone; by default the store where there is one.
    public var isStored: Bool?

    /// Makes terms with the defaults.
    public init() {}

    /// The content of a request.
    var json: [UInt8] {
        RPCRequest.params { writer, bytes in
            if let count { writer.member("count", integer: count, into: &bytes) }
            if let byteLimit { writer.member("bytes", integer: byteLimit, into: &bytes) }
            if let age { writer.member("age", seconds: age, into: &bytes) }
            if let each { writer.member("each", string: each.rawValue, into: &bytes) }
            if let keepLast { writer.member("keepLast", integer: keepLast, into: &bytes) }
            if let isStored { writer.member("stored", bool: isStored, into: &bytes) }
        }
    }
}

/// An archive, as the broker has it.
public struct Archive: Equatable, Sendable {
    /// The channels.
    public let name: ArchiveName
    /// The bounds, of which those that are nil do not bound.
    public let terms: ArchiveTerms
    /// The last number before it began.
    public let since: UInt64
    /// How many notifications it keeps; nil where the broker was not asked for that.
    public let keptCount: Int?
    /// The bytes of those.
    public let keptByteCount: Int?
    /// The whole row as the broker wrote it.
    public let json: [UInt8]

    init(json: [UInt8]) throws(ClientError) {
        guard let members = JSONObject(json),
            let name = members.string("name").map({ ArchiveName.exactly($0) })
                ?? members.string("namePrefix").map({ .prefix($0) }),
            let since = members.integer("since").flatMap({ UInt64(exactly: $0) })
        else { throw .notUnderstood }
        self.name = name
        var terms = ArchiveTerms()
        terms.count = members.integer("count")
        terms.byteLimit = members.integer("bytes")
        terms.age = members.seconds("age")
        terms.each = members.string("each").flatMap(ArchiveTerms.Each.init)
        terms.keepLast = members.integer("keepLast")
        terms.isStored = members.raw("stored")?.elementsEqual("true".utf8)
        self.terms = terms
        self.since = since
        keptCount = members.integer("kept")
        keptByteCount = members.integer("keptBytes")
        self.json = json
    }
}
