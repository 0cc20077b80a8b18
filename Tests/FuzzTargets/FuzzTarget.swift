/// Something that reads bytes from outside, and what must hold for all bytes.
///
/// The first byte of an input seeds the cuts (see ``Cut``), the rest is what is read. Each target
/// reads it whole and in pieces, and compares what it was told.
public enum FuzzTarget: String, CaseIterable, Sendable {
    /// One request head, its target, fields and preferences.
    case requestHead = "request-head"
    /// Content in the chunked transfer coding.
    case chunked
    /// Requests that follow each other on one connection.
    case pipeline
    /// Responses, as the client half reads them.
    case response
    /// An event stream, as the client half reads it.
    case eventStream = "event-stream"
    /// Frames of a WebSocket client.
    case frames
    /// The same with permessage-deflate: messages that are inflated, up to a limit.
    case inflate
    /// The fields of an opening handshake: extensions, subprotocols, keys.
    case opening
    /// The output of a NATS server, with answers of JetStream in it.
    case nats
    /// JSON: validator, reader, lines.
    case json
    /// The document of a value, and what it is without its nulls.
    case document
    /// A document, a merge patch and where it is applied.
    case mergePatch = "merge-patch"
    /// A document, a value and the key path where it is set, and removed again.
    case keyPath = "key-path"
    /// A line with a condition, and the userInfo that it is about.
    case condition = "where"
    /// JSON-RPC, and the bodies of requests.
    case calls
    /// The answer that an asker gives itself, in a query and in a call.
    case fallback = "default"
    /// The file of keys.
    case keyFile = "key-file"
    /// A JSON Web Key Set.
    case keySet = "key-set"
    /// A signed token, and what it claims.
    case token
    /// A line with a JSON Web Key Set, and a token that is verified with it.
    case signature
    /// The fields of proxies about clients, and addresses.
    case forwarding
    /// A command of a center.
    case command

    /// Reads an input.
    ///
    /// - Returns: the fault; nil when all is well. An impossible state traps.
    public func fault(in input: [UInt8]) -> String? {
        guard let seed = input.first else { return nil }
        let bytes = Array(input.dropFirst())
        return switch self {
        case .requestHead: HTTPChecks.requestHead(bytes, Cut(seed))
        case .chunked: HTTPChecks.chunked(bytes, Cut(seed))
        case .pipeline: HTTPChecks.pipeline(bytes, Cut(seed))
        case .response: HTTPChecks.response(bytes, Cut(seed))
        case .eventStream: HTTPChecks.eventStream(bytes, Cut(seed))
        case .frames: WebSocketChecks.frames(bytes, Cut(seed), inflates: false)
        case .inflate: WebSocketChecks.frames(bytes, Cut(seed), inflates: true)
        case .opening: WebSocketChecks.opening(bytes)
        case .nats: NATSChecks.events(bytes, Cut(seed))
        case .json: JSONChecks.values(bytes)
        case .document: DocumentChecks.text(bytes)
        case .mergePatch: DocumentChecks.patch(bytes)
        case .keyPath: DocumentChecks.path(bytes)
        case .condition: WhereChecks.isTrue(bytes)
        case .calls: JSONChecks.calls(bytes)
        case .fallback: JSONChecks.fallback(bytes)
        case .keyFile: AccessChecks.keyFile(bytes)
        case .keySet: AccessChecks.keySet(bytes)
        case .token: AccessChecks.token(bytes)
        case .signature: AccessChecks.signature(bytes)
        case .forwarding: AccessChecks.forwarding(bytes)
        case .command: CommandChecks.command(bytes)
        }
    }
}
