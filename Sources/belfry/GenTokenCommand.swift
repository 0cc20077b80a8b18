import ArgumentParser
import BelfryAccess
import BelfryJSON
import BelfryServer
import BelfrySystem
import BelfryWire

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

    @Option(
        help: .value(
            "When the key expires: 2027-01-31T00:00:00Z, or a time from now such as 90d.", "TIME"),
        transform: Self.expiry)
    var expires: String?

    /// Reads a time of RFC 3339, or one from now.
    static func expiry(_ text: String) throws -> String {
        guard let duration = Quantity.duration(text) else { return text }
        var time: [UInt8] = []
        let now = WallTime.now().milliseconds
        TimeText.append(milliseconds: now + Int64(duration / .milliseconds(1)), to: &time)
        return String(decoding: time, as: UTF8.self)
    }

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
        let row = row(of: key, list)
        do throws(AccessError) {
            // A key that the broker would refuse is not printed.
            _ = try Keyring(keys: Array(#"{"keys":["#.utf8) + row + Array("]}".utf8), keySet: nil)
        } catch {
            throw .usage("the key would be refused: \(error.sentence)")
        }
        try Report.write(Array(key.token.utf8))
        try Report.write(row)
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
        if let expires { writer.member("expires", string: expires, into: &bytes) }
        writer.endObject(into: &bytes)
        return bytes
    }
}
