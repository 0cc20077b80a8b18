/// One page of a listing.
public struct Page<Row: Sendable>: Sendable {
    /// The rows, in the order of the listing.
    public var rows: [Row] = []
    /// Where the next page starts; nil when this was the last one.
    public var next: UInt64?
}

/// What can be seen of an observer.
public struct ObserverRow: Sendable, Equatable {
    /// Its number; `o17` has 17.
    public let serial: UInt64
    /// The number of its client.
    public let client: UInt64
    /// How its client gets its notifications.
    public let transport: Transport
    /// The notification name of its filter; nil is any.
    public let name: [UInt8]?
    /// The object of its filter; nil is any.
    public let object: [UInt8]?
    /// The method that its client is called with.
    public let selector: [UInt8]
    /// How it is treated.
    public let terms: ObserverTerms
    /// The sequence number above which it gets notifications (rule C10).
    public let since: UInt64
    /// When it was registered, in milliseconds since 1970.
    public let createdAt: Int64
    /// The state of its client.
    public let state: ClientState
    /// Since when its client is in its state.
    public let stateSince: Int64
    /// Who its client is.
    public let principal: [UInt8]
    /// Notifications that were put on the way to it.
    public let delivered: UInt64
    /// Notifications that are held for it now.
    public let held: Int
    /// Notifications that took the place of an older one.
    public let coalesced: UInt64
    /// Notifications that were lost for it.
    public let dropped: UInt64
    /// When the last one was put on the way to it.
    public let lastDeliveredAt: Int64?
    /// The hash of the secret half of its token.
    public let tokenHash: SecretHash

    /// The bytes of its texts.
    var textByteCount: Int {
        (name?.count ?? 0) + (object?.count ?? 0) + selector.count + principal.count
    }
}

/// What can be seen of a client.
public struct ClientRow: Sendable, Equatable {
    /// Its number; `c4` has 4.
    public let id: UInt64
    /// How it gets its notifications.
    public let transport: Transport
    /// Where they are sent; where they were sent while it is disconnected.
    public let connection: ConnectionName
    /// Its state.
    public let state: ClientState
    /// Since when it is in its state, in milliseconds since 1970.
    public let stateSince: Int64
    /// Who it is.
    public let principal: [UInt8]
    /// How many observers it has.
    public let observerCount: Int
    /// How many notifications are held for it now.
    public let held: Int
    /// When it connected, in milliseconds since 1970.
    public let connectedAt: Int64
    /// The hash of the secret that speaks for it.
    public let sessionHash: SecretHash
}

/// What can be seen of a queue entry.
public struct QueueEntryRow: Sendable, Equatable {
    /// The notification.
    public let id: NotificationID
    /// Name, object and userInfo.
    public let content: Notification.Content
    /// When it leaves.
    public let style: PostingStyle
    /// What it was posted with.
    public let coalescing: Coalescing
    /// The modes in which it may be posted.
    public let modes: [[UInt8]]
    /// How many other posts it stands for.
    public let mergedCount: Int
    /// When it was enqueued, in milliseconds since 1970.
    public let enqueuedAt: Int64
}

/// What can be seen of the modes of a center.
public struct ModesRow: Sendable, Equatable {
    /// The mode that the queue waits in.
    public let current: [UInt8]
    /// The leases, outermost first.
    public let stack: [Lease]
    /// The modes that `common` stands for.
    public let common: [[UInt8]]

    /// What can be seen of a mode lease.
    public struct Lease: Sendable, Equatable {
        /// Its number; `m3` has 3.
        public let serial: UInt64
        /// The mode.
        public let mode: [UInt8]
        /// The client whose connection it ends with, if it is one's.
        public let client: UInt64?
        /// The hash of the secret half of its token.
        public let tokenHash: SecretHash
    }
}

/// What a mailbox has for one observer.
public struct MailboxPage: Sendable {
    /// Notifications that were not acknowledged, in the order of their sequence numbers.
    public var notifications: [(notification: Notification, isRedelivered: Bool)] = []
    /// What the observer lost and has not acknowledged yet.
    public var gaps: [Gap] = []
    /// The sequence number with which the next look acknowledges all of this.
    public var next: UInt64 = 0
}

/// What can be seen of a channel.
public struct ChannelRow: Sendable, Equatable {
    /// The notification name.
    public let name: [UInt8]
    /// Observers that have this name in their filter.
    public let observerCount: Int
    /// Posts of this name since the center remembers it.
    public let postCount: UInt64
    /// When the last one was, in milliseconds since 1970.
    public let lastPostedAt: Int64?
}

/// The answer to "who would get this?" (rule O8).
public struct Explanation: Sendable {
    /// The observers that match, in registration order, with what would happen.
    public var observers: [(row: ObserverRow, outcome: ReportRow.Outcome)] = []
    /// Observers that nearly would; they come with the first page.
    public var nearMisses: [NearMiss] = []
    /// Whether there may be more that nearly would: not all names and observers were looked at.
    public var isPartial = false
    /// Where the next page of observers starts; nil when this was the last one.
    public var next: UInt64?
}

/// An observer that would not get a notification, but nearly.
public struct NearMiss: Sendable, Equatable {
    /// The observer.
    public let observer: ObserverRow
    /// What differs.
    public let reason: Reason

    /// What differs.
    public enum Reason: Sendable, Equatable {
        /// The names are equal but for upper and lower case.
        case nameDiffersInCase
        /// The names look equal, and are different Unicode sequences.
        case nameDiffersInUnicodeForm
        /// The names are equal but for blanks, and upper and lower case.
        case nameDiffersInBlanks
        /// Somebody may have typed one name for the other: a few letters differ, or it is the plural.
        case nameDiffersInSpelling
        /// The names are equal, and the observer asks for another object.
        case objectDiffers
    }
}

/// An observer that looks as if somebody forgot it.
public struct Leak: Sendable, Equatable {
    /// The observer.
    public let observer: ObserverRow
    /// Why it looks so.
    public let reason: Reason

    /// Why an observer looks forgotten.
    public enum Reason: Sendable, Equatable {
        /// Its client has another one with the same name, object and selector.
        case duplicate
        /// Its client has been disconnected for longer than `orphanAfter`.
        case disconnected
        /// Nobody has looked into its mailbox for longer than `orphanAfter`.
        case neverLooked
    }
}

/// A name that was posted and that no observer ever matched.
public struct UnobservedName: Sendable, Equatable {
    /// The notification name.
    public let name: [UInt8]
    /// How often it was posted.
    public let postCount: UInt64
}

/// Names that are posted and not observed, or observed and not posted: mostly typing errors.
public struct UnmatchedReport: Sendable, Equatable {
    /// Names that were posted and that no observer ever matched.
    public var postedNeverObserved: [UnobservedName] = []
    /// Observers whose name was never posted.
    public var observedNeverPosted: [ObserverRow] = []
}
