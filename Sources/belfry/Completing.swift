import ArgumentParser
import BelfryClient

/// The completions of an argument: names that the broker of BELFRY_URL knows, and files.
///
/// A shell asks `belfry names`, which says nothing when there is no such broker.
enum Completing {
    /// Notification names.
    static let channels = names(.channels)
    /// Objects that observers want.
    static let objects = names(.objects)
    /// Addresses that responders hold.
    static let addresses = names(.addresses)
    /// The selectors of responders.
    static let selectors = names(.selectors)
    /// Objects that have a value.
    static let values = names(.values)
    /// Notifications that wait in the queue.
    static let entries = names(.entries)
    /// Open asks.
    static let asks = names(.asks)
    /// Observers and clients.
    static let ids = names(.ids)
    /// Certificates.
    static let certificates = CompletionKind.file(extensions: ["pem", "crt", "cert"])

    /// The flags of `serve`.
    static let serveOptions = CompletionKind.list(
        ["--config"]
            + Setting.all.flatMap {
                $0.form == nil ? ["--\($0.name)", "--no-\($0.name)"] : ["--\($0.name)"]
            })

    private static func names(_ kind: NamesCommand.Kind) -> CompletionKind {
        .shellCommand("belfry names \(kind.rawValue) 2>/dev/null")
    }
}

/// `belfry names`, which is for the completions of shells alone.
struct NamesCommand: ClientCommand {
    /// The kind of names that are listed.
    enum Kind: String, ExpressibleByArgument, CaseIterable {
        case channels, objects, addresses, selectors, values, entries, asks, ids
    }

    static let configuration = CommandConfiguration(
        commandName: "names", abstract: "List names of the broker for the completions of a shell.",
        shouldDisplay: false)

    @Argument var kind: Kind
    @OptionGroup var place: PlaceOptions

    /// The longest that a shell waits for a completion.
    private static let timeout = Duration.seconds(2)

    func perform(_ signals: StopSignals) async throws(ToolError) {
        let url = try place.brokerURL()
        var names: Set<String> = []
        for (path, member, key) in kind.lists {
            var request = HTTPRequest.get(path)
            request.form = .object([member])
            request.query = [("limit", "1000")]
            request.timeout = Self.timeout
            let page = JSONObject(try await request.requiredAnswer(from: url).content)
            for row in page?.objects(member) ?? [] {
                names.formUnion(row.strings(key))
                if let name = row.string(key) { names.insert(name) }
            }
        }
        // A line is a name, and a name with a line end would be two.
        let lines = names.map(Screen.safe).sorted().joined(separator: "\n")
        if !lines.isEmpty { try Report.write(Array(lines.utf8)) }
    }
}

extension NamesCommand.Kind {
    /// The sources of the names: the path, the member with the rows, and the member with the names.
    fileprivate var lists: [(path: String, member: String, key: String)] {
        switch self {
        case .channels: [("channels", "channels", "name")]
        case .objects: [("observers", "observers", "object")]
        case .addresses: [("responders", "responders", "object")]
        case .selectors: [("responders", "responders", "implements")]
        case .values: [("values", "values", "object")]
        case .entries: [("queue", "entries", "id")]
        case .asks: [("asks", "asks", "id")]
        case .ids: [("observers", "observers", "id"), ("clients", "clients", "id")]
        }
    }
}
