import BelfryHTTP
import BelfryWire

/// An answer without its content, which is in ``Outbox/content``.
struct Answer {
    var status: Int
    var contentType: ContentType
    var fields: [HTTPField]
    var sequel: Sequel
    /// Whether the content may be sent compressed.
    ///
    /// It is the same for all, or a listing, and has no secret beside text from another client.
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
