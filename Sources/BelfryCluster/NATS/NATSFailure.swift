public import BelfryNATS

/// Why a server, or a whole engine, cannot be used for a log.
public enum NATSFailure: Error, Equatable, Sendable {
    /// The name of a cluster has other characters than it may have, or too many.
    case invalidClusterName
    /// The name of a broker has other characters than it may have, or too many.
    case invalidNodeName
    /// There is no shard of this number.
    case invalidShard(Int, limit: Int)
    /// The server is older than the oldest one with all that is used.
    case tooOld(ServerVersion, oldest: ServerVersion)
    /// The server takes no header blocks.
    case withoutHeaders
    /// The largest entry does not fit into a message; both are in bytes.
    case maxPayloadTooSmall(Int, needed: Int)
    /// TLS is wanted, and the server does not have it.
    case withoutTLS
    /// Bytes have come in the clear behind INFO, where TLS must begin.
    case bytesBeforeTLS
    /// A stream is there with other settings.
    case otherSettings(stream: String, NATSDifference)
    /// The engine cannot have so many copies of a stream.
    case tooFewServers(stream: String, replicaCount: Int)
    /// The engine has no room for a stream; its size is in bytes.
    case insufficientStorage(stream: String, byteCount: Int)
    /// JetStream does not answer, or says that it is not available.
    case withoutJetStream(text: String)
    /// The engine does not make a stream for another reason.
    case streamRefused(stream: String, text: String)
    /// The server does not know the broker by its credentials.
    case authorizationRefused(text: String)
    /// The server does not let the broker publish or subscribe.
    case notPermitted(text: String)
    /// The server has ended the connection for another reason.
    case refused(text: String)
    /// The server has sent what follows no grammar, or an answer that is none.
    case malformed(NATSError)
    /// A server has sent something other than INFO first.
    case withoutInfo

    /// Whether another attempt, at any server, fails likewise until a setting is changed.
    public var isFinal: Bool {
        switch self {
        case .invalidClusterName, .invalidNodeName, .invalidShard, .tooOld, .withoutHeaders,
            .maxPayloadTooSmall, .withoutTLS, .otherSettings, .tooFewServers,
            .insufficientStorage, .authorizationRefused, .notPermitted:
            true
        case .bytesBeforeTLS, .withoutJetStream, .streamRefused, .refused, .malformed,
            .withoutInfo:
            false
        }
    }
}
