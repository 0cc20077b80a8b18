import ArgumentParser
import BelfryClient

extension HTTPRequest {
    /// Asks whether a broker is ready, in a form that no other server has.
    static var readiness: HTTPRequest {
        var request = HTTPRequest.get("/readyz")
        request.query = [("verbose", "true")]
        request.form = .object(["ready"])
        return request
    }
}

/// `belfry healthcheck`.
struct Healthcheck: ClientCommand {
    static let configuration = CommandConfiguration(
        abstract: "Ask a broker whether it is ready: exit code 0 when it is, else 1.",
        discussion: """
            Without --url it asks the broker of this machine: at the port of BELFRY_LISTEN, or \
            at port 8080.
            """)

    @OptionGroup var place: PlaceOptions

    func perform(_ signals: StopSignals) async throws(ToolError) {
        let environment = try Environment.variables()
        let url = try PlaceOptions.ownURL(flag: place.url, ca: place.ca, environment: environment)
        var request = HTTPRequest.readiness
        request.timeout = .seconds(5)
        _ = try await request.requiredAnswer(from: url)
    }
}
