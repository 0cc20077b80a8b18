/// The thing that path and method ask for: of the broker as a whole, a file, or of a center.
enum Route: Equatable {
    case service(ServiceRoute)
    case file(Asset)
    case center(CenterRoute)

    /// The facts that path and method decide.
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
