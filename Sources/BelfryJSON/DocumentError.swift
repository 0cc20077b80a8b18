/// Why a text is no document, or why a document does not take a change.
public enum DocumentError: Error, Equatable, Sendable {
    /// The text is malformed, has a lone surrogate, or an object that has a key twice.
    case text(JSONError)
    /// The canonical bytes would be more than the limit.
    case tooManyBytes(byteCount: Int, limit: Int)
    /// Objects and arrays would nest deeper than the limit.
    case tooDeep(limit: Int)

    /// Separates a text that nests too deep from faulty ones.
    init(_ error: JSONError) {
        if case .depthLimit(let limit, _) = error {
            self = .tooDeep(limit: limit)
        } else {
            self = .text(error)
        }
    }
}
