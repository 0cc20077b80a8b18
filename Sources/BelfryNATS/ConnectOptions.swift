import BelfryJSON

/// The options of CONNECT: the credentials of the client, and the form of the protocol.
public struct ConnectOptions: Sendable, Equatable {
    /// The credentials of a client.
    public enum Credentials: Sendable, Equatable {
        /// Nothing, or the certificate of the connection.
        case none
        /// A user and a password.
        case user(String, password: String)
        /// A token.
        case token(String)
    }

    /// The name by which the server lists the connection.
    public var name: String
    /// The version of the client.
    public var version: String
    /// The language of the client.
    public var lang = "swift"
    /// The credentials.
    public var credentials = Credentials.none
    /// Whether the client insists on TLS.
    public var tlsRequired = false

    /// Options without credentials.
    public init(name: String, version: String) {
        self.name = name
        self.version = version
    }

    /// The options as JSON: not verbose, not pedantic, with headers and reports of no responders.
    var json: [UInt8] {
        var json: [UInt8] = []
        var writer = JSONWriter()
        writer.beginObject(into: &json)
        writer.member("verbose", bool: false, into: &json)
        writer.member("pedantic", bool: false, into: &json)
        writer.member("tls_required", bool: tlsRequired, into: &json)
        switch credentials {
        case .none: break
        case .user(let user, let password):
            writer.member("user", string: user, into: &json)
            writer.member("pass", string: password, into: &json)
        case .token(let token): writer.member("auth_token", string: token, into: &json)
        }
        writer.member("name", string: name, into: &json)
        writer.member("lang", string: lang, into: &json)
        writer.member("version", string: version, into: &json)
        writer.member("protocol", integer: 1, into: &json)
        writer.member("headers", bool: true, into: &json)
        writer.member("no_responders", bool: true, into: &json)
        writer.endObject(into: &json)
        return json
    }
}
