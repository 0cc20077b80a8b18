import BelfryHTTP
import BelfryWire

/// What an answer is besides its content, which stands in ``Outbox/content``.
struct Answer {
    var status: Int
    var contentType: ContentType
    var fields: [HTTPField]
    var sequel: Sequel
    /// Whether its content may be sent compressed: it is the same for all, or a listing, and has no
    /// secret beside what somebody else has chosen.
    var isCompressible: Bool

    static var json: Answer { Answer(contentType: .json) }
    static var listing: Answer { Answer(contentType: .json, isCompressible: true) }
    static var empty: Answer { Answer(status: 204) }

    init(
        status: Int = 200, contentType: ContentType = .none, fields: [HTTPField] = [],
        sequel: Sequel = .none, isCompressible: Bool = false
    ) {
        self.status = status
        self.contentType = contentType
        self.fields = fields
        self.sequel = sequel
        self.isCompressible = isCompressible
    }

    /// What the content is, as the `Content-Type` field says it.
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
