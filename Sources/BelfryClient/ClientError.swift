public import BelfryHTTP
internal import BelfryLoop
public import BelfrySystem
public import BelfryTLS
public import BelfryWebSocket

/// Why something that was asked of a broker did not happen.
///
/// A post that ended with anything but `refused` may have happened, and so may one that was refused
/// with `outcome-unknown`.
public enum ClientError: Error, Equatable, Sendable {
    /// The text is no URL of a broker.
    case invalidURL(BrokerURL.Fault)
    /// The userInfo is no JSON object.
    case invalidUserInfo
    /// The condition is neither a JSON object nor an array.
    case invalidCondition
    /// The value, or the merge patch, is not JSON.
    case invalidValue
    /// The idempotency key is not 1 to 255 visible ASCII characters.
    case invalidIdempotencyKey
    /// The entity tag is not visible ASCII characters.
    case invalidEntityTag
    /// A text that would be a segment of a path is `.` or `..`, which cannot be sent there.
    case dotSegment(String)
    /// The token is not 1 to 8,192 visible ASCII characters.
    case invalidToken
    /// The function that answers tokens failed; the reason is its error.
    case noToken(reason: String)
    /// Another observation of this center has the selector.
    case selectorInUse(String)
    /// The machine refused a socket, a thread or a descriptor.
    case system(SystemCallError)
    /// The name of the host has no address, or no name server answered.
    case hostNotFound
    /// The connection could not be made, or broke, with this error number of the system.
    case connectionFailed(errno: Int32)
    /// The broker ended the connection without saying why.
    case connectionLost
    /// The broker took longer than the options allow.
    case timedOut
    /// The broker answered the opening with a problem instead of 101.
    case openingRefused(BrokerRefusal)
    /// Another server than the broker answered: a proxy, a login page.
    case foreignAnswer(ForeignAnswer)
    /// The broker answered 101, but the answer does not match the request.
    case invalidOpening(OpeningResponse.Fault)
    /// TLS cannot be spoken with the broker, or its certificate is not trusted.
    case tls(TLSError)
    /// The broker broke HTTP.
    case http(HTTPError)
    /// The broker broke the WebSocket protocol.
    case webSocket(WebSocketError)
    /// The text of the broker is not of the protocol `belfry.v1`.
    case notUnderstood
    /// The broker refused one request, and says why.
    ///
    /// With the slug `outcome-unknown` a cluster does not know what became of the request: it may
    /// have happened, or happen still.
    case refused(BrokerRefusal)
    /// The broker closed the connection with this code (Protocol.md section 10).
    case closed(code: UInt16, reason: String)
    /// The broker removed the observer, for a reason such as `removed`.
    case observerRemoved(reason: String)
    /// The limit of requests that wait for their answers is reached.
    case tooManyRequests(limit: Int)
    /// The center has no connection, and makes none.
    case notConnected
    /// The center was closed by its owner.
    case closedByOwner
    /// The task that waited for an answer was cancelled.
    case cancelled
}

/// The broker's answer to a request that it refused.
public struct BrokerRefusal: Equatable, Sendable {
    /// The code of JSON-RPC; -32000 for refusals that are the broker's own.
    public let code: Int
    /// The description of the problem, in the broker's words.
    public let text: String
    /// The HTTP status that fits, if the broker gave a problem document (RFC 9457).
    public let status: Int?
    /// The problem document as JSON, or nothing.
    public let problem: [UInt8]
    /// How long the broker wants to be left alone, if it says so.
    public internal(set) var retryAfter: Duration?

    /// The end of the problem's type, such as `no-responder`, which identifies the problem.
    public var slug: String? {
        let type = JSONObject(problem)?.string("type")
        return type?.split(separator: "/").last.map(String.init)
    }

    /// The faults of each field, such as `every must be a number from 0.1 to 31622400`.
    public var faults: [String] {
        (JSONObject(problem)?.objects("errors") ?? []).compactMap { fault in
            guard let detail = fault.string("detail") else { return nil }
            let place =
                fault.string("parameter") ?? fault.string("header") ?? fault.string("pointer")
            return place.map { "\($0) \(detail)" } ?? detail
        }
    }
}

extension BrokerRefusal {
    /// The description of the problem, with the faults of each field.
    var sentence: String {
        if faults.isEmpty { return text }
        return (text.hasSuffix(".") ? String(text.dropLast()) : text) + ": "
            + faults.joined(separator: "; ")
    }
}

extension ClientError: CustomStringConvertible {
    /// A sentence for the user of a program.
    public var description: String {
        switch self {
        case .invalidURL(.schemeIsNotHTTP): "the URL must begin with http:// or https://"
        case .invalidURL(.invalidHost):
            "the host of the URL must be an address or a name, and its port 0 to 65535"
        case .invalidURL(.pathIsNoCenter):
            "the path of the URL must be that of the broker, with /v1/centers/CENTER behind it for "
                + "another center than the default one"
        case .dotSegment(let text): "`\(text)` cannot be sent in a path: use another name"
        case .invalidUserInfo: "the userInfo is not a JSON object"
        case .invalidCondition: "the condition is neither a JSON object nor an array of them"
        case .invalidValue: "the value is not JSON"
        case .invalidIdempotencyKey:
            "an idempotency key is 1 to 255 visible ASCII characters"
        case .invalidEntityTag: "an ETag is visible ASCII characters, with its quotation marks"
        case .invalidToken: "a token is 1 to 8,192 visible ASCII characters"
        case .noToken(let reason): "the token function failed: \(reason)"
        case .selectorInUse(let selector): "the selector \(selector) is in use"
        case .system(let error): "\(error)"
        case .hostNotFound: "the name of the broker's host has no address"
        case .connectionFailed(let errno):
            "\(SystemCallError(call: "the connection failed", errno: errno))"
        case .connectionLost: "the broker ended the connection"
        case .timedOut: "the broker did not answer in time"
        case .openingRefused(let refusal):
            "the broker refused the connection"
                + (refusal.status.map { " with \($0)" } ?? "") + ": \(refusal.sentence)"
        case .invalidOpening(let fault): "the broker answered the opening wrongly: \(fault)"
        case .foreignAnswer(let answer): answer.sentence
        case .tls(let error) where error.looksPlain: "\(error); does the broker speak plain http?"
        case .tls(let error): "\(error)"
        case .http(let error): "the broker broke HTTP: \(error)"
        case .webSocket(let error): "the broker broke the WebSocket protocol: \(error)"
        case .notUnderstood: "the broker's answer is not of the protocol belfry.v1"
        case .refused(let refusal): refusal.sentence
        case .closed(let code, let reason):
            "the broker closed the connection with \(code)" + (reason.isEmpty ? "" : ": \(reason)")
        case .observerRemoved(let reason): "the broker removed the observer: \(reason)"
        case .tooManyRequests(let limit): "\(limit) requests wait for their answers already"
        case .notConnected: "there is no connection to the broker"
        case .closedByOwner: "the center was closed"
        case .cancelled: "the task was cancelled"
        }
    }
}

extension TLSError {
    /// Whether the other end has answered without TLS, as far as libssl says.
    fileprivate var looksPlain: Bool {
        guard case .handshakeFailed(let reason) = self else { return false }
        return ["wrong version number", "http request", "not a record"].contains {
            reason.contains($0)
        }
    }
}

extension ClientError {
    init(_ failure: EndpointCall.Failure) {
        switch failure {
        case .noAddress: self = .hostNotFound
        case .system(let error): self = .system(error)
        }
    }
}
