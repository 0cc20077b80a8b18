import ArgumentParser
import BelfryAccess
import BelfryServer
import BelfrySystem
import BelfryWire

/// `belfry check-token`.
struct CheckToken: BlockingCommand {
    static let configuration = CommandConfiguration(
        commandName: "check-token",
        abstract: "Show the principal and the grants of a token, or why a broker would refuse it.",
        usage: "belfry check-token [<TOKEN>] [<options of serve>]",
        discussion: """
            It uses the keys of the options, the environment and the file that `belfry serve` \
            would: --keys, --jwks, --jwt-audience and --jwt-issuer. Without TOKEN it is that of \
            BELFRY_TOKEN; - reads it from standard input. Other users can see what stands on a \
            command line. The exit code is 1 for a token that is refused.
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

    private static func verified(_ token: [UInt8], _ keyring: Keyring) throws(ToolError) -> Caller {
        var signed: SignedToken?
        do throws(AccessError) {
            let known = try keyring.token(token)
            signed = known
            return try known.verify()
        } catch {
            guard case .refusedToken(let fault) = error else { throw .failure(error.sentence) }
            throw .failure(sentence(fault, claim: signed?.claimFault))
        }
    }

    /// Why a token is refused, with the claim that is wrong or missing.
    private static func sentence(_ fault: TokenFault, claim: String? = nil) -> String {
        let reason =
            switch fault {
            case .tooLong: "it is longer than \(Keyring.tokenByteLimit) bytes"
            case .malformed:
                "it is neither a key of `belfry gen-token` nor a JWT (three parts with dots "
                    + "between)"
            case .algorithm: "its `alg` is not known, or not that of its key"
            case .critical: "its header has `crit`, which is not supported"
            case .type: "its `typ` is not JWT or at+jwt"
            case .unknownKey: "no key of --keys or --jwks has its `kid`"
            case .signature: "its signature is not that of its key"
            case .claims, .audience, .issuer: claim ?? "its claims are not valid"
            case .expired: "it has expired (`exp`, or `expires` of its key)"
            case .notYetValid: "it is not valid yet (`nbf`)"
            }
        return "the token is refused: \(reason)"
    }

    /// The holder of a token as JSON, like the answer of `GET /v1/me`.
    static func verdict(_ token: [UInt8], _ keyring: Keyring, now: Int64) throws(ToolError)
        -> [UInt8]
    {
        let caller: Caller
        if let known = keyring.caller(TokenDigest(of: token)) {
            caller = known
        } else if String(decoding: token, as: UTF8.self).hasPrefix(GeneratedKey.prefix) {
            throw .failure("the token is refused: no key of the file has its hash")
        } else {
            caller = try verified(token, keyring)
        }
        if let fault = caller.fault(at: now) { throw .failure(sentence(fault)) }
        var json: [UInt8] = []
        Shape.append(caller: CallerRow(caller), to: &json)
        return json
    }
}
