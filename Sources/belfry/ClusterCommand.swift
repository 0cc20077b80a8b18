import ArgumentParser
import BelfryClient

/// `belfry cluster`.
struct ClusterCommands: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cluster",
        abstract: "Show the cluster, and change settings that all brokers share.",
        subcommands: [
            ClusterStatusCommand.self, ClusterUpgradeCommand.self, ClusterConfigureCommand.self,
            ClusterRecoverCommand.self,
        ])
}

/// `belfry cluster upgrade`.
struct ClusterUpgradeCommand: ClientCommand {
    static let configuration = CommandConfiguration(
        commandName: "upgrade",
        abstract: "Switch the cluster to the rules of the new program, once all brokers run it.",
        discussion: "There is no way back: an older program no longer starts.")

    @OptionGroup var place: PlaceOptions

    func perform(_ signals: StopSignals) async throws(ToolError) {
        try await changeCluster("upgrade", at: place)
    }
}

/// `belfry cluster apply-config`.
struct ClusterConfigureCommand: ClientCommand {
    static let configuration = CommandConfiguration(
        commandName: "apply-config",
        abstract: "Apply the center limits of this broker's options to all brokers.")

    @OptionGroup var place: PlaceOptions

    func perform(_ signals: StopSignals) async throws(ToolError) {
        try await changeCluster("apply-config", at: place)
    }
}

/// `belfry cluster recover`.
struct ClusterRecoverCommand: ClientCommand {
    static let configuration = CommandConfiguration(
        commandName: "recover",
        abstract: "Continue the log from the state of one broker.",
        discussion: """
            The engine has lost entries, so the broker has stopped with the reason lost-entries. \
            It takes part again in a moment; then restart the others. Observers are told that they \
            may have lost notifications.
            """)

    @OptionGroup var place: PlaceOptions
    @Option(help: "The name of the broker whose state is kept: the one at --url.")
    var from: String

    func perform(_ signals: StopSignals) async throws(ToolError) {
        let status = try await HTTPRequest.cluster(.get("/v1/cluster")).requiredAnswer(
            from: place.brokerURL())
        let node = Report.cell(JSONObject(status.content)?.raw("node"))
        guard node == from else {
            throw ToolError.usage(
                "--from says \(from), and this is the broker \(node): say its address with --url.")
        }
        try await changeCluster("recover", at: place)
    }
}

extension HTTPRequest {
    /// A request that is answered with the state of a cluster.
    fileprivate static func cluster(_ request: HTTPRequest) -> HTTPRequest {
        var request = request
        request.form = .object(["node"])
        return request
    }
}

/// Asks a broker for a change of its cluster, and writes what holds then.
private func changeCluster(_ change: String, at place: PlaceOptions) async throws(ToolError) {
    let request = HTTPRequest.cluster(.post("/v1/cluster/\(change)", json: []))
    let answer = try await request.requiredAnswer(from: place.brokerURL())
    try Report.write(Report.oneLine(answer.content))
}

/// `belfry cluster status`.
struct ClusterStatusCommand: ClientCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Show the state of a broker in its cluster; the broker need not be ready.")

    @OptionGroup var place: PlaceOptions
    @OptionGroup var report: ReportOptions

    func perform(_ signals: StopSignals) async throws(ToolError) {
        let answer = try await HTTPRequest.cluster(.get("/v1/cluster")).requiredAnswer(
            from: place.brokerURL())
        guard report.isForPeople, let status = JSONObject(answer.content) else {
            return try Report.write(Report.oneLine(answer.content))
        }
        try Report.write(Array(Self.text(status).utf8))
    }

    /// The report for people.
    static func text(_ status: JSONObject) -> String {
        let node = Report.cell(status.raw("node"))
        let reason = status.raw("reason").map { ": \(Report.cell($0))" } ?? ""
        let isReady = Report.cell(status.raw("ready")) == "true"
        let state = isReady ? "takes part" : "does not take part\(reason)"
        return """
            \(node) \(state). It has applied entry \(Report.cell(status.raw("index"))), digest \
            \(Report.cell(status.raw("digest"))); \(Report.cell(status.raw("lag"))) more are known.

            \(Report.table(["name", "up", "p"], status.objects("nodes")))
            """
    }
}
