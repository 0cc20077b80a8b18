import ArgumentParser
import BelfryClient

/// `belfry value watch`.
struct WatchValue: ClientCommand {
    static let configuration = CommandConfiguration(
        commandName: "watch",
        abstract: "Print a value now and after each change, until Ctrl-C.",
        discussion: "Each is one line of JSON, and null where there is no value.")

    @Argument(
        help: .value("The object that has the value.", "OBJECT"), completion: Completing.values)
    var object: String

    @Argument(help: .value("The keys, joined by points.", "KEYPATH"))
    var keyPath = ""

    @Flag(help: "Print the changes as the broker sends them, instead of the values.")
    var changes = false

    @Option(help: .value("End after this many lines.", "N"))
    var count: Int?

    @Option(
        help: .value("In this time print only the last value: 500ms, 8s.", "TIME"),
        transform: ArgumentText.duration)
    var minInterval: Duration?

    @OptionGroup var following: FollowOptions
    @OptionGroup var place: PlaceOptions

    func validate() throws {
        if let count, count < 1 { throw ValidationError("--count must be at least 1") }
    }

    func perform(_ signals: StopSignals) async throws(ToolError) {
        let url = try place.brokerURL()
        do throws(ClientError) {
            let center = try await following.connect(to: url)
            var terms = ValueOptions()
            terms.minInterval = minInterval
            terms.tellsOld = changes
            let observation = try await center.addObserver(
                object: object, keyPath: keyPath, options: terms)
            try await Following.print(observation, count: count, until: signals) {
                await center.close()
            } line: { (change) throws(ClientError) in
                Following.sayLoss(change.notification, of: "changes")
                let json =
                    changes ? change.notification.json : Array((change.value ?? "null").utf8)
                return Following.write(PrintedLine(Report.oneLine(json)))
            }
        } catch {
            throw .failure("\(url): \(error)")
        }
    }
}
