/// A violation of RFC 9110 or RFC 9112 by the remote endpoint, or a limit that it passed.
public enum HTTPError: Error, Equatable, Sendable {
    /// More empty lines than the limit came before a request line (RFC 9112 §2.2).
    case tooManyEmptyLines(limit: Int)
    /// The start line does not follow its grammar (RFC 9112 §3, §4).
    case malformedStartLine
    /// The request target has a byte or a form that its method does not allow (RFC 9112 §3.2).
    case invalidTarget
    /// The protocol version is not `HTTP/` digit `.` digit (RFC 9112 §2.3).
    case malformedVersion
    /// The major version is not 1 (RFC 9110 §15.6.6).
    case unsupportedVersion
    /// The request line is longer than the limit, in bytes.
    case requestLineTooLong(limit: Int)
    /// A line ends in LF without CR (RFC 9112 §2.2).
    case bareLineFeed
    /// A CR is not followed by LF (RFC 9112 §2.2).
    case bareCarriageReturn
    /// A field name is empty, is not a token, or is not followed by a colon (RFC 9112 §5.1).
    case invalidFieldName
    /// A line of the field section begins with white space (RFC 9112 §2.2, §5.2).
    case foldedField
    /// A field value has a control character (RFC 9110 §5.5).
    case invalidFieldValue
    /// A field line is longer than the limit, in bytes.
    case fieldLineTooLong(limit: Int)
    /// The head has more field lines than the limit.
    case tooManyFields(limit: Int)
    /// The head is larger than the limit, in bytes.
    case headTooLarge(limit: Int)
    /// A request of HTTP/1.1 has no Host (RFC 9112 §3.2).
    case missingHost
    /// A request has more than one Host (RFC 9112 §3.2).
    case repeatedHost
    /// A request has more than one Origin (RFC 6454 §7.3).
    case repeatedOrigin
    /// A host or its port does not follow `uri-host [":" port]` (RFC 9110 §7.2).
    case invalidHost
    /// A Content-Length is not a row of digits (RFC 9110 §8.6).
    case invalidContentLength
    /// The head has more than one Content-Length; equal ones are refused too.
    case repeatedContentLength
    /// Content-Length and Transfer-Encoding are both given (RFC 9112 §6.1).
    case contentLengthWithTransferEncoding
    /// The head has more than one Transfer-Encoding line.
    case repeatedTransferEncoding
    /// The final transfer coding is not `chunked`, or `chunked` comes twice (RFC 9112 §6.3).
    case invalidTransferEncoding
    /// A transfer coding before `chunked` is not spoken here (RFC 9112 §6.1).
    case unsupportedTransferCoding
    /// A message of HTTP/1.0 has Transfer-Encoding (RFC 9112 §6.1).
    case transferEncodingInHTTP10
    /// The content is larger than the limit, in bytes.
    case bodyTooLarge(limit: Int)
    /// A chunk size is not a row of hexadecimal digits (RFC 9112 §7.1).
    case invalidChunkSize
    /// A chunk extension does not follow its grammar (RFC 9112 §7.1.1).
    case invalidChunkExtension
    /// A chunk is not followed by CRLF (RFC 9112 §7.1).
    case missingChunkEnd
    /// A chunk-size line is longer than the limit, in bytes.
    case chunkLineTooLong(limit: Int)
    /// The chunk extensions of one body are longer than the limit, in bytes.
    case chunkExtensionsTooLong(limit: Int)
    /// The trailer section is larger than the limit, in bytes.
    case trailerTooLarge(limit: Int)
    /// A `%` is not followed by two hexadecimal digits (RFC 3986 §2.1).
    case invalidPercentEncoding
    /// Decoded text is not UTF-8.
    case invalidUTF8
    /// The query has more parameters than the limit.
    case tooManyParameters(limit: Int)
    /// More interim responses than the limit came before the final one.
    case tooManyInterimResponses(limit: Int)
    /// The connection ended inside a message (RFC 9112 §8).
    case incompleteMessage
    /// A line of an event stream, or the data of one of its events, is longer than the limit.
    case eventTooLong(limit: Int)

    /// The status of the response that reports this error to the client.
    public var status: Int {
        switch self {
        case .requestLineTooLong: 414
        case .fieldLineTooLong, .tooManyFields, .headTooLarge, .trailerTooLarge: 431
        case .bodyTooLarge: 413
        case .unsupportedVersion: 505
        case .unsupportedTransferCoding: 501
        case .tooManyEmptyLines, .malformedStartLine, .invalidTarget, .malformedVersion,
            .bareLineFeed, .bareCarriageReturn, .invalidFieldName, .foldedField,
            .invalidFieldValue, .missingHost, .repeatedHost, .repeatedOrigin, .invalidHost,
            .invalidContentLength, .repeatedContentLength, .contentLengthWithTransferEncoding,
            .repeatedTransferEncoding, .invalidTransferEncoding, .transferEncodingInHTTP10,
            .invalidChunkSize, .invalidChunkExtension, .missingChunkEnd, .chunkLineTooLong,
            .chunkExtensionsTooLong, .invalidPercentEncoding, .invalidUTF8,
            .tooManyParameters, .tooManyInterimResponses, .incompleteMessage, .eventTooLong:
            400
        }
    }
}
