/// A field of a message that is to be sent.
///
/// A name that is not a token or a value with CR, LF or NUL is a bug of the caller, and stops the
/// process: text from outside must be encoded before it comes here.
public struct HTTPField: Sendable, Equatable {
    /// The name, as `Content-Type`.
    public let name: String
    /// The value.
    public let value: [UInt8]

    /// Makes a field out of bytes.
    public init(_ name: String, _ value: [UInt8]) {
        let nameBytes = name.utf8.span
        precondition(
            nameBytes.count > 0
                && ByteSet.token.endOfRun(in: nameBytes, from: 0, to: nameBytes.count)
                    == nameBytes.count,
            "a field name is a token")
        precondition(
            value.span.endOfText(from: 0, to: value.count) == value.count,
            "a field value has no control character")
        self.name = name
        self.value = value
    }

    /// Makes a field out of text.
    public init(_ name: String, _ value: String) {
        self.init(name, Array(value.utf8))
    }

    func append(to output: inout [UInt8]) {
        output.append(contentsOf: name.utf8)
        output.append(contentsOf: ": ".utf8)
        output.append(contentsOf: value)
        output.append(contentsOf: "\r\n".utf8)
    }
}
