import BelfryHTTP

/// What a request asks for, as its path says.
enum Route: Equatable {
    case channelPost(name: [UInt8])
    case channels
    case notifications
    case notification(id: [UInt8])
    case observers
    case observer(token: [UInt8])
    case clients
    case client(id: [UInt8])
    case centers
    case explain
    case leaks
    case unmatched
    case webSocket
    case events
    case live
    case ready
    case metrics
    case asset(Asset)
    case debugEcho
    case debugWebSocket

    /// The methods that the route answers to, besides OPTIONS, as the `Allow` field has them.
    var allowedMethods: String {
        switch self {
        case .channelPost, .debugEcho: "POST"
        case .notifications: "POST"
        case .observers: "GET, HEAD, POST"
        case .observer: "GET, HEAD, DELETE"
        case .client: "DELETE"
        case .webSocket, .debugWebSocket, .events: "GET"
        case .channels, .notification, .clients, .centers, .explain, .leaks, .unmatched, .live,
            .ready, .metrics, .asset:
            "GET, HEAD"
        }
    }

    /// Whether it belongs to the service and not to a center: unknown query parameters are ignored.
    var isService: Bool {
        switch self {
        case .live, .ready, .metrics, .asset, .debugEcho, .debugWebSocket: true
        case .channelPost, .channels, .notifications, .notification, .observers, .observer,
            .clients, .client, .centers, .explain, .leaks, .unmatched, .webSocket, .events:
            false
        }
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
            ? Array("/v1/centers/".utf8) + Self.encoded(center) : Array("/v1".utf8)
    }

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

    /// Reads the decoded segments of a path.
    ///
    /// - Returns: nil where nothing is.
    init?(segments: [[UInt8]], hasDebugEndpoints: Bool) {
        center = Self.defaultCenter
        hasCenterPrefix = false
        guard let first = segments.first else { return nil }
        if !first.elementsEqual("v1".utf8) {
            let name = segments.map { String(decoding: $0, as: UTF8.self) }.joined(separator: "/")
            guard let route = Self.serviceRoutes[name],
                hasDebugEndpoints || (route != .debugEcho && route != .debugWebSocket)
            else { return nil }
            self.route = route
            return
        }
        var rest = segments.dropFirst()
        if rest.count >= 3, rest[1].elementsEqual("centers".utf8) {
            hasCenterPrefix = true
            center = rest[2]
            rest = rest.dropFirst(2)
            guard !center.isEmpty else { return nil }
        }
        guard let route = Self.centerRoute(Array(rest)) else { return nil }
        if hasCenterPrefix, route == .centers { return nil }
        self.route = route
    }

    private static func centerRoute(_ segments: [[UInt8]]) -> Route? {
        switch segments.count {
        case 1:
            return centerRoutes[String(decoding: segments[0], as: UTF8.self)]
        case 2:
            let last = segments[1]
            guard !last.isEmpty else { return nil }
            switch String(decoding: segments[0], as: UTF8.self) {
            case "channels": return .channelPost(name: last)
            case "notifications": return .notification(id: last)
            case "observers": return .observer(token: last)
            case "clients": return .client(id: last)
            case "reports" where last.elementsEqual("leaks".utf8): return .leaks
            case "reports" where last.elementsEqual("unmatched".utf8): return .unmatched
            default: return nil
            }
        default:
            return nil
        }
    }

    static let centerRoutes: [String: Route] = [
        "channels": .channels, "notifications": .notifications, "observers": .observers,
        "clients": .clients, "centers": .centers, "explain": .explain, "ws": .webSocket,
        "events": .events,
    ]

    static let serviceRoutes: [String: Route] = [
        "": .asset(.console), "livez": .live, "readyz": .ready, "healthz": .ready,
        "metrics": .metrics, "openapi.yaml": .asset(.openAPI), "asyncapi.yaml": .asset(.asyncAPI),
        "belfry.js": .asset(.library), "console.js": .asset(.consoleScript),
        "debug/echo": .debugEcho, "debug/ws": .debugWebSocket,
    ]
}
