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
    /// The notification name of its filter; nil is any.
    public let name: [UInt8]?
    /// The object of its filter; nil is any.
    public let object: [UInt8]?
    /// The method that its client is called with.
    public let selector: [UInt8]
    /// The sequence number above which it gets notifications (rule C10).
    public let since: UInt64
    /// When it was registered, in milliseconds since 1970.
    public let createdAt: Int64
    /// Since when its client is in its state.
    public let stateSince: Int64
    /// Who its client is.
    public let principal: [UInt8]
    /// Notifications that were put on the way to it.
    public let delivered: UInt64
    /// When the last one was.
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
    /// Where they are sent.
    public let connection: ConnectionName
    /// Who it is.
    public let principal: [UInt8]
    /// How many observers it has.
    public let observerCount: Int
    /// When it connected, in milliseconds since 1970.
    public let connectedAt: Int64
    /// The hash of the secret that speaks for it.
    public let sessionHash: SecretHash
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
public struct Explanation: Sendable, Equatable {
    /// The observers that would get it, in registration order.
    public var observers: [ObserverRow] = []
    /// Observers that nearly would; they come with the first page.
    public var nearMisses: [NearMiss] = []
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
