extension WebSocketError: CustomStringConvertible {
    /// The fault, as a sentence without its full stop.
    public var description: String {
        switch self {
        case .reservedBits: "reserved bits of a frame are set"
        case .unknownOpcode(let opcode): "the opcode \(opcode) is reserved"
        case .missingMask: "a frame of a client has no mask"
        case .unexpectedMask: "a frame of a server has a mask"
        case .fragmentedControlFrame: "a control frame is not final"
        case .controlFrameTooLong: "a control frame has more than 125 bytes"
        case .lengthNotMinimal: "the length of a frame is not written as short as it can be"
        case .lengthOutOfRange: "the length of a frame has its highest bit set"
        case .unexpectedContinuation: "a frame continues a message, and none has begun"
        case .missingContinuation: "a message begins before the last one has ended"
        case .messageTooBig(_, let limit): "a message has more than \(limit) bytes"
        case .invalidDeflate: "a compressed message cannot be inflated"
        case .tooManyFragments(let limit): "a message has more than \(limit) frames"
        case .invalidUTF8(let offset): "a text is not UTF-8 at byte \(offset)"
        case .truncatedCloseCode: "a Close frame has one byte"
        case .invalidCloseCode(let code): "a Close frame has the code \(code.rawValue)"
        }
    }
}

extension OpeningResponse.Fault: CustomStringConvertible {
    /// The fault, as a sentence without its full stop.
    public var description: String {
        switch self {
        case .noUpgrade: "Upgrade does not name websocket"
        case .noConnectionUpgrade: "Connection does not name upgrade"
        case .wrongAccept: "Sec-WebSocket-Accept does not belong to the key"
        case .unexpectedSubprotocol: "Sec-WebSocket-Protocol names what was not offered"
        case .unexpectedExtension: "Sec-WebSocket-Extensions names what was not offered"
        }
    }
}
