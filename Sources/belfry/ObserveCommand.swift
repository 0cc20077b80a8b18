import ArgumentParser
import BelfryClient
import BelfrySystem

/// `belfry observe`.
struct Observe: ClientCommand {
    static let configuration = CommandConfiguration(
        abstract: "Print each notification as it comes, until Ctrl-C.",
        discussion: """
            On a terminal a line has the time (UTC), the name, the object and the userInfo; \
            elsewhere, and with --json, it is the notification as JSON. Losses are reported on \
            standard error. After a lost connection the command connects again and gets what it \
            missed, as far as the broker has it. It removes its observer before it ends.

            With --target and --selector nothing is printed: until Ctrl-C each notification calls \
            the selector of the responder at that address, such as `belfry respond`.
            """)

    @Argument(
        help: .value("The notification name. Without it, any name.", "NAME"),
        completion: Completing.channels)
    var name: String?

    @Option(
        help: .value("The object. Without it, any object.", "OBJECT"),
        completion: Completing.objects)
    var object: String?

    @OptionGroup var choice: FilterOptions
    @OptionGroup var start: BeginningOptions

    @Option(
        help: .value(
            "Send each notification to the responder at this address; needs NAME, or --name.",
            "OBJECT"),
        completion: Completing.addresses)
    var target: String?

    @Option(
        help: .value("What is called at the target.", "SELECTOR"), completion: Completing.selectors)
    var selector: String?

    @Flag(help: "Use Server-Sent Events instead of a WebSocket.")
    var sse = false

    @Option(help: .value("End after this many notifications.", "N"))
    var count: Int?

    @Flag(
        help: """
            Acknowledge each notification when its line is written; with --target its responder \
            answers (WebSocket only).
            """)
    var acknowledge = false

    @Option(
        help: .value(
            "In this time print only the last of each name and object: 500ms, 8s.",
            "TIME"), transform: ArgumentText.duration)
    var minInterval: Duration?

    @OptionGroup var following: FollowOptions
    @OptionGroup var place: PlaceOptions
    @OptionGroup var report: ReportOptions

    func validate() throws {
        if let count, count < 1 { throw ValidationError("--count must be at least 1") }
        try choice.check(name: name, object: object)
        if (target == nil) != (selector == nil) {
            throw ValidationError("Give --target and --selector, or neither.")
        }
        if target != nil, !choice.choosesNames(besides: name) {
            throw ValidationError("--target needs a NAME.")
        }
        if target != nil, start.beginning != nil {
            throw ValidationError(
                "--target sends what is posted from now on: leave out --since and --last")
        }
        if target != nil, sse || count != nil || minInterval != nil {
            throw ValidationError(
                "--sse, --count and --min-interval are of what is printed: leave out --target")
        }
        if sse, acknowledge || minInterval != nil {
            throw ValidationError(
                "--acknowledge and --min-interval need a WebSocket: leave out --sse")
        }
    }

    func perform(_ signals: StopSignals) async throws(ToolError) {
        let url = try place.brokerURL()
        let shape = try NotificationLine(report)
        let filter = choice.filter(name: name, object: object)
        if sse {
            let follower = StreamFollower(
                url: url, filter: filter, start: start.beginning, count: count,
                reconnects: following.reconnect, shape: shape)
            return try await signals.run { () async throws(ToolError) in
                try await follower.run()
            }
        }
        do throws(ClientError) {
            let center = try await following.connect(to: url, readsPast: start.beginning != nil)
            var terms = ObserverOptions()
            terms.acknowledges = acknowledge
            terms.minInterval = minInterval
            // It is the only one of this connection.
            terms.ownsConnection = false
            let observation =
                if let target, let selector {
                    try await center.addObserver(
                        for: filter, target: target, selector: selector, options: terms)
                } else {
                    try await center.addObserver(
                        for: filter, since: start.beginning, options: terms)
                }
            try await print(observation, shape, until: signals) { await center.close() }
        } catch {
            throw .failure("\(url): \(error)")
        }
    }

    private func print(
        _ observation: Observation, _ shape: NotificationLine, until signals: StopSignals,
        close: @escaping @Sendable () async -> Void
    ) async throws(ClientError) {
        try await Following.print(observation, count: count, until: signals, close: close) {
            (notification) async throws(ClientError) in
            Following.sayLoss(notification, of: "notifications")
            guard Following.write(shape.line(notification)) else { return false }
            try await observation.acknowledge(notification)
            return true
        }
    }
}
