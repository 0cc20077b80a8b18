import BelfryAccess

/// A kind of request to the broker as a whole.
enum ServiceRoute: CaseIterable {
    case live
    case ready
    /// Another name of `ready`.
    case health
    case metrics
    case overview
    case cluster
    case upgradeCluster
    case configureCluster
    case recoverCluster
    case centers
    case me
    case tickets
    case backup
    /// The library for browsers at a path whose bytes never change.
    case fixedLibrary
    case tryPage
    /// The modules and the styles of the console page.
    case consoleFile
    /// The modules, the style, the icons and the manifest of the desk.
    case deskFile
    case debugEcho
    case debugWebSocket

    /// The facts that path and method decide.
    var row: RouteRow {
        switch self {
        case .live:
            RouteRow(.get, "/livez", .looks, .nothing, guarding: .none, answering: .always)
        case .ready:
            RouteRow(.get, "/readyz", .looks, .nothing, guarding: .none, answering: .always)
        case .health:
            RouteRow(.get, "/healthz", .looks, .nothing, guarding: .none, answering: .always)
        case .metrics:
            RouteRow(.get, "/metrics", .looks, .somewhere(.inspect), answering: .onceRestored)
        case .overview: RouteRow(.get, "/v1/overview", .looks, .somewhere(.inspect))
        case .cluster: RouteRow(.get, "/v1/cluster", .looks, .somewhere(.inspect))
        case .upgradeCluster:
            RouteRow(.post, "/v1/cluster/upgrade", .acts, .everywhere(.admin))
        case .configureCluster:
            RouteRow(.post, "/v1/cluster/apply-config", .acts, .everywhere(.admin))
        case .recoverCluster:
            RouteRow(.post, "/v1/cluster/recover", .acts, .everywhere(.admin))
        case .centers: RouteRow(.get, "/v1/centers", .looks, .nothing)
        case .me: RouteRow(.get, "/v1/me", .looks, .nothing)
        case .tickets: RouteRow(.post, "/v1/tickets", .acts, .credentials)
        case .backup: RouteRow(.post, "/v1/backup", .acts, .everywhere(.admin))
        case .fixedLibrary:
            RouteRow(
                .get, "/belfry-{digest}.js", .looks, .nothing, guarding: .none,
                answering: .onceRestored)
        case .tryPage:
            RouteRow(.get, "/try", .looks, .nothing, guarding: .none, answering: .onceRestored)
        case .consoleFile:
            RouteRow(
                .get, "/console/{file}", .looks, .nothing, guarding: .none,
                answering: .onceRestored)
        case .deskFile:
            RouteRow(
                .get, "/desk/{file}", .looks, .nothing, guarding: .none, answering: .onceRestored)
        case .debugEcho:
            RouteRow(
                .post, "/debug/echo", .acts, .nothing, guarding: .debug, answering: .onceRestored)
        case .debugWebSocket:
            RouteRow(
                .getWithoutHead, "/debug/ws", .acts, .nothing, guarding: .debug,
                answering: .onceRestored)
        }
    }
}

extension Asset {
    /// The facts that path and method decide.
    var row: RouteRow {
        RouteRow(.get, facts.path, .looks, .nothing, guarding: .none, answering: .onceRestored)
    }
}
