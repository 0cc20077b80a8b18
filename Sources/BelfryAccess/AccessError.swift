public import BelfryJSON

/// Why a file of keys cannot be used, or a token is not taken.
public enum AccessError: Error, Equatable, Sendable {
    /// The file is no JSON; the line is counted from 1.
    case malformedFile(line: Int)
    /// A value of the file is invalid; the pointer names it.
    case invalidFile(JSONPointer, line: Int, reason: String)
    /// The token is not taken.
    case refusedToken(TokenFault)

    /// A sentence for the operator; it holds no value of the file, since that may be a secret.
    public var sentence: String {
        switch self {
        case .malformedFile(let line): "line \(line) is not valid JSON"
        case .invalidFile(let pointer, let line, let reason): "\(pointer) (line \(line)) \(reason)"
        case .refusedToken(let fault): "the token is refused: \(fault.rawValue)"
        }
    }
}

/// The fault of a token, for the log; the caller learns only that the token is refused.
public enum TokenFault: String, Error, Sendable, CaseIterable {
    /// The token is longer than ``Keyring/tokenByteLimit``.
    case tooLong = "too long"
    /// The text is no token in compact form (RFC 7515 §7.1), or its parts are no JSON objects.
    case malformed = "malformed"
    /// The algorithm is not supported, or is not that of the key.
    case algorithm = "algorithm"
    /// The token demands an extension that is not supported (`crit`, RFC 7515 §4.1.11).
    case critical = "critical header parameters"
    /// The token is of another kind (`typ`, RFC 8725 §3.11).
    case type = "type"
    /// No key has its `kid`.
    case unknownKey = "unknown key"
    /// The signature is not that of its key.
    case signature = "signature"
    /// A claim is missing or invalid.
    case claims = "claims"
    /// The token is for another audience.
    case audience = "audience"
    /// The token is from another issuer.
    case issuer = "issuer"
    /// Its time is over.
    case expired = "expired"
    /// Its time has not come.
    case notYetValid = "not yet valid"
}

extension AccessError {
    /// Locates a JSON error in the file that was read.
    init(_ error: JSONError, in json: [UInt8], at place: JSONPointer) {
        let line = Self.line(of: error.offset ?? json.count, in: json)
        if error.isMalformed {
            self = .malformedFile(line: line)
            return
        }
        let reason =
            switch error {
            case .wrongKind(let expected, _, _): "must be \(expected.article)"
            case .depthLimit(let limit, _): "is nested deeper than \(limit)"
            case .loneSurrogate: "contains half a surrogate pair"
            case .duplicateMember: "has a duplicate key"
            default: "is not a number that fits"
            }
        self = .invalidFile(place, line: line, reason: reason)
    }

    static func invalid(
        _ place: JSONPointer, at offset: Int, in json: [UInt8], _ reason: String
    ) -> AccessError {
        .invalidFile(place, line: line(of: offset, in: json), reason: reason)
    }

    /// The line of a byte, counted from 1.
    private static func line(of offset: Int, in json: [UInt8]) -> Int {
        1 + json.prefix(offset).reduce(0) { $0 + ($1 == UInt8(ascii: "\n") ? 1 : 0) }
    }
}

extension JSONKind {
    fileprivate var article: String {
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
