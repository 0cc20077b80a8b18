import ArgumentParser
import BelfryClient
import BelfrySystem

/// `belfry mailbox`.
struct MailboxCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "mailbox",
        abstract:
            "Observe without a connection: notifications are kept until they are acknowledged.",
        discussion: """
            TOKEN is what `new` prints: a secret that reads the mailbox and removes it (`belfry \
            remove TOKEN`). A mailbox that is not read expires with its lease.
            """,
        subcommands: [
            NewMailbox.self, ReadMailbox.self, FollowMailbox.self, AcknowledgeMailbox.self,
        ])
}

/// `belfry mailbox new`.
struct NewMailbox: ClientCommand {
    static let configuration = CommandConfiguration(
        commandName: "new", abstract: "Make a mailbox, and print its token.")

    @Argument(
        help: .value("The notification name. Without it, any name.", "NAME"),
        completion: Completing.channels)
    var name: String?

    @Option(
        help: .value("The object. Without it, any object.", "OBJECT"),
        completion: Completing.objects)
    var object: String?

    @OptionGroup var choice: FilterOptions

    @Option(
        help: .value(
            "How long the mailbox is kept after it was last read, at most 30d. Default: 24h.",
            "TIME"),
        transform: ArgumentText.duration)
    var lease: Duration?

    @Option(
        help: .value("How many notifications it keeps at most. The broker's default is 1000.", "N"))
    var holdLimit: Int?

    @Option(
        help: .value("What to keep between two reads: hold, coalesce or drop.", "WORD"),
        completion: .list(["hold", "coalesce", "drop"]), transform: ArgumentText.word)
    var suspensionBehavior: SuspensionBehavior?

    @OptionGroup var start: BeginningOptions

    @Flag(help: "Print the whole registration as JSON.")
    var json = false

    @OptionGroup var place: PlaceOptions

    func validate() throws {
        try choice.check(name: name, object: object)
    }

    func perform(_ signals: StopSignals) async throws(ToolError) {
        var options = ObserverOptions()
        options.lease = lease.map { .limited($0) }
        options.holdLimit = holdLimit
        options.suspensionBehavior = suspensionBehavior
        let request = HTTPRequest.mailbox(
            for: choice.filter(name: name, object: object), since: start.beginning,
            options: options)
        let answer = try await request.requiredAnswer(from: place.brokerURL())
        let token = JSONObject(answer.content)?.string("token").map { Array($0.utf8) }
        try Report.write(json ? Report.oneLine(answer.content) : token ?? answer.content)
    }
}

/// Which mailbox a command is about.
struct MailboxToken: ParsableArguments {
    @Argument(help: .value("The token of the mailbox.", "TOKEN"))
    var token: String

    func validate() throws {
        let id = HTTPRequest.publicHalf(of: token).utf8
        let isID =
            id.first == UInt8(ascii: "o") && id.count > 1
            && id.dropFirst().allSatisfy { 0x30...0x39 ~= $0 }
        guard isID, (try? HTTPRequest.mailboxContent(token)) != nil else {
            throw ValidationError(
                "`\(token)` is not a mailbox token, such as o17.kJ3vW0y8Qm2sXb7TzR5LdA; "
                    + "`belfry mailbox new` prints one.")
        }
    }

    /// The request that looks into it.
    func look(
        after: UInt64? = nil, limit: Int? = nil, wait: Duration? = nil
    ) throws(ToolError) -> HTTPRequest {
        do throws(ClientError) {
            return try .mailboxContent(token, after: after, limit: limit, wait: wait)
        } catch {
            throw ToolError(error)
        }
    }
}

/// `belfry mailbox read`.
struct ReadMailbox: ClientCommand {
    static let configuration = CommandConfiguration(
        commandName: "read",
        abstract: "Print what is in a mailbox; it stays there until it is acknowledged.",
        discussion: """
            As JSON the answer has the notifications, the gaps, and `next`: what `belfry mailbox \
            ack` and --after take to acknowledge all that was printed.
            """)

    @OptionGroup var mailbox: MailboxToken

    @Option(help: .value("Acknowledge everything up to this seq first.", "SEQ"))
    var after: UInt64?

    @Option(help: .value("Print this many at most: 1 to 1000. Default: 100.", "N"))
    var limit: Int?

    @Option(
        help: .value("Wait this long for the first one, at most 60s.", "TIME"),
        transform: ArgumentText.duration)
    var wait: Duration?

    @OptionGroup var place: PlaceOptions
    @OptionGroup var report: ReportOptions

    func perform(_ signals: StopSignals) async throws(ToolError) {
        let request = try mailbox.look(after: after, limit: limit, wait: wait)
        let answer = try await request.requiredAnswer(from: place.brokerURL())
        guard report.isForPeople else {
            return try Report.write(Report.oneLine(answer.content))
        }
        let page = try MailboxPage(answer)
        page.sayGaps()
        let shape = try NotificationLine(report)
        for notification in page.notifications { try Report.write(shape.line(notification)) }
        if page.notifications.isEmpty, page.gaps.isEmpty {
            return Screen.say("The mailbox is empty.", to: .error)
        }
        Screen.say("Acknowledge up to seq \(page.next).", to: .error)
    }
}

/// `belfry mailbox ack`.
struct AcknowledgeMailbox: ClientCommand {
    static let configuration = CommandConfiguration(
        commandName: "ack",
        abstract: "Acknowledge everything in a mailbox up to a seq, which removes it.")

    @OptionGroup var mailbox: MailboxToken

    @Argument(help: .value("The seq of the last one, which `read` prints as `next`.", "SEQ"))
    var sequence: UInt64

    @OptionGroup var place: PlaceOptions

    func perform(_ signals: StopSignals) async throws(ToolError) {
        let request = try mailbox.look(after: sequence, limit: 1)
        _ = try await request.requiredAnswer(from: place.brokerURL())
    }
}

/// A page of a mailbox.
struct MailboxPage {
    let notifications: [ReceivedNotification]
    let gaps: [JSONObject]
    /// The `after` of the next look.
    let next: UInt64

    init(_ answer: HTTPAnswer) throws(ToolError) {
        guard let page = JSONObject(answer.content),
            let next = page.integer("next").flatMap({ UInt64(exactly: $0) })
        else { throw ToolError(.notUnderstood) }
        self.next = next
        gaps = page.objects("gaps")
        do throws(ClientError) {
            notifications = try page.objects("notifications").map { row throws(ClientError) in
                try ReceivedNotification(json: row.json)
            }
        } catch {
            throw ToolError(error)
        }
    }

    /// Reports losses on standard error.
    func sayGaps() {
        for gap in gaps {
            let lost = gap.integer("lost").map { "\($0)" } ?? "some"
            let reason = Report.cell(gap.raw("reason"))
            Screen.say("belfry: \(lost) notifications were lost (\(reason))", to: .error)
        }
    }
}
