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

    /// Makes a field out of text from outside.
    ///
    /// Bytes that are not visible ASCII, and the percent sign, are percent-encoded (RFC 3986 §2.1).
    public init(_ name: String, percentEncoding text: [UInt8]) {
        var value: [UInt8] = []
        for byte in text {
            if 0x21...0x7E ~= byte, byte != UInt8(ascii: "%") {
                value.append(byte)
            } else {
                let digits = String(byte, radix: 16, uppercase: true)
                value += ((byte < 0x10 ? "%0" : "%") + digits).utf8
            }
        }
        self.init(name, value)
    }

    func append(to output: inout [UInt8]) {
        output.append(contentsOf: name.utf8)
        output.append(contentsOf: ": ".utf8)
        output.append(contentsOf: value)
        output.append(contentsOf: "\r\n".utf8)
    }
}
