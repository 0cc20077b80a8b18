/// The server's description of itself in INFO.
public struct ServerInfo: Sendable, Equatable {
    /// The id of the server, another one each time it starts.
    public private(set) var serverID = ""
    /// The name of the server.
    public private(set) var serverName = ""
    /// The version of the server.
    public private(set) var version = ServerVersion(0, 0, 0)
    /// The most that a client may publish at a time, in bytes: header block and payload.
    public private(set) var maxPayload = 0
    /// Whether the server takes header blocks.
    public private(set) var headers = false
    /// Whether the server has JetStream.
    public private(set) var jetStream = false
    /// Whether TLS must follow INFO.
    public private(set) var tlsRequired = false
    /// Whether TLS may follow INFO.
    public private(set) var tlsAvailable = false
    /// Whether CONNECT must have credentials.
    public private(set) var authRequired = false
    /// The addresses of the servers of the cluster, each with its port.
    public private(set) var connectURLs: [String] = []
    /// Whether the server is in lame duck mode: it ends soon, and clients had better go elsewhere.
    public private(set) var isLameDuck = false
    /// The name of the cluster; empty for a server alone.
    public private(set) var cluster = ""

    /// Reads the JSON of INFO; members that are not known are passed over.
    ///
    /// - Throws: `malformedJSON`, or `unexpectedMember` without a version or a limit.
    public init(json: [UInt8]) throws(NATSError) {
        var info = Self()
        try MemberReader.read(json) { name, reader throws(NATSError) in
            switch name {
            case "server_id": info.serverID = try reader.text()
            case "server_name": info.serverName = try reader.text()
            case "version":
                guard let version = ServerVersion(try reader.text()) else {
                    throw .unexpectedMember(name)
                }
                info.version = version
            case "max_payload": info.maxPayload = try reader.number()
            case "headers": info.headers = try reader.flag()
            case "jetstream": info.jetStream = try reader.flag()
            case "tls_required": info.tlsRequired = try reader.flag()
            case "tls_available": info.tlsAvailable = try reader.flag()
            case "auth_required": info.authRequired = try reader.flag()
            case "connect_urls": info.connectURLs = try reader.texts()
            case "ldm": info.isLameDuck = try reader.flag()
            case "cluster": info.cluster = try reader.text()
            default: try reader.skip()
            }
        }
        guard info.maxPayload > 0 else { throw .unexpectedMember("max_payload") }
        self = info
    }

    private init() {}
}
