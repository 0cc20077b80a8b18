import BelfryWebSocket

/// The encoding of messages for a connection.
enum FrameEncoding: UInt8, CaseIterable {
    case plain
    case deflate15
    case deflate12
    case deflate9

    /// The encoding that an agreement asks for.
    init(_ agreement: DeflateAgreement?) {
        switch agreement?.windowBitCount {
        case nil: self = .plain
        case 15: self = .deflate15
        case 12: self = .deflate12
        default: self = .deflate9
        }
    }

    /// The window of its deflater; nil for plain frames.
    var windowBitCount: Int? {
        switch self {
        case .plain: nil
        case .deflate15: 15
        case .deflate12: 12
        case .deflate9: 9
        }
    }
}

/// The compressors and the inflater of a loop.
///
/// Each is made when it is needed first, and serves all connections of the loop.
struct Compression {
    private var deflaters = [Deflater?](repeating: nil, count: FrameEncoding.allCases.count)
    private var messageInflater: Inflater?
    private var gzip: GzipEncoder?
    /// The inflated bytes at the beginning of the turn.
    private var inflatedBeforeTurn = 0

    /// The deflater of an encoding; nil for plain frames.
    mutating func deflater(_ encoding: FrameEncoding) -> Deflater? {
        guard let windowBitCount = encoding.windowBitCount else { return nil }
        if let made = deflaters[Int(encoding.rawValue)] { return made }
        let deflater = Deflater(windowBitCount: windowBitCount)
        deflaters[Int(encoding.rawValue)] = deflater
        return deflater
    }

    /// The inflater for connections of an encoding; nil where messages are plain.
    mutating func inflater(_ encoding: FrameEncoding) -> Inflater? {
        guard encoding != .plain else { return nil }
        if let made = messageInflater { return made }
        let inflater = Inflater()
        messageInflater = inflater
        return inflater
    }

    /// Encodes content with gzip; nil when that is not smaller.
    mutating func gzip(_ content: [UInt8]) -> [UInt8]? {
        let encoder = gzip ?? GzipEncoder()
        gzip = encoder
        return encoder.encode(content.span)
    }

    /// The number of inflated bytes so far.
    private var inflatedByteCount: Int { messageInflater?.inflatedByteCount ?? 0 }

    /// Whether this turn has inflated so much that compressed messages wait for the next one.
    @inline(__always)
    var hasInflatedEnough: Bool {
        inflatedByteCount - inflatedBeforeTurn > Self.turnInflatedByteLimit
    }

    /// The most bytes that all messages of a turn may become before the rest waits.
    ///
    /// They take 20 ms, and other connections wait for that time.
    private static let turnInflatedByteLimit = 4 << 20

    /// Notes the end of a turn.
    mutating func endTurn() { inflatedBeforeTurn = inflatedByteCount }
}
