import BelfryJSON

extension NATSError: CustomStringConvertible {
    /// The fault, as a sentence without its full stop.
    public var description: String {
        switch self {
        case .unknownOperation: "a line begins with no operation of a NATS server"
        case .malformedArguments: "the arguments of an operation do not follow the grammar"
        case .invalidLineEnd: "a line or a payload does not end with CR and LF"
        case .controlLineTooLong(let limit): "a line has more than \(limit) bytes"
        case .infoTooLong(let limit): "an INFO has more than \(limit) bytes"
        case .headersTooLarge(let byteCount, let limit):
            "a header block has \(byteCount) bytes, and may have \(limit)"
        case .payloadTooLarge(let byteCount, let limit):
            "a payload has \(byteCount) bytes, and may have \(limit)"
        case .malformedHeaders: "a header block does not follow the grammar"
        case .invalidField(let field): "\(field.rawValue) is missing or malformed"
        case .invalidFieldValue(let field):
            "a value of \(field.rawValue) has control characters, or white space at an end"
        case .invalidSubject: "a subject has characters or tokens that it may not have"
        case .subjectTooLong(let limit): "a subject has more than \(limit) bytes"
        case .invalidStreamName: "the name of a stream has characters that it may not have"
        case .malformedJSON(let error):
            error.offset.map { "JSON is malformed, or not what it should be, at byte \($0)" }
                ?? "JSON ends too early"
        case .unexpectedMember(let name): "the member \(name) is missing, or has an unknown value"
        }
    }
}
