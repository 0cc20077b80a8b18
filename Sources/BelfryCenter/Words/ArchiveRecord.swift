/// The stored record of an archive.
public struct ArchiveRecord: Sendable, Equatable {
    /// Its number, which the records of its kinds have, too.
    public let number: UInt32
    /// The channels that it keeps.
    public let name: ArchiveName
    /// Its bounds.
    public let terms: ArchiveTerms
    /// The last number before it began.
    public let since: UInt64
    /// The last notification of its channels before it began.
    public let began: LossMark
    /// The losses of kinds that it forgot whole.
    public let forgotten: LossMarks
    /// Whether it was removed, and some of its notifications are still to be released.
    public let isEnded: Bool

    /// Joins the parts.
    public init(
        number: UInt32, name: ArchiveName, terms: ArchiveTerms, since: UInt64, began: LossMark,
        forgotten: LossMarks, isEnded: Bool
    ) {
        self.number = number
        self.name = name
        self.terms = terms
        self.since = since
        self.began = began
        self.forgotten = forgotten
        self.isEnded = isEnded
    }
}

/// The stored record of a kind: what a count of an archive is of.
public struct ArchivedKindRecord: Sendable, Equatable {
    /// The kind.
    public let key: ArchivedKindKey
    /// The losses.
    public let marks: LossMarks
    /// The last notification of the channel before the archive began.
    public let began: LossMark

    /// Joins the parts.
    public init(key: ArchivedKindKey, marks: LossMarks, began: LossMark) {
        self.key = key
        self.marks = marks
        self.began = began
    }
}

/// A kind of an archive.
public struct ArchivedKindKey: Sendable, Equatable {
    /// The number of the archive.
    public let archive: UInt32
    /// The channel.
    public let name: [UInt8]
    /// The object of a kind that has one.
    public let object: [UInt8]?
    /// Whether it is a channel and an object, not the channel as a whole.
    public let isOfObject: Bool

    /// Joins the parts.
    public init(archive: UInt32, name: [UInt8], object: [UInt8]?, isOfObject: Bool) {
        self.archive = archive
        self.name = name
        self.object = object
        self.isOfObject = isOfObject
    }
}

/// The stored record of a kept notification.
public struct KeptRecord: Sendable, Equatable {
    /// The number of its archive.
    public let archive: UInt32
    /// The notification; `endsAt` replaces its expiry, because clocks start again.
    public let notification: Notification
    /// When its `ttl` ends, in milliseconds since 1970; nil is never.
    public let endsAt: Int64?

    /// Joins the parts.
    public init(archive: UInt32, notification: Notification, endsAt: Int64?) {
        self.archive = archive
        self.notification = notification
        self.endsAt = endsAt
    }
}

/// The newest of the notifications that were let go.
public struct LossMark: Sendable, Equatable {
    /// Its number; 0 for none.
    public var sequence: UInt64 = 0
    /// When it was posted, in milliseconds since 1970.
    public var postedAt = Int64.min

    /// Makes the mark of no notification.
    public init() {}

    /// Joins both.
    public init(sequence: UInt64, postedAt: Int64) {
        self.sequence = sequence
        self.postedAt = postedAt
    }

    mutating func raise(to other: LossMark) {
        sequence = max(sequence, other.sequence)
        postedAt = max(postedAt, other.postedAt)
    }
}

/// The newest notifications that were let go for one reason or another (rule A9).
public struct LossMarks: Sendable, Equatable {
    /// Past a count or past the bytes: the replay ring may still have them.
    public var passed = LossMark()
    /// By age or by removal: nobody gets them any more.
    public var ended = LossMark()

    /// Makes the marks of a kind that has lost nothing.
    public init() {}

    init(passed: LossMark, ended: LossMark) {
        self.passed = passed
        self.ended = ended
    }

    mutating func raise(to mark: LossMark, isEnded: Bool) {
        if isEnded { ended.raise(to: mark) } else { passed.raise(to: mark) }
    }

    mutating func raise(to other: LossMarks) {
        passed.raise(to: other.passed)
        ended.raise(to: other.ended)
    }

    /// The same of channels of which nothing was lost above a number.
    func before(_ sequence: UInt64) -> LossMarks {
        var marks = self
        marks.passed.sequence = min(passed.sequence, sequence)
        marks.ended.sequence = min(ended.sequence, sequence)
        return marks
    }

    /// The newest loss from a time on, where the replay ring has forgotten all up to a number.
    func last(ringForgot sequence: UInt64, from time: Int64) -> UInt64 {
        max(
            ended.postedAt >= time ? ended.sequence : 0,
            passed.postedAt >= time ? min(passed.sequence, sequence) : 0)
    }
}
