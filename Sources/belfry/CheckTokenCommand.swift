import ArgumentParser
import BelfryAccess
import BelfryServer
import BelfrySystem
import BelfryWire

/// `belfry check-token`.
struct CheckToken: BlockingCommand {
    static let configuration = CommandConfiguration(
        commandName: "check-token",
        abstract: "Say whose a token is and what it allows, or why a broker would refuse it.",
        usage: "belfry check-token [<TOKEN>] [<options of serve>]",
        discussion: """
            It takes the keys of the options, the environment and the file that `belfry serve` would: --keys, --jwks, \
            --jwt-audience and --jwt-issuer. Without TOKEN it is that of BELFRY_TOKEN; - reads it from standard input. \
            Other users can see what stands on a command line. The exit code is 1 for a token that is refused.
            """)

    @OptionGroup var options: ServeOptions

    func perform() throws(ToolError) {
        var serving = options
        var token: String?
        if let first = options.arguments.first, !first.hasPrefix("--") {
            token = first
            serving.arguments.removeFirst()
        }
        let environment = try Environment.variables()
        let text = try Self.token(token ?? environment["BELFRY_TOKEN"])
        let settings = try serving.settings()
        guard settings.server.access.hasFiles else {
            throw .usage("There are no keys to check it with: give --keys or --jwks.")
        }
        let keyring: Keyring
        do throws(StartError) {
            keyring = try Server.readKeys(settings.configuration, log: .silent)
        } catch {
            throw ToolError(error, dataDirectory: settings.dataDirectory)
        }
        try Report.write(try Self.verdict(text, keyring, now: WallTime.now().milliseconds))
    }

    private static func token(_ given: String?) throws(ToolError) -> [UInt8] {
        guard let given, !given.isEmpty else {
            throw .usage("Give a TOKEN, or set BELFRY_TOKEN.")
        }
        guard given == "-" else { return Array(given.utf8) }
        do throws(SystemCallError) {
            let input = try StandardStream.input.readAll(byteLimit: 64 << 10)
            return Array(input.prefix { !" \t\r\n".utf8.contains($0) })
        } catch {
            throw .failure("standard input cannot be read: \(error)")
        }
    }

    /// Whose a token is, as JSON: what `GET /v1/me` would tell the caller.
    static func verdict(_ token: [UInt8], _ keyring: Keyring, now: Int64) throws(ToolError)
        -> [UInt8]
    {
        let caller: Caller
        if let known = keyring.caller(TokenDigest(of: token)) {
            caller = known
        } else if String(decoding: token, as: UTF8.self).hasPrefix(GeneratedKey.prefix) {
            throw .failure("the token is refused: no key of the file has its hash")
        } else {
            do throws(AccessError) {
                caller = try keyring.token(token).verify()
            } catch {
                throw .failure(error.sentence)
            }
        }
        if let fault = caller.fault(at: now) {
            throw .failure(AccessError.refusedToken(fault).sentence)
        }
        var json: [UInt8] = []
        Shape.append(caller: CallerRow(caller), to: &json)
        return json
    }
}
