import BelfryHTTP
import Testing

@testable import BelfryServer

@Suite("openapi.yaml and the routes")
struct RouteTests {
    private let paths: [String: ContractValue]

    init() throws {
        paths = try ContractFile("openapi.yaml").yaml()["paths"].members
    }

    @Test("every path and method of the file is a route")
    func fileToRoutes() throws {
        for template in paths.keys {
            let path = try #require(routed(template), "no route for \(template)")
            if !path.route.isService {
                let prefix = path.hasCenterPrefix ? "/v1/centers/{center}" : "/v1"
                #expect(template == prefix + path.route.suffix)
            }
            #expect(methods(of: template) == path.route.documentedMethods, "\(template)")
        }
    }

    @Test("every route is in the file, with and without the prefix of a center")
    func routesToFile() {
        let documented = Set(paths.keys)
        var expected: Set<String> = []
        for route in Route.samples where !route.isService {
            expected.insert("/v1" + route.suffix)
            if !route.isOfBroker {
                expected.insert("/v1/centers/{center}" + route.suffix)
            }
            if route == .center { expected.remove("/v1") }
        }
        for (name, route) in RoutedPath.serviceRoutes where !route.isDebug {
            expected.insert("/" + name)
        }
        #expect(documented == expected)
    }

    @Test("each sample is found at its own path, and stands for every word that a path may have")
    func samples() {
        for route in Route.samples where !route.isService && route != .center {
            let path = routed("/v1" + route.suffix)
            #expect(path.map { $0.route.suffix } == route.suffix)
        }
        let sampled = Set(Route.samples.filter { !$0.isService }.map(\.suffix))
        for (word, route) in RoutedPath.collectionRoutes {
            #expect(route.suffix == "/" + word)
            #expect(sampled.contains("/" + word))
        }
        // Paths of later versions, and words of ours in places that are not theirs, are nothing.
        let words = Set(RoutedPath.collectionRoutes.map(\.name))
            .union(["reports"])
        for word in words {
            for below in words.union(["leaks", "unmatched", "x"]) {
                guard let path = routed("/v1/\(word)/\(below)") else { continue }
                #expect(sampled.contains(path.route.suffix), "/v1/\(word)/\(below)")
            }
        }
    }

    @Test("HEAD is answered wherever GET is, but not where an answer never ends, or acknowledges")
    func head() {
        for route in Route.samples where route.documentedMethods.contains("get") {
            let isEndless =
                route == .events || route == .webSocket || route == .debugWebSocket
                || route == .mailbox(token: [])
            #expect(route.allowedMethods.allow(.head) == !isEndless, "\(route)")
        }
    }

    @Test("the prefix of a center has no listing of centers below it")
    func centersBelowCenter() {
        #expect(routed("/v1/centers/{center}/centers") == nil)
    }

    /// The route of a path template; each parameter stands for itself.
    private func routed(_ template: String) -> RoutedPath? {
        // What a path has in braces is no character of a URI, so it is encoded here.
        let path = Array(template.utf8).flatMap {
            $0 == UInt8(ascii: "{")
                ? Array("%7B".utf8) : $0 == UInt8(ascii: "}") ? Array("%7D".utf8) : [$0]
        }
        var segments = PathSegments()
        do {
            try segments.read(path.span)
        } catch {
            return nil
        }
        return RoutedPath(segments, hasDebugEndpoints: false)
    }

    private func methods(of template: String) -> Set<String> {
        let all: Set = ["get", "put", "post", "delete", "patch", "head", "options", "trace"]
        return all.intersection(paths[template].map { Array($0.members.keys) } ?? [])
    }
}

extension Route {
    /// One of each case.
    fileprivate static let samples: [Route] =
        [
            .channelPost(name: []), .channels, .notifications, .notification(id: []), .observers,
            .observer(token: []), .mailbox(token: []), .clients, .client(id: []), .centers, .center,
            .queue, .queueEntry(id: []), .modes, .mode(token: []), .explain, .leaks, .unmatched,
            .webSocket, .events, .tickets, .backup, .live, .ready, .metrics, .debugEcho,
            .debugWebSocket,
        ] + Asset.allCases.map { .asset($0) }

    /// Where the route stands in the file, below `/v1`; a new case needs a path, and a sample above.
    fileprivate var suffix: String {
        switch self {
        case .channelPost: "/channels/{name}"
        case .channels: "/channels"
        case .notifications: "/notifications"
        case .notification: "/notifications/{id}"
        case .observers: "/observers"
        case .observer: "/observers/{idOrToken}"
        case .mailbox: "/observers/{idOrToken}/notifications"
        case .clients: "/clients"
        case .client: "/clients/{id}"
        case .centers: "/centers"
        case .center: ""
        case .queue: "/queue"
        case .queueEntry: "/queue/{id}"
        case .modes: "/modes"
        case .mode: "/modes/{token}"
        case .explain: "/explain"
        case .leaks: "/reports/leaks"
        case .unmatched: "/reports/unmatched"
        case .webSocket: "/ws"
        case .events: "/events"
        case .tickets: "/tickets"
        case .backup: "/backup"
        case .live, .ready, .metrics, .asset, .debugEcho, .debugWebSocket: ""
        }
    }

    fileprivate var isDebug: Bool { self == .debugEcho || self == .debugWebSocket }

    /// The methods that the file lists: HEAD goes with GET and is told once, in its introduction.
    fileprivate var documentedMethods: Set<String> {
        Set(allowedMethods.text.split(separator: ", ").map { $0.lowercased() })
            .subtracting(["head", "options"])
    }
}
