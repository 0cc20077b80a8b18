/// The name of a stream: a token of the subjects of its API, and a folder of the server.
public struct StreamName: Sendable, Equatable, CustomStringConvertible {
    /// The longest name, in bytes, as the server has it.
    public static let byteLimit = 255

    /// The text.
    public let bytes: [UInt8]

    /// No name yet.
    init() {
        bytes = []
    }

    /// A name.
    ///
    /// - Throws: `invalidStreamName`.
    public init(_ text: String) throws(NATSError) {
        bytes = Array(text.utf8)
        guard bytes.count <= Self.byteLimit, Subject.isToken(bytes),
            !bytes.contains(where: { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "\\") })
        else { throw .invalidStreamName }
    }

    /// The text.
    public var description: String { String(decoding: bytes, as: UTF8.self) }
}
