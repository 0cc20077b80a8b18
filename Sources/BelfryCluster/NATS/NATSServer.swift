import BelfryNATS

/// A server's description of itself.
public struct NATSServer: Equatable, Sendable {
    /// The name of the server.
    public let name: String
    /// Its version.
    public let version: String
    /// The addresses of the servers of its cluster, each with its port; untrusted text.
    public let urls: [String]
    /// The largest message that it takes, in bytes.
    public let maxPayload: Int
    /// Whether it ends soon, so that another server should be chosen.
    public let isLameDuck: Bool

    init(_ info: ServerInfo) {
        name = info.serverName
        version = info.version.description
        urls = info.connectURLs
        maxPayload = info.maxPayload
        isLameDuck = info.isLameDuck
    }
}
