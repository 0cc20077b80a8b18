import BelfryBytes

/// The channels that an archive keeps (rule A1).
public struct ArchiveName: Sendable, Hashable {
    /// The name of the one channel, or the prefix.
    public let text: [UInt8]
    /// Whether it keeps all channels whose names begin with the text.
    public let isPrefix: Bool

    /// Joins both.
    public init(_ text: [UInt8], isPrefix: Bool) {
        self.text = text
        self.isPrefix = isPrefix
    }

    /// The names, as a text that grants must cover.
    public var reach: [UInt8] { FilterReach.names(of: self) }
}

/// The bounds of an archive, which hold all at once (rule A3).
public struct ArchiveTerms: Sendable, Equatable {
    /// How many notifications of each kind are kept; nil for any number.
    public var count: Int?
    /// The bytes of the whole archive.
    public var byteLimit = 16 << 20
    /// How long a notification is kept, in milliseconds since its post; nil for ever.
    public var age: Int64?
    /// The meaning of a kind.
    public var each = Each.name
    /// How many of each kind stay although their age is over.
    public var keepLast = 0
    /// Whether the store keeps the notifications.
    public var isStored = true
    /// Whether the configuration file has set the archive.
    public var isConfigured = false

    /// Makes the terms of an archive that is bounded by 16 MiB alone.
    public init() {}

    /// A kind: what a count is of.
    public enum Each: UInt64, Sendable, CaseIterable {
        /// A channel.
        case name
        /// A channel and an object.
        case object
    }

    /// The bytes that a notification costs besides name, object and userInfo, about.
    public static let overheadByteCount = 100

    /// The bytes that a notification counts.
    static func byteCount(of content: Notification.Content) -> Int {
        content.byteCount + overheadByteCount
    }
}

/// An archive of the configuration file.
public struct ConfiguredArchive: Sendable, Equatable {
    /// The channels that it keeps.
    public let name: ArchiveName
    /// Its bounds.
    public let terms: ArchiveTerms

    /// Joins both.
    public init(_ name: ArchiveName, _ terms: ArchiveTerms) {
        self.name = name
        self.terms = terms
    }
}

/// An archive as a listing shows it.
public struct ArchiveRow: Sendable, Equatable {
    /// The channels that it keeps.
    public let name: ArchiveName
    /// Its bounds.
    public let terms: ArchiveTerms
    /// The last number before it began.
    public let since: UInt64
    /// How many notifications it keeps.
    public let keptCount: Int
    /// Their bytes, as they count for the bound.
    public let keptByteCount: Int
    /// The number of the first one; 0 where it keeps none.
    public let firstSequence: UInt64
    /// The number of the last one; 0 where it keeps none.
    public let lastSequence: UInt64
    /// Whether it was new with the command.
    public var isNew = false
}
