internal import BelfryHTTP

/// An answer that is not the broker's own: a proxy, a login page or another server has given it.
///
/// A refusal is the broker's only as one of its problem documents, and a success only with the
/// content that was asked for. Nothing final is decided by another one (Protocol.md section 10).
public struct ForeignAnswer: Equatable, Sendable {
    /// The status.
    public let status: Int
    /// The media type of its content, without parameters, if it says one.
    public let contentType: String?
    /// Where it points to, if it is a redirect; clients follow none, for their key would go there.
    public let location: String?
    /// The pause that the answer asks for (`Retry-After`).
    let retryAfter: Duration?

    /// Joins the parts of an answer.
    init(
        status: Int, contentType: String? = nil, location: String? = nil,
        retryAfter: Duration? = nil
    ) {
        self.status = status
        self.contentType = contentType
        self.location = location
        self.retryAfter = retryAfter
    }

    /// The status and the content type, for a sentence about the answer.
    var sentence: String {
        if let location {
            return "a redirect (\(status)) to \(location) came, and redirects are not followed: "
                + "if the broker is there, use its URL"
        }
        let content = contentType.map { "content of type \($0)" } ?? "no content of a known type"
        return "the answer is not that of a Belfry broker (status \(status), \(content)): check "
            + "the URL, and the proxies on the way"
    }
}

/// The part of the head of an answer by which a client decides.
struct AnswerHead: Equatable, Sendable {
    var status = 0
    /// The media type of the content in lower case, without parameters.
    var contentType: String?
    var entityTag: String?
    var location: String?
    /// The pause that `Retry-After` asks for; a date is passed over.
    var retryAfter: Duration?

    /// The longest pause that is kept when an answer asks for one.
    static let longestPause = Duration.seconds(300)
    /// The longest pause that another server than the broker may ask for.
    private static let longestForeignPause = Duration.seconds(30)
    /// The most characters of a field that are shown.
    private static let shownByteLimit = 200
    /// The beginning of the types of the broker's problems.
    private static let problemTypes = "https://belfry.dev/problems/"

    /// Takes the fields of a head that has arrived.
    init(_ head: borrowing ResponseHead) {
        status = head.status
        func text(_ name: String) -> String? {
            guard let value = head.field(name) else { return nil }
            return String(decoding: value.indices.map { value[$0] }, as: UTF8.self)
        }
        entityTag = text("etag")
        let type = text("content-type")?.split(separator: ";").first ?? ""
        let name = String(type.filter { $0 != " " && $0 != "\t" }).lowercased()
        contentType = name.isEmpty ? nil : String(name.prefix(Self.shownByteLimit))
        if 300..<400 ~= status {
            location = text("location").map { String($0.prefix(Self.shownByteLimit)) }
        }
        if let seconds = text("retry-after").flatMap(Int.init), seconds >= 0 {
            retryAfter = min(.seconds(min(seconds, 1_000_000)), Self.longestPause)
        }
    }

    /// Begins without a head.
    init() {}

    /// Whether it is an endless stream of events.
    var isEventStream: Bool { status == 200 && contentType == "text/event-stream" }

    /// The error for an answer that is none of the broker.
    var foreign: ClientError {
        .foreignAnswer(
            ForeignAnswer(
                status: status, contentType: contentType, location: location,
                retryAfter: retryAfter.map { min($0, Self.longestForeignPause) }))
    }

    /// The refusal of the broker, or the fact that another server answered.
    func refusal(_ content: [UInt8]) -> ClientError {
        problem(content).map { .refused($0) } ?? foreign
    }

    /// The problem document of the broker; nil for an answer of another server.
    func problem(_ content: [UInt8]) -> BrokerRefusal? {
        guard status >= 400, contentType == "application/problem+json",
            let problem = JSONObject(content), problem.integer("status") == status,
            problem.string("type")?.hasPrefix(Self.problemTypes) == true
        else { return nil }
        var refusal = BrokerRefusal(status: status, content: content)
        refusal.retryAfter = retryAfter
        return refusal
    }
}

/// The form of the content of a successful answer.
package enum AnswerForm: Equatable, Sendable {
    /// A JSON object with these members.
    case object([String])
    /// A value with its entity tag.
    case value
    /// Nothing, or a JSON object.
    case nothing
    /// Content of this media type.
    case media(String)
    /// Any content: the request is for no resource of the API.
    case anything

    /// Whether an answer has it; the content of a stream is not there yet.
    func fits(_ head: AnswerHead, _ content: [UInt8]?) -> Bool {
        switch self {
        case .object(let members):
            guard head.contentType == "application/json" else { return false }
            guard let content else { return true }
            guard let object = JSONObject(content) else { return false }
            return members.allSatisfy { object.raw($0) != nil }
        case .value:
            return head.contentType == "application/json" && head.entityTag != nil
                && content.map(JSONObject.isJSON) != false
        case .nothing:
            return head.status == 204 || Self.object([]).fits(head, content)
        case .media(let type): return head.contentType == type
        case .anything: return true
        }
    }
}
