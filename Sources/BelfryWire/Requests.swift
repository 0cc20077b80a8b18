public import BelfryCenter

/// A notification that somebody wants to post.
public struct PostRequest: Sendable, Equatable {
    /// Name, object and userInfo.
    public var content: Notification.Content
    /// The notification whose handling posts this one.
    public var causedBy: NotificationID?

    /// Joins both.
    public init(content: Notification.Content, causedBy: NotificationID? = nil) {
        self.content = content
        self.causedBy = causedBy
    }
}

/// A `post` over JSON-RPC.
public struct PostCall: Sendable, Equatable {
    /// What is posted.
    public var post: PostRequest
    /// Whether the receipt has one row for each observer (`"report": "observers"`).
    public var reportsObservers: Bool
    /// How many seconds the poster waits at most; nil when it does not say.
    public var waitSeconds: Double?
}

/// An observer that somebody wants to register.
public struct ObserverRequest: Sendable, Equatable {
    /// The notification name of the filter; nil is any.
    public var name: [UInt8]?
    /// The object of the filter; nil is any.
    public var object: [UInt8]?
    /// The method that the client is called with.
    public var selector: [UInt8]
    /// The sequence number above which the replay ring is asked for.
    public var since: UInt64?
    /// The secret of the client that it is for, as it was sent; nil over JSON-RPC.
    public var session: [UInt8]?

    /// Joins the parts; the selector is `notify` when none is given.
    public init(
        name: [UInt8]? = nil, object: [UInt8]? = nil, selector: [UInt8]? = nil,
        since: UInt64? = nil, session: [UInt8]? = nil
    ) {
        self.name = name
        self.object = object
        self.selector = selector ?? [UInt8]("notify".utf8)
        self.since = since
        self.session = session
    }
}

/// Which observers somebody wants to remove.
public enum RemoveRequest: Sendable, Equatable {
    /// The one with this token; the secret is there.
    case token(IdentifierText)
    /// The one with this serial number.
    case observer(UInt64)
    /// The caller's own whose filter is this one; nil stands for any, but not for both.
    case filter(name: [UInt8]?, object: [UInt8]?)
}

extension ClientState {
    /// The state as it stands in JSON and in a query.
    public var text: String {
        switch self {
        case .disconnected: "disconnected"
        case .slow: "slow"
        case .asked: "asked"
        case .live: "live"
        }
    }

    /// Reads the text of a state.
    public init?(text: [UInt8]) {
        guard let state = Self.allCases.first(where: { text.elementsEqual($0.text.utf8) }) else {
            return nil
        }
        self = state
    }
}

/// The notification that an explanation is about.
public struct ExplainRequest: Sendable, Equatable {
    /// Its name.
    public var name: [UInt8]
    /// Its object.
    public var object: [UInt8]?

    /// Joins both.
    public init(name: [UInt8], object: [UInt8]? = nil) {
        self.name = name
        self.object = object
    }
}
