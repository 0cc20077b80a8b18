import ArgumentParser
import BelfryClient
import BelfrySystem

/// `belfry history`.
struct History: ClientCommand {
    static let configuration = CommandConfiguration(
        commandName: "history",
        abstract: "Print what is kept of a channel, the oldest first.",
        discussion: """
            It prints lines as `belfry observe` does, and ends behind the newest one; with \
            --follow it goes on with each notification as it comes, none missing between. A \
            channel is kept by an archive: `belfry archive set` makes one.
            """)

    @Argument(help: .value("The notification name.", "NAME"), completion: Completing.channels)
    var name: String

    @Flag(help: "Take NAME for the beginning of names: all channels that begin so.")
    var prefix = false

    @Option(
        help: .value("The object. Without it, any object.", "OBJECT"),
        completion: Completing.objects)
    var object: String?

    @OptionGroup var condition: ConditionOption
    @OptionGroup var start: BeginningOptions

    @Option(
        help: .value("Only what was posted at this time or later: 2026-11-22T06:00:00Z.", "TIME"),
        transform: ArgumentText.time)
    var from: String?

    @Option(
        help: .value("Only what was posted before this time.", "TIME"),
        transform: ArgumentText.time)
    var until: String?

    @Flag(help: "Go on with what is posted from now on, until Ctrl-C.")
    var follow = false

    @OptionGroup var following: FollowOptions
    @OptionGroup var place: PlaceOptions
    @OptionGroup var report: ReportOptions

    func validate() throws {
        if follow, until != nil {
            throw ValidationError("--until ends in the past: leave out --follow.")
        }
        if from != nil, case .from = start.beginning {
            throw ValidationError("Give the time with --since or with --from: one of them.")
        }
    }

    /// The notifications, on pages as large as they may be.
    var query: PastQuery {
        var filter = NotificationFilter(
            names: prefix ? .prefix(name) : .exactly(name), where: condition.value)
        if let object { filter.objects = .exactly(object) }
        var query = PastQuery(filter)
        query.from = from
        query.until = until
        query.limit = 1_000
        switch start.beginning {
        case .after(let number): query.after = number
        case .from(let time): query.from = time
        case .last(let count):
            query.last = count
            query.limit = nil
        case .lastEach(let count):
            query.lastEach = count
            query.limit = nil
        case .oldest, nil: break
        }
        return query
    }

    func perform(_ signals: StopSignals) async throws(ToolError) {
        let url = try place.brokerURL()
        let shape = try NotificationLine(report)
        let query = query
        let end = try await signals.run { () async throws(ToolError) in
            try await Self.print(query, from: url, shape)
        }
        guard follow, let end else { return }
        do throws(ClientError) {
            let center = try await following.connect(to: url, readsPast: true)
            let observation = try await center.addObserver(for: query.filter, since: .after(end))
            try await Following.print(
                observation, count: nil, until: signals, close: { await center.close() }
            ) { (notification) async throws(ClientError) in
                Following.sayLoss(notification, of: "notifications")
                return Following.write(shape.line(notification))
            }
        } catch {
            throw .failure("\(url): \(error)")
        }
    }

    /// Prints all pages.
    ///
    /// - Returns: The number behind which live ones follow; nil when the reader is gone, or the
    ///   task is cancelled.
    private static func print(
        _ query: PastQuery, from url: BrokerURL, _ shape: NotificationLine
    ) async throws(ToolError) -> UInt64? {
        var wanted: PastQuery? = query
        var end: UInt64?
        while let query = wanted {
            let page: PastPage
            do throws(ClientError) {
                page = try PastPage(
                    json: try await HTTPRequest.past(query).acceptedAnswer(from: url).content)
            } catch {
                if error == .cancelled { return nil }
                throw .failure("\(url): \(error)")
            }
            for gap in page.gaps { Following.sayLoss(gap.lostCount, gap.reason, "notifications") }
            for notification in page.notifications {
                guard Following.write(shape.line(notification)) else { return nil }
            }
            if page.isPartial { sayPartial(page) }
            end = page.sequence
            wanted = query.following(page)
        }
        return end
    }

    /// Reports that an answer had no room for all that was asked for.
    private static func sayPartial(_ page: PastPage) {
        guard let oldest = page.notifications.first?.postedAt else { return }
        Screen.say(
            "belfry: these are the newest that an answer has room for; --until \(oldest) gives "
                + "earlier ones", to: .error)
    }
}
