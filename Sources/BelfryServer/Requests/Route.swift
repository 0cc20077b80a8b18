/// What a request asks for, by its path and its method: something of the broker as a whole, one of its files, or
/// something of a center.
enum Route: Equatable {
    case service(ServiceRoute)
    case file(Asset)
    case center(CenterRoute)

    /// All that is decided by path and method.
    var row: RouteRow {
        switch self {
        case .service(let route): route.row
        case .file(let asset): asset.row
        case .center(let route): route.row
        }
    }

    /// Every route, those of a center first.
    static let all =
        CenterRoute.allCases.map(Route.center) + ServiceRoute.allCases.map(Route.service)
        + Asset.allCases.map(Route.file)
}
