internal import BelfryJSON

/// The faults of a request, collected so that one answer has all of them.
struct Faults {
    private let limit: Int
    private var errors: [Problem.FieldError] = []
    /// The first fault of another status than 422.
    private var forbidden: Problem?
    private var tooLarge: Problem?

    init(limits: WireLimits) {
        limit = max(limits.fieldErrorLimit, 1)
    }

    mutating func add(_ place: Problem.Place, _ detail: String) {
        if errors.count < limit { errors.append(Problem.FieldError(place, detail)) }
    }

    mutating func addReservedName(_ place: Problem.Place) {
        if forbidden != nil { return }
        forbidden = Problem(
            .forbidden, "Names that begin with belfry. are reserved for the broker.",
            errors: [Problem.FieldError(place, "is reserved")])
    }

    mutating func addTooLarge(
        _ place: Problem.Place, _ what: String = "A userInfo", byteLimit: Int
    ) {
        if tooLarge != nil { return }
        tooLarge = Problem(
            .contentTooLarge, "\(what) may have at most \(byteLimit) bytes.",
            errors: [Problem.FieldError(place, "must have at most \(byteLimit) bytes")],
            members: [Problem.Member("limit", integer: byteLimit)])
    }

    var isEmpty: Bool { errors.isEmpty && forbidden == nil && tooLarge == nil }

    /// The collected faults: first the lengths, then the fields, then the reserved names.
    var problem: Problem? {
        if let tooLarge { return tooLarge }
        return errors.isEmpty ? forbidden : .invalid(errors)
    }

    func check() throws(Problem) {
        if let problem { throw problem }
    }
}

extension Problem {
    /// A text that is not JSON, with an example of the right form.
    static func malformed(
        _ error: JSONError, byteCount: Int, wanted: String = #"a JSON object, as {"title":"7"}"#
    ) -> Problem {
        let offset = error.offset ?? byteCount
        return Problem(
            .malformedJSON,
            """
            The content is not valid JSON: \(reason(of: error)) at offset \(offset). \
            Send \(wanted).
            """,
            members: [Member("offset", integer: offset)])
    }

    /// The example for a value or an answer, which may be any JSON.
    static let anyJSON = #"JSON, as "dark" or {"size":12}"#

    /// The fault of a text that should be JSON; *at offset* and the number of a byte follow.
    static func reason(of error: JSONError) -> String {
        switch error {
        case .unexpectedEnd: "the text ends too early,"
        case .unexpectedByte: "unexpected byte"
        case .trailingBytes: "unexpected text after the value"
        case .invalidNumber: "invalid number"
        case .invalidEscape: "unknown escape in a string"
        case .controlCharacter: "unescaped control character in a string"
        case .invalidUTF8: "invalid UTF-8"
        case .depthLimit(let limit, _): "nesting deeper than \(limit) levels"
        case .loneSurrogate: "escape of half a surrogate pair in a string"
        case .duplicateMember: "duplicate key"
        case .wrongKind: "unexpected kind of value"
        case .notAnInteger, .numberOutOfRange: "no integer of the expected range"
        }
    }
}

extension JSONKind {
    /// The kind with its article, for messages.
    var text: String {
        switch self {
        case .object: "an object"
        case .array: "an array"
        case .string: "a string"
        case .number: "a number"
        case .boolean: "true or false"
        case .null: "null"
        }
    }
}
