/// The limits of one message before it is refused; every count has an error of its own.
public struct HTTPLimits: Sendable, Equatable {
    /// The longest request line without its CRLF, in bytes; a longer one is 414.
    public var requestLineByteLimit = 8192
    /// The longest field line without its CRLF, in bytes; a longer one is 431.
    public var fieldLineByteLimit = 8192
    /// The most field lines of a head; more are 431.
    public var fieldCountLimit = 100
    /// The largest head, in bytes from the first of its start line to its last LF; past it is 431.
    public var headByteLimit = 65_536
    /// The largest content of a message, in bytes without its framing; more is 413.
    public var bodyByteLimit = 1_048_576
    /// The most empty lines that are skipped before a request line (RFC 9112 §2.2).
    public var emptyLineLimit = 8
    /// The longest chunk-size line with its extensions and without its CRLF, in bytes.
    public var chunkLineByteLimit = 1024
    /// The most bytes that the chunk-size lines of one body may spend on extensions.
    public var chunkExtensionByteLimit = 16_384
    /// The largest trailer section, in bytes up to its last LF; past it is 431.
    public var trailerByteLimit = 8192

    /// The default limits: 8 KiB lines, 100 fields, 64 KiB heads, 1 MiB bodies.
    public init() {}
}
