/// The names and objects that a filter can match, as texts that grants must cover (rule P3).
public struct FilterReach: Sendable {
    /// The names, each with the object; nil stands for all.
    public let names: [[UInt8]?]
    /// The object; nil stands for all.
    public let object: [UInt8]?

    /// Makes the reach of a filter.
    public init(name: [UInt8]?, object: [UInt8]?, terms: FilterTerms? = nil) {
        self.object = terms?.objectPrefix.map(Self.allTexts) ?? object
        names =
            if let names = terms?.names, !names.isEmpty {
                names
            } else {
                [terms?.namePrefix.map(Self.allTexts) ?? name]
            }
    }

    /// Whether a test allows each name with the object.
    public func isAllowed(_ allows: (_ name: [UInt8]?, _ object: [UInt8]?) -> Bool) -> Bool {
        names.allSatisfy { allows($0, object) }
    }

    /// All texts that begin with a prefix, as one text: behind it is a byte that no text has.
    ///
    /// A pattern covers it if the pattern covers all of them.
    private static func allTexts(beginningWith prefix: [UInt8]) -> [UInt8] { prefix + [endByte] }

    /// The names that an archive keeps, as a text that grants must cover.
    static func names(of archive: ArchiveName) -> [UInt8] {
        archive.isPrefix ? allTexts(beginningWith: archive.text) : archive.text
    }

    /// The text as a pattern is written: `*` stands for what may follow a prefix.
    public static func shown(_ text: [UInt8]) -> [UInt8] {
        text.last == endByte ? text.dropLast() + [UInt8(ascii: "*")] : text
    }

    private static let endByte: UInt8 = 0xFF
}
