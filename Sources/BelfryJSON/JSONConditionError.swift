/// The fault of a text that is no condition.
public struct JSONConditionError: Error, Sendable, Equatable {
    /// The place of the fault, seen from the condition: `/total/above`, and nothing for all of it.
    ///
    /// It is a JSON pointer (RFC 6901 §3). For a key that is no text it leads to the key's object.
    public let pointer: String
    /// The fault and the way out, as a sentence without its period.
    public let message: String

    init(_ pointer: String, _ message: String) {
        self.pointer = pointer
        self.message = message
    }

    /// The fault that the key path of a member has.
    init(_ pointer: String, _ error: DocumentPathError) {
        let message =
            switch error {
            case .emptyKey: "a key path has no empty key; join keys by single points"
            case .tooManyKeys(let limit): "a key path has at most \(limit) keys"
            case .tooManyBytes(let limit): "a key path has at most \(limit) bytes"
            case .invalidUTF8: "a key path is UTF-8"
            }
        self.init(pointer, message)
    }
}
