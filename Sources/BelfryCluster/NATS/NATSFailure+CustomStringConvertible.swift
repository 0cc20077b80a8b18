extension NATSFailure: CustomStringConvertible {
    /// The fault, its place and the remedy, as a sentence without its full stop.
    public var description: String {
        switch self {
        case .invalidClusterName:
            "the name of a cluster has 1 to \(NATSSettings.clusterNameByteLimit) letters, "
                + "digits and hyphens"
        case .invalidNodeName:
            "the name of a node has 1 to \(NATSSettings.nodeNameByteLimit) visible ASCII "
                + "characters and no blank"
        case .invalidShard(let shard, let limit):
            "there is no shard \(shard): a cluster has 1 to \(limit)"
        case .tooOld(let version, let oldest):
            "the NATS server has version \(version): update it to \(oldest) or newer"
        case .withoutHeaders:
            "the NATS server takes no headers: remove no_header_support from its configuration"
        case .maxPayloadTooSmall(let byteCount, let needed):
            "max_payload of the NATS server is \(byteCount) bytes, and the largest entry "
                + "needs \(needed): raise max_payload on all servers, or lower --max-body, "
                + "--max-message or --max-batch of all brokers"
        case .withoutTLS:
            "TLS is wanted and the NATS server does not offer it: give it a certificate, "
                + "or do without TLS"
        case .bytesBeforeTLS:
            "the NATS server sent bytes in the clear where TLS must begin"
        case .otherSettings(let stream, let difference): Self.sentence(stream, difference)
        case .tooFewServers(let stream, let replicaCount):
            "the NATS servers cannot keep \(replicaCount) copies of the stream \(stream): "
                + "run \(replicaCount) servers with JetStream in a cluster, or ask for fewer copies"
        case .insufficientStorage(let stream, let byteCount):
            "the NATS servers have no room for the stream \(stream) of \(byteCount) bytes: "
                + "raise max_file_store of JetStream, or ask for less"
        case .withoutJetStream(let text):
            "JetStream does not answer (\(text)): see that it is enabled, and that most "
                + "servers are up"
        case .streamRefused(let stream, let text):
            "the NATS server does not make the stream \(stream): \(text)"
        case .authorizationRefused(let text):
            "the NATS server does not let the broker in (\(text)): check user, password, "
                + "token or certificate"
        case .notPermitted(let text):
            "the NATS server does not permit what a broker needs (\(text)): give its user "
                + "these permissions"
        case .refused(let text): "the NATS server ends the connection: \(text)"
        case .malformed(let error): "the NATS server sent what is not understood: \(error)"
        case .withoutInfo: "the server does not begin with INFO: it is not a NATS server"
        }
    }

    private static func sentence(_ stream: String, _ difference: NATSDifference) -> String {
        guard let setting = difference.setting else {
            return "the stream \(stream) is there with a setting that no broker asks for: "
                + "take back what was changed, or use another name for the cluster"
        }
        let option =
            switch setting {
            case "max_bytes": stream.hasSuffix("_SNAP") ? " by --snapshot-limit" : " by --log-limit"
            case "num_replicas": " by --engine-replicas"
            default: ""
            }
        return "the stream \(stream) is there with \(setting) \(difference.found), "
            + "and \(difference.wanted) is asked for\(option): change the one or the other"
    }
}
