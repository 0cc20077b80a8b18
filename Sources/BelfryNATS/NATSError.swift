public import BelfryJSON

/// A violation of the NATS client protocol, or a limit that was passed.
public enum NATSError: Error, Equatable, Sendable {
    /// A line begins with no operation that a server sends.
    case unknownOperation
    /// The arguments of an operation are too few, too many, or no numbers where numbers belong.
    case malformedArguments
    /// A line has a CR or an LF alone, or a payload is not followed by CR LF.
    case invalidLineEnd
    /// A line other than INFO is longer than the limit, in bytes without its CR LF.
    case controlLineTooLong(limit: Int)
    /// An INFO is longer than the limit, in bytes without its CR LF.
    case infoTooLong(limit: Int)
    /// The header block of a message is larger than the limit; both are in bytes.
    case headersTooLarge(byteCount: Int, limit: Int)
    /// The payload of a message is larger than the limit; both are in bytes, without headers.
    case payloadTooLarge(byteCount: Int, limit: Int)
    /// A header block does not follow `NATS/1.0 [status [description]]`, fields, empty line.
    case malformedHeaders
    /// A field of a header block has to be a number, or has to be there, and is not.
    case invalidField(HeaderField)
    /// The value of a field to be sent has a control character, or white space at an end.
    case invalidFieldValue(HeaderField)
    /// A subject has an empty token, white space, a control character, or a wildcard out of place.
    case invalidSubject
    /// A subject is longer than the limit, in bytes.
    case subjectTooLong(limit: Int)
    /// The name of a stream is no single token of a subject.
    case invalidStreamName
    /// A text that should be JSON is none, or is JSON of another kind.
    case malformedJSON(JSONError)
    /// A member of an answer is missing, or its value is none that is known.
    case unexpectedMember(String)
}
