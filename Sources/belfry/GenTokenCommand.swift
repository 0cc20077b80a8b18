import ArgumentParser
import BelfryAccess
import BelfryJSON
import BelfryServer

/// `belfry gen-token`.
struct GenToken: BlockingCommand {
    static let configuration = CommandConfiguration(
        commandName: "gen-token",
        abstract:
            "Make a key for a caller: print its token, and its row for the file that --keys names.",
        discussion: """
            The token is printed once and kept nowhere; the row has its hash. Rows stand in the \
            file as {"keys":[ROW, ROW]}.
            """)

    @Argument(help: .value("The id of the key, which is also the principal of its caller.", "ID"))
    var id: String

    @Option(
        help: .value(
            "What the caller may do: verbs separated by commas, or JSON grants.", "GRANTS"),
        completion: .list(Verbs.names.map(\.name)))
    var grants = "post,observe"

    @Option(help: .value("The principal of the caller, if it is not the id.", "NAME"))
    var principal: String?

    func perform() throws(ToolError) {
        for name in [id, principal ?? id] where !Caller.isPrincipal(Array(name.utf8)) {
            throw .usage("`\(name)` \(Caller.principalRule)")
        }
        let list: GrantList
        do throws(GrantList.Fault) {
            list = try GrantList(grants)
        } catch {
            throw .usage("--grants: \(error.text)")
        }
        let key = GeneratedKey()
        try Report.write(Array(key.token.utf8))
        try Report.write(row(of: key, list))
    }

    /// The row of a key as JSON.
    func row(of key: GeneratedKey, _ grants: GrantList) -> [UInt8] {
        var bytes: [UInt8] = []
        var writer = JSONWriter()
        writer.beginObject(into: &bytes)
        writer.member("id", string: id, into: &bytes)
        if let principal { writer.member("principal", string: principal, into: &bytes) }
        writer.member("hash", string: key.hash, into: &bytes)
        writer.key("grants", into: &bytes)
        grants.append(to: &bytes, with: &writer)
        writer.endObject(into: &bytes)
        return bytes
    }
}
