import ArgumentParser
import BelfryClient
import BelfrySystem

/// Which broker a command talks to.
struct PlaceOptions: ParsableArguments {
    static let defaultURL = "http://127.0.0.1:8080"

    @Option(
        help: .value(
            "The broker, with /v1/centers/CENTER for another center than `default`; or BELFRY_URL.",
            "URL"))
    var url: String?

    @Option(
        help: .value(
            "The authorities to trust, a PEM file; or BELFRY_CA. Default: those of the machine.",
            "FILE"), completion: Completing.certificates)
    var ca: String?

    @Option(
        help: .value(
            "The token of a key, or a JWT. Other users can see flags: BELFRY_TOKEN is safer.",
            "TOKEN"))
    var token: String?

    /// The URL of the flag, of the environment, or the default one, with the token.
    func brokerURL() throws(ToolError) -> BrokerURL {
        let environment = try Environment.variables()
        let url = try Self.brokerURL(flag: url, ca: ca, environment: environment)
        return try Self.authenticated(url, flag: token, environment: environment)
    }

    static func authenticated(
        _ url: BrokerURL, flag: String?, environment: [String: String]
    ) throws(ToolError) -> BrokerURL {
        let variable = environment["BELFRY_TOKEN"].flatMap { $0.isEmpty ? nil : $0 }
        guard let token = flag ?? variable else { return url }
        do throws(ClientError) {
            return try url.authenticated(by: token)
        } catch {
            let sentence = "\(flag == nil ? "BELFRY_TOKEN" : "--token"): \(error)"
            throw flag == nil ? .failure(sentence) : .usage(sentence)
        }
    }

    static func brokerURL(
        flag: String?, ca: String? = nil, environment: [String: String]
    ) throws(ToolError) -> BrokerURL {
        let authorities = try authorities(flag: ca, environment: environment)
        let variable = environment["BELFRY_URL"].flatMap { $0.isEmpty ? nil : $0 }
        do throws(ClientError) {
            return try BrokerURL(flag ?? variable ?? defaultURL, authorities: authorities)
        } catch {
            let sentence = "\(flag == nil ? "BELFRY_URL" : "--url"): \(error)"
            throw flag == nil ? .failure(sentence) : .usage(sentence)
        }
    }

    private static func authorities(
        flag: String?, environment: [String: String]
    ) throws(ToolError) -> [UInt8]? {
        guard let path = flag ?? environment["BELFRY_CA"], !path.isEmpty else { return nil }
        do throws(SystemCallError) {
            return try WholeFile.read(path: path, byteLimit: 16 << 20)
        } catch {
            throw .failure("\(flag == nil ? "BELFRY_CA" : "--ca") cannot be read: \(error)")
        }
    }

    /// The broker that `serve` with the same environment would be.
    static func ownURL(
        flag: String?, ca: String? = nil, environment: [String: String]
    ) throws(ToolError) -> BrokerURL {
        guard flag == nil,
            let text = environment["BELFRY_LISTEN"].flatMap({ Words.split($0).first })
        else { return try brokerURL(flag: flag, ca: ca, environment: environment) }
        if text == "none" {
            throw .failure(
                "BELFRY_LISTEN is none: give --url and --ca, or let it listen on loopback too"
            )
        }
        guard let address = SocketAddress(text).flatMap(reachable) else {
            throw .failure("BELFRY_LISTEN: `\(text)` is not HOST:PORT, such as 127.0.0.1:8080.")
        }
        do throws(ClientError) {
            return try BrokerURL("http://\(address)", host: "localhost")
        } catch {
            throw ToolError(error)
        }
    }

    /// The address to reach a listener at: a loopback address if it listens on all of them.
    static func reachable(_ address: SocketAddress) -> SocketAddress? {
        switch address.host {
        case "0.0.0.0": .loopback(port: address.port)
        case "::": SocketAddress("[::1]:\(address.port)")
        default: address
        }
    }
}

/// The form of a command's output.
struct ReportOptions: ParsableArguments {
    @Flag(help: "Print JSON on a terminal too.")
    var json = false

    /// Whether a person is to read it.
    var isForPeople: Bool {
        !json && StandardStream.output.isTerminal
    }
}

extension ArgumentHelp {
    /// Help with the name of the value.
    static func value(_ text: String, _ name: String) -> ArgumentHelp {
        ArgumentHelp(text, valueName: name)
    }
}
