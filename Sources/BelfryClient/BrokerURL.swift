internal import BelfryHTTP
internal import BelfrySystem

/// Where a broker is, and which of its centers is meant: `http://127.0.0.1:8080/v1/centers/shop`.
///
/// Without a path it is the default center. The host is an address or a name, which is looked up
/// for each connection. With `https` TLS is spoken, and the certificate must be for the host.
public struct BrokerURL: Hashable, Sendable {
    /// The fault in the text of a URL.
    public enum Fault: Equatable, Sendable {
        /// The text does not begin with `http://` or `https://`.
        case schemeIsNotHTTP
        /// The host is neither an address nor a name, or the port is not a number.
        case invalidHost
        /// The path is not one that a broker, or a center of it, may have.
        case pathIsNoCenter
    }

    /// The center that is meant, percent-encoded; `nil` is the default one.
    public let center: String?
    /// The path of the broker behind a proxy, such as `/bell`; empty where it has the whole host.
    public let prefix: String
    /// The value of the field Host.
    let authority: String
    let endpoint: Endpoint
    /// Whether TLS is spoken.
    let isSecure: Bool
    /// The name or address that the certificate must be for.
    let hostName: String
    /// The trusted authorities, as PEM text; `nil` is those of the machine.
    let authorities: [UInt8]?
    /// The credentials of requests, a key or a token; no text of the URL shows them.
    private(set) var token: String?

    /// Reads `http://HOST[:PORT][/PREFIX][/v1/centers/CENTER]`, and the same with `https`, `ws` or
    /// `wss`.
    ///
    /// The prefix is the path of the broker behind a proxy.
    ///
    /// - Parameters:
    ///   - host: what the field Host says instead of the URL's host and port.
    ///   - authorities: whose certificates are trusted, as PEM text; by default those that the
    ///     machine trusts.
    /// - Throws: `ClientError.invalidURL`.
    public init(
        _ text: String, host: String? = nil, authorities: [UInt8]? = nil
    ) throws(ClientError) {
        let schemes = ["http://", "https://", "ws://", "wss://"]
        guard let scheme = schemes.first(where: { text.utf8.starts(with: $0.utf8) }),
            text.utf8.count > scheme.utf8.count
        else { throw .invalidURL(.schemeIsNotHTTP) }
        isSecure = ["https://", "wss://"].contains(scheme)
        self.authorities = authorities
        let rest = text.utf8.dropFirst(scheme.utf8.count)
        let end = rest.firstIndex(of: UInt8(ascii: "/")) ?? rest.endIndex
        let place = String(Substring(rest[..<end]))
        guard let endpoint = Endpoint(place, defaultPort: isSecure ? 443 : 80) else {
            throw .invalidURL(.invalidHost)
        }
        self.endpoint = endpoint
        authority = host ?? place
        // `localhost` is an address for the socket, and a name for the certificate.
        hostName = place.utf8.starts(with: "localhost".utf8) ? "localhost" : endpoint.host
        (prefix, center) = try Self.parts(of: Array(rest[end...]))
    }

    /// The same broker, which is shown a token: the secret of a key, or a JWT.
    ///
    /// - Throws: `ClientError.invalidToken`.
    public func authenticated(by token: String) throws(ClientError) -> BrokerURL {
        // It becomes the value of a field.
        guard 1...8_192 ~= token.utf8.count, token.utf8.allSatisfy({ 0x21...0x7E ~= $0 }) else {
            throw .invalidToken
        }
        var url = self
        url.token = token
        return url
    }

    /// The fields with the credentials.
    var credentialFields: [HTTPField] {
        token.map { [HTTPField("Authorization", "Bearer \($0)")] } ?? []
    }

    /// The encoded target of a path: absolute as it is, else below the center.
    func target(_ path: String, query: [(name: String, value: String)] = []) -> [UInt8] {
        var target = Array(prefix.utf8)
        if path.utf8.first != UInt8(ascii: "/") {
            target += "/v1/".utf8
            if let center { target += "centers/\(center)/".utf8 }
        }
        target += path.utf8
        for (position, parameter) in query.enumerated() {
            target.append(UInt8(ascii: position == 0 ? "?" : "&"))
            target += PercentEncoding.encoded(parameter.name)
            target.append(UInt8(ascii: "="))
            target += PercentEncoding.encoded(parameter.value)
        }
        return target
    }

    /// The path of the broker, and the center behind it.
    private static func parts(
        of path: [UInt8]
    ) throws(ClientError) -> (prefix: String, center: String?) {
        let segments = path.split(
            separator: UInt8(ascii: "/"), omittingEmptySubsequences: false
        ).dropFirst()
        var names: [String] = []
        for segment in segments { names.append(try normal(segment)) }
        while names.last?.isEmpty == true { names.removeLast() }
        var center: String?
        if names.count >= 3, names.dropLast().suffix(2) == ["v1", "centers"] {
            center = names.removeLast()
            names.removeLast(2)
        }
        // Any other path of the API is no center.
        guard !names.contains(""), !names.contains("v1") else {
            throw .invalidURL(.pathIsNoCenter)
        }
        return (names.map { "/" + $0 }.joined(), center)
    }

    /// A segment encoded anew, so that the target of a request has no byte that it may not have.
    private static func normal(_ segment: ArraySlice<UInt8>) throws(ClientError) -> String {
        var name: [UInt8] = []
        do {
            try PercentEncoding.decode(Array(segment).span, into: &name)
        } catch {
            throw .invalidURL(.pathIsNoCenter)
        }
        var normal: [UInt8] = []
        PercentEncoding.encode(name.span, into: &normal)
        let text = String(decoding: normal, as: UTF8.self)
        guard segment.allSatisfy({ !"?#".utf8.contains($0) }), ![".", ".."].contains(text) else {
            throw .invalidURL(.pathIsNoCenter)
        }
        return text
    }
}

extension BrokerURL: CustomStringConvertible {
    private var place: String {
        guard isSecure else { return "http://\(endpoint)" }
        return hostName == "localhost"
            ? "https://localhost:\(endpoint.port)" : "https://\(endpoint)"
    }

    /// The URL as `init(_:host:)` reads it.
    public var description: String {
        place + prefix + (center.map { "/v1/centers/\($0)" } ?? "")
    }
}
