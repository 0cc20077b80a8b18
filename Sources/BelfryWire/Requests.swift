public import BelfryCenter

/// A request to post a notification.
public struct PostRequest: Sendable, Equatable {
    /// Name, object and userInfo.
    public var content: Notification.Content
    /// The notification whose handling posts this one.
    public var causedBy: NotificationID?
    /// How it is posted; nil for a plain post without options.
    public var options: PostOptions?

    /// Joins the parts.
    public init(
        content: Notification.Content, causedBy: NotificationID? = nil, options: PostOptions? = nil
    ) {
        self.content = content
        self.causedBy = causedBy
        self.options = options
    }
}

/// A `post` over JSON-RPC.
public struct PostCall: Sendable, Equatable {
    /// The notification to post.
    public var post: PostRequest
    /// Whether the receipt has one row for each observer (`"report": "observers"`).
    public var reportsObservers: Bool
    /// How many seconds the poster waits at most; nil when it does not say.
    public var waitSeconds: Double?
    /// The name under which the answer is found again.
    public var idempotencyKey: [UInt8]?
}

/// A request to register an observer.
public struct ObserverRequest: Sendable, Equatable {
    /// The notification name of the filter; nil is any.
    public var name: [UInt8]?
    /// The object of the filter; nil is any.
    public var object: [UInt8]?
    /// The method that the client is called with.
    public var selector: [UInt8]
    /// The terms of the observer, with the defaults for absent fields.
    public var terms: ObserverTerms
    /// The sequence number above which the replay ring is asked for.
    public var since: UInt64?
    /// The place in the past at which it begins, if that is no sequence number.
    public var beginning: PastBeginning?
    /// The role of the observer; the name and the selector of a responder are nil and empty.
    public var role: ObserverRole
    /// The secret of the client that it is for, as it was sent.
    ///
    /// Nil over JSON-RPC, and over HTTP for a mailbox of its own.
    public var session: [UInt8]?

    /// Joins the parts; the selector is `notify` when none is given.
    public init(
        name: [UInt8]? = nil, object: [UInt8]? = nil, selector: [UInt8]? = nil,
        terms: ObserverTerms = ObserverTerms(), since: UInt64? = nil, session: [UInt8]? = nil,
        role: ObserverRole = .plain
    ) {
        self.name = name
        self.object = object
        self.selector = selector ?? Self.defaultSelector
        self.terms = terms
        self.since = since
        self.session = session
        self.role = role
    }

    private static let defaultSelector = [UInt8]("notify".utf8)

    /// Whether it would never expire, which needs the grant `forever`.
    public var asksForever: Bool { terms.lease == nil && !terms.endsWithConnection }

    /// Whether its deliveries are to be answered, which needs the grant `acknowledge`.
    public var asksAcknowledge: Bool { terms.acknowledges }

    /// The names and objects that it can match.
    public var reach: FilterReach {
        FilterReach(name: name, object: object, terms: role.filter)
    }

    /// Whether it observes every notification, which needs the grant `wildcard` (rule C4).
    public var isOfEverything: Bool {
        name == nil && object == nil && role.filter?.namesChannels != true
            && role.filter?.objectPrefix == nil
    }

    /// The names of the broker's own reports that it observes, which need the grant `inspect`.
    public var reservedNames: [[UInt8]] {
        guard role.filter != nil else {
            return name.map { TextRule.isReserved($0) ? [$0] : [] } ?? []
        }
        return reach.names.compactMap { $0 }.filter { TextRule.isReserved($0) }
    }

    /// Whether it watches if names are observed by this name of it: with an object that name alone
    /// (rule L12).
    public func watches(_ name: [UInt8]?) -> Bool {
        role.filter?.objectPrefix == nil && name.map(TextRule.isOfChannels) ?? false
    }
}

extension ResponderTerms {
    /// The names that the caller's grants must cover, together with the object.
    ///
    /// They are the implemented selectors, or all names (nil) for a responder that implements none
    /// and passes everything on.
    public var coveredNames: [[UInt8]?] { implements.isEmpty ? [nil] : implements }
}

/// The choice of observers to remove.
public enum RemoveRequest: Sendable, Equatable {
    /// The one with this token; the secret is there.
    case token(IdentifierText)
    /// The one with this serial number.
    case observer(UInt64)
    /// The caller's own that were registered so; the filter asks for something.
    case filter(ObserverFilter)
}

extension ClientState: OptionWord {
    static let detail = "must be live, slow, asked or disconnected"
}

/// The subject of an explanation.
public enum ExplainRequest: Sendable, Equatable {
    /// The observers that would get a post.
    case post(ExplainedPost)
    /// The responders that would be asked.
    case ask(object: [UInt8], selector: [UInt8])
}

/// The notification that an explanation is about, and which page of observers it has.
public struct ExplainedPost: Sendable, Equatable {
    /// Its name.
    public var name: [UInt8]
    /// Its object.
    public var object: [UInt8]?
    /// Its userInfo; with nil the conditions of observers are not asked for.
    public var userInfo: [UInt8]?
    /// The serial number after which the page starts.
    public var cursor: UInt64
    /// How many observers the page has at most.
    public var limit: Int

    /// Joins the parts.
    public init(
        name: [UInt8], object: [UInt8]? = nil, userInfo: [UInt8]? = nil, cursor: UInt64 = 0,
        limit: Int = 100
    ) {
        self.name = name
        self.object = object
        self.userInfo = userInfo
        self.cursor = cursor
        self.limit = limit
    }
}
