/// How a notification is posted when it is no plain post without options.
///
/// It is shared, never changed: a plain post pays for one reference that is nil.
public final class PostOptions: Sendable {
    /// When it leaves the queue; nil for a plain post (rule Q9).
    public let style: PostingStyle?
    /// With which queue entries it merges (rules Q3 to Q6).
    public let coalescing: Coalescing
    /// Whether its content takes the place of the first entry's (rule Q6).
    public let keepsLatest: Bool
    /// The modes in which it may be posted (rule Q15).
    public let modes: [[UInt8]]
    /// Nanoseconds after which an idle post counts as asap (rule Q14).
    public let maxDelay: Int64?
    /// Whether it is delivered in spite of suspension (rule D9).
    public let isImmediate: Bool
    /// Nanoseconds after which a queued or held copy is dropped.
    public let timeToLive: Int64?

    /// Whether the post may wait in the queue.
    public var isQueued: Bool { style?.isQueued ?? false }

    /// Joins the parts; the defaults are those of rule Q3.
    public init(
        style: PostingStyle? = nil, coalescing: Coalescing = [.onName, .onSender],
        keepsLatest: Bool = false, modes: [[UInt8]] = [Mode.default], maxDelay: Int64? = nil,
        isImmediate: Bool = false, timeToLive: Int64? = nil
    ) {
        self.style = style
        self.coalescing = coalescing
        self.keepsLatest = keepsLatest
        self.modes = modes
        self.maxDelay = maxDelay
        self.isImmediate = isImmediate
        self.timeToLive = timeToLive
    }
}

/// When a notification leaves the queue (Cocoa's NSPostingStyle).
public enum PostingStyle: UInt8, Sendable, CaseIterable {
    /// At once, after similar entries were taken out of the queue (rule Q8).
    case now
    /// At the end of the turn (rule Q10).
    case asap
    /// When the loop would wait (rule Q12).
    case idle

    /// Whether such a post may wait in the queue.
    public var isQueued: Bool { self != .now }
}

/// What makes two notifications similar: all that is named must be equal (rule Q4).
public struct Coalescing: OptionSet, Sendable, Hashable {
    /// The bits.
    public let rawValue: UInt8

    /// Makes a set of the bits.
    public init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// Equal notification names.
    public static let onName = Coalescing(rawValue: 1)
    /// Equal objects; none equals none (rule Q21).
    public static let onSender = Coalescing(rawValue: 2)
    /// Nothing is similar to anything.
    public static let none: Coalescing = []
}

/// The names of modes that mean something to every center.
public enum Mode {
    /// The mode of a center whose mode stack is empty.
    public static let `default` = Array("default".utf8)
    /// Stands for all modes of the center's common set (rule Q17).
    public static let common = Array("common".utf8)
}

/// Under which terms a post, or a batch of them, is accepted.
public struct PostTerms: Sendable {
    /// How long the poster waits for acknowledging observers, in nanoseconds; 0 is not at all.
    public var wait: Int64 = 0
    /// Whether the answer has one row for each observer.
    public var reportsObservers = false
    /// Whether what must last can be stored now.
    ///
    /// If not, a post that would have to be stored is refused, and nothing is accepted.
    public var canStore = true
    /// The owner that what waits in the queue counts for.
    public var owner = Owner.none
    /// Bytes that all queues of the broker together still have room for.
    public var queueByteRoom = Int.max
    /// What only few posts have; nil when the caller may post everything and sent no key.
    public var details: Details?

    /// Takes the defaults.
    public init() {}

    /// What only few posts have.
    public final class Details: Sendable {
        /// What the caller may post: an entry outside of it is neither merged with nor removed.
        public let scope: PostScope
        /// The Idempotency-Key.
        public let key: IdempotencyKey?

        /// Joins both.
        public init(scope: PostScope, key: IdempotencyKey? = nil) {
            self.scope = scope
            self.key = key
        }
    }
}

/// What a caller may post, as data: commands hold no code.
public enum PostScope: Sendable, Equatable {
    /// Everything.
    case everything
    /// What one of these covers.
    case some([Pattern])

    /// Names and objects that belong together.
    public struct Pattern: Sendable, Equatable {
        /// The names; empty is all.
        public var names: [Text]
        /// The objects; empty is all, and no object too.
        public var objects: [Text]

        /// Joins both.
        public init(names: [Text] = [], objects: [Text] = []) {
            self.names = names
            self.objects = objects
        }
    }

    /// A text, or all that begin with it.
    public enum Text: Sendable, Equatable {
        /// Exactly this one.
        case exact([UInt8])
        /// All that begin with this.
        case prefix([UInt8])

        func matches(_ text: Span<UInt8>) -> Bool {
            let wanted: [UInt8]
            switch self {
            case .exact(let exact):
                guard exact.count == text.count else { return false }
                wanted = exact
            case .prefix(let prefix):
                guard prefix.count <= text.count else { return false }
                wanted = prefix
            }
            for index in wanted.indices where wanted[index] != text[index] { return false }
            return true
        }
    }

    /// Whether a notification with this content may be posted.
    func allows(_ content: Notification.Content) -> Bool {
        switch self {
        case .everything:
            return true
        case .some(let patterns):
            return patterns.contains { pattern in
                Self.covers(pattern.names, content.name)
                    && Self.covers(pattern.objects, content.object)
            }
        }
    }

    private static func covers(_ texts: [Text], _ value: Span<UInt8>?) -> Bool {
        if texts.isEmpty { return true }
        guard let value else { return false }
        for text in texts where text.matches(value) { return true }
        return false
    }
}

/// The name under which a poster finds the answer to a request again, and what it asked for.
public struct IdempotencyKey: Sendable, Hashable {
    /// Who sent it; keys of different principals are different.
    public let principal: [UInt8]
    /// The key.
    public let text: [UInt8]
    /// The hash of the request: the same key with another request is refused.
    public let requestHash: SecretHash
    /// The form of the answer, which a replay repeats; the center hands it back as it is.
    public let form: UInt8
    /// The owner that it counts for.
    public let owner: Owner

    /// Joins the parts.
    public init(
        principal: [UInt8], text: [UInt8], requestHash: SecretHash, form: UInt8,
        owner: Owner = .none
    ) {
        self.principal = principal
        self.text = text
        self.requestHash = requestHash
        self.form = form
        self.owner = owner
    }
}

/// Which queue entries a dequeue removes: all that are equal in what the mask names (rule Q20).
public struct QueueMatch: Sendable {
    /// The name to compare, if the mask names it.
    public let name: [UInt8]?
    /// The object to compare, if the mask names the sender; none equals none.
    public let object: [UInt8]?
    /// What is compared.
    public let mask: Coalescing
    /// What the caller may post; other entries stay.
    public let scope: PostScope

    /// Joins the parts.
    public init(name: [UInt8]?, object: [UInt8]?, mask: Coalescing, scope: PostScope) {
        self.name = name
        self.object = object
        self.mask = mask
        self.scope = scope
    }
}

/// A mode that somebody enters.
public struct ModeEntry: Sendable {
    /// The number of the lease; `m3` has 3.
    public let serial: UInt64
    /// The hash of the secret half of its token.
    public let tokenHash: SecretHash
    /// The mode.
    public let mode: [UInt8]
    /// Whose connection it ends with; nil for one that was entered over HTTP.
    public let client: UInt64?
    /// Nanoseconds after which it ends; nil when it lasts as long as its client's connection.
    public let lease: Int64?

    /// Joins the parts.
    public init(
        serial: UInt64, tokenHash: SecretHash, mode: [UInt8], client: UInt64?, lease: Int64?
    ) {
        self.serial = serial
        self.tokenHash = tokenHash
        self.mode = mode
        self.client = client
        self.lease = lease
    }
}
