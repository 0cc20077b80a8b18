import BelfryBytes
import BelfryHTTP

/// What a request asks for, as its path says.
enum Route: Equatable {
    case channelPost(name: [UInt8])
    case channels
    case notifications
    case notification(id: [UInt8])
    case observers
    case observer(token: [UInt8])
    case mailbox(token: [UInt8])
    case clients
    case client(id: [UInt8])
    case centers
    /// The center that the path names, as a whole.
    case center
    case queue
    case queueEntry(id: [UInt8])
    case modes
    case mode(token: [UInt8])
    case explain
    case leaks
    case unmatched
    case webSocket
    case events
    case tickets
    case backup
    case live
    case ready
    case metrics
    case asset(Asset)
    case debugEcho
    case debugWebSocket

    /// The methods that the route answers to, besides OPTIONS.
    var allowedMethods: AllowedMethods {
        switch self {
        case .channelPost, .debugEcho, .notifications, .tickets, .backup: .post
        case .observers, .modes: [.get, .post]
        case .observer, .queue, .queueEntry: [.get, .delete]
        case .client: [.delete, .patch]
        case .mode, .center: .delete
        // Reading a mailbox may wait, and acknowledges: there is no such thing as its head.
        case .webSocket, .debugWebSocket, .events, .mailbox: .getWithoutHead
        case .channels, .notification, .clients, .centers, .explain, .leaks, .unmatched, .live,
            .ready, .metrics, .asset:
            .get
        }
    }

    /// Whether pages of foreign origins may GET it: health and files tell nothing of any center.
    var isOpenToPages: Bool {
        switch self {
        case .live, .ready, .asset: true
        case .channelPost, .channels, .notifications, .notification, .observers, .observer,
            .mailbox, .clients, .client, .centers, .center, .queue, .queueEntry, .modes, .mode,
            .explain, .leaks, .unmatched, .webSocket, .events, .tickets, .backup, .metrics,
            .debugEcho, .debugWebSocket:
            false
        }
    }

    /// Whether it belongs to the service and not to a center: unknown query parameters are ignored.
    var isService: Bool {
        switch self {
        case .live, .ready, .metrics, .asset, .debugEcho, .debugWebSocket: true
        case .channelPost, .channels, .notifications, .notification, .observers, .observer,
            .mailbox, .clients, .client, .centers, .center, .queue, .queueEntry, .modes, .mode,
            .explain, .leaks, .unmatched, .webSocket, .events, .tickets, .backup:
            false
        }
    }

    /// Whether it tells how the broker is, also while its state is restored.
    var isHealth: Bool { self == .live || self == .ready }

    /// Whether it concerns the broker as a whole: it has no path below a center.
    var isOfBroker: Bool { self == .centers || self == .tickets || self == .backup }

    /// Whether the path is one that may have a secret, and if so whether it has.
    var secretPlace: SecretPlace {
        switch self {
        case .mailbox: .present
        case .observer(let token), .mode(let token):
            token.contains(UInt8(ascii: ".")) ? .present : .possible
        case .channelPost, .channels, .notifications, .notification, .observers, .clients, .client,
            .centers, .center, .queue, .queueEntry, .modes, .explain, .leaks, .unmatched,
            .webSocket, .events, .tickets, .backup, .live, .ready, .metrics, .asset, .debugEcho,
            .debugWebSocket:
            .none
        }
    }

    enum SecretPlace {
        /// Nothing about it is secret.
        case none
        /// The secret may stand in a field.
        case possible
        /// There is a secret, or the request is refused.
        case present
    }

    /// Whether credentials are looked at: health and files are for everybody.
    var asksCredentials: Bool { !isService || self == .metrics }

    /// Whether it opens a WebSocket; a comparison of routes looks at what they carry.
    var isWebSocket: Bool { if case .webSocket = self { true } else { false } }

    /// Whether credentials may come as a ticket, or in the list of subprotocols.
    var isStream: Bool {
        switch self {
        case .webSocket, .events: true
        case .channelPost, .channels, .notifications, .notification, .observers, .observer,
            .mailbox, .clients, .client, .centers, .center, .queue, .queueEntry, .modes, .mode,
            .explain, .leaks, .unmatched, .tickets, .backup, .live, .ready, .metrics, .asset,
            .debugEcho, .debugWebSocket:
            false
        }
    }
}

/// Some methods, for a decision and for the `Allow` field.
struct AllowedMethods: OptionSet {
    let rawValue: UInt8

    /// GET, and HEAD with it.
    static let get = AllowedMethods(rawValue: 1)
    static let post = AllowedMethods(rawValue: 2)
    static let delete = AllowedMethods(rawValue: 4)
    /// GET of something that never ends.
    static let getWithoutHead = AllowedMethods(rawValue: 8)
    static let patch = AllowedMethods(rawValue: 16)

    /// Whether a method is among them.
    func allow(_ method: HTTPMethod) -> Bool {
        switch method {
        case .get: contains(.get) || contains(.getWithoutHead)
        case .head: contains(.get)
        case .post: contains(.post)
        case .delete: contains(.delete)
        case .patch: contains(.patch)
        case .put, .options, .trace, .connect, .other: false
        }
    }

    /// The names of the methods with OPTIONS, as the `Allow` field has them.
    var text: String {
        var names: [String] = []
        if contains(.get) { names += ["GET", "HEAD"] }
        if contains(.getWithoutHead) { names.append("GET") }
        if contains(.post) { names.append("POST") }
        if contains(.delete) { names.append("DELETE") }
        if contains(.patch) { names.append("PATCH") }
        return (names + ["OPTIONS"]).joined(separator: ", ")
    }
}

/// A path that was understood.
struct RoutedPath: Equatable {
    /// The center that the path names, or `default`.
    var center: [UInt8]
    /// Whether the path named it, so that answers do too.
    var hasCenterPrefix: Bool
    /// What is asked for.
    var route: Route

    static let defaultCenter = Array("default".utf8)

    /// Where the paths of this center start: `/v1` or `/v1/centers/{center}`.
    var prefix: [UInt8] {
        hasCenterPrefix
            ? Array("/v1/centers/".utf8) + Self.encoded(center) : Self.defaultPrefix
    }

    private static let defaultPrefix = Array("/v1".utf8)

    private static func encoded(_ name: [UInt8]) -> [UInt8] {
        var text: [UInt8] = []
        PercentEncoding.encode(name.span, into: &text)
        return text
    }

    /// The server as a whole: what `OPTIONS *` asks about.
    static let server = RoutedPath(route: .live, isServer: true)

    /// Whether this is the server as a whole.
    private(set) var isServer = false

    private init(route: Route, isServer: Bool) {
        center = Self.defaultCenter
        hasCenterPrefix = false
        self.route = route
        self.isServer = isServer
    }

    /// The path of a channel of the default center.
    init(channel name: [UInt8]) {
        center = Self.defaultCenter
        hasCenterPrefix = false
        route = .channelPost(name: name)
    }

    /// Reads the segments of a path.
    ///
    /// - Returns: nil where nothing is.
    init?(_ segments: borrowing PathSegments, hasDebugEndpoints: Bool) {
        center = Self.defaultCenter
        hasCenterPrefix = false
        guard segments.count > 0 else { return nil }
        guard segments.segment(0, is: "v1") else {
            guard let route = Self.serviceRoute(segments, hasDebugEndpoints: hasDebugEndpoints)
            else { return nil }
            self.route = route
            return
        }
        var start = 1
        if segments.count >= 3, segments.segment(1, is: "centers") {
            hasCenterPrefix = true
            center = [UInt8](copying: segments[2])
            start = 3
            guard !center.isEmpty else { return nil }
        }
        guard let route = Self.centerRoute(segments, from: start) else { return nil }
        if hasCenterPrefix, route.isOfBroker { return nil }
        self.route = route
    }

    private static func centerRoute(_ segments: borrowing PathSegments, from start: Int) -> Route? {
        switch segments.count - start {
        case 0:
            return start > 1 ? .center : nil
        case 1:
            return collectionRoutes.first { segments.segment(start, is: $0.name) }?.route
        case 2:
            let last = segments[start + 1]
            guard !last.isEmpty else { return nil }
            if segments.segment(start, is: "reports") {
                if segments.segment(start + 1, is: "leaks") { return .leaks }
                return segments.segment(start + 1, is: "unmatched") ? .unmatched : nil
            }
            return memberRoutes.first { segments.segment(start, is: $0.name) }?
                .route([UInt8](copying: last))
        case 3:
            let token = segments[start + 1]
            guard !token.isEmpty, segments.segment(start, is: "observers"),
                segments.segment(start + 2, is: "notifications")
            else { return nil }
            return .mailbox(token: [UInt8](copying: token))
        default:
            return nil
        }
    }

    private static func serviceRoute(
        _ segments: borrowing PathSegments, hasDebugEndpoints: Bool
    ) -> Route? {
        if segments.count == 2, hasDebugEndpoints, segments.segment(0, is: "debug") {
            if segments.segment(1, is: "echo") { return .debugEcho }
            return segments.segment(1, is: "ws") ? .debugWebSocket : nil
        }
        guard segments.count == 1 else { return nil }
        return serviceRoutes.first { segments.segment(0, is: $0.name) }?.route
    }

    /// The paths of a center that have one segment behind its prefix.
    static let collectionRoutes: [(name: String, route: Route)] = [
        ("notifications", .notifications), ("observers", .observers), ("ws", .webSocket),
        ("events", .events), ("channels", .channels), ("clients", .clients),
        ("centers", .centers), ("tickets", .tickets), ("backup", .backup), ("queue", .queue),
        ("modes", .modes), ("explain", .explain),
    ]

    /// The paths of a center that have a name, an id or a token behind a word.
    static let memberRoutes: [(name: String, route: @Sendable ([UInt8]) -> Route)] = [
        ("channels", { .channelPost(name: $0) }), ("observers", { .observer(token: $0) }),
        ("notifications", { .notification(id: $0) }), ("clients", { .client(id: $0) }),
        ("queue", { .queueEntry(id: $0) }), ("modes", { .mode(token: $0) }),
    ]

    /// The service paths that always exist.
    static let serviceRoutes: [(name: String, route: Route)] = [
        ("livez", .live), ("readyz", .ready), ("healthz", .ready), ("metrics", .metrics),
        ("", .asset(.console)), ("console.js", .asset(.consoleScript)),
        ("belfry.js", .asset(.library)), ("openapi.yaml", .asset(.openAPI)),
        ("openapi.json", .asset(.openAPIJSON)), ("asyncapi.yaml", .asset(.asyncAPI)),
    ]
}
