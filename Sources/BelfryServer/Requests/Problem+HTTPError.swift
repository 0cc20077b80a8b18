import BelfryHTTP
import BelfryWire

extension Problem {
    /// The problem of a message that could not be read.
    init(_ error: HTTPError) {
        let kind: Kind =
            switch error.status {
            case 413: .contentTooLarge
            case 414: .uriTooLong
            case 431: .headerTooLarge
            case 501: .notImplemented
            case 505: .versionNotSupported
            default: .malformedRequest
            }
        let remedy = error.limitingOption.map { "; --\($0) sets the limit" } ?? ""
        self.init(kind, "The request cannot be read: \(error)\(remedy).")
    }
}

extension HTTPError {
    /// The option that sets the passed limit; nil where none does.
    fileprivate var limitingOption: String? {
        switch self {
        case .requestLineTooLong: "max-request-line"
        case .fieldLineTooLong, .headTooLarge: "max-field"
        case .tooManyFields: "max-fields"
        case .bodyTooLarge: "max-body"
        case .tooManyEmptyLines, .malformedStartLine, .invalidTarget, .malformedVersion,
            .unsupportedVersion, .bareLineFeed, .bareCarriageReturn, .invalidFieldName,
            .foldedField, .invalidFieldValue, .missingHost, .repeatedHost, .repeatedOrigin,
            .invalidHost,
            .invalidContentLength, .repeatedContentLength, .contentLengthWithTransferEncoding,
            .repeatedTransferEncoding, .invalidTransferEncoding, .unsupportedTransferCoding,
            .transferEncodingInHTTP10, .invalidChunkSize, .invalidChunkExtension,
            .missingChunkEnd, .chunkLineTooLong, .chunkExtensionsTooLong, .trailerTooLarge,
            .invalidPercentEncoding, .invalidUTF8, .tooManyParameters,
            .tooManyInterimResponses, .incompleteMessage, .eventTooLong:
            nil
        }
    }
}

extension Problem {
    /// The problem of a path with a segment that other software removes.
    static var hasDotSegments: Problem {
        Problem(
            .malformedRequest,
            "A path has no segments . and .. (also as %2E): proxies and libraries remove them, and "
                + "request another path. Use another name, or put the name into the content.")
    }
}
