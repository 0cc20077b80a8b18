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
