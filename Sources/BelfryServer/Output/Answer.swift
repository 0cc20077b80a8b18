import BelfryHTTP
import BelfryWire

/// An answer with its content, until it is written.
///
/// An ``AnswerPool`` makes it and takes its storage back. It cannot be copied, so that its content
/// is never shared, and appending to it copies nothing.
struct Answer: ~Copyable {
    var status: Int
    var contentType: ContentType
    var fields: [HTTPField] = []
    var sequel = Sequel.none
    /// Whether the content may be sent compressed.
    ///
    /// It is the same for all, or a listing, and has no secret beside text from another client.
    var isCompressible = false
    var content: [UInt8]
    /// The ticket whose commit the answer waits for; 0 without one.
    private(set) var ticket: UInt64 = 0

    init(status: Int, _ contentType: ContentType, storage: consuming [UInt8]) {
        self.status = status
        self.contentType = contentType
        content = storage
    }

    /// Makes the answer wait until a ticket is committed; 0 is none.
    @inline(__always)
    mutating func wait(until ticket: UInt64) { self.ticket = max(self.ticket, ticket) }

    /// Makes it the answer to a request that was performed and has nothing to say.
    mutating func becomeEmpty() {
        status = 204
        contentType = .none
    }

    /// The type of the content, for the `Content-Type` field.
    enum ContentType: Equatable {
        case none
        case json
        case problem(Problem.Kind)
        case other(String)

        var text: String? {
            switch self {
            case .none: nil
            case .json: "application/json"
            case .problem: "application/problem+json"
            case .other(let type): type
            }
        }
    }
}
