/// The header before the payload of a frame (RFC 6455 §5.2).
struct FrameHeader: Equatable, Sendable {
    var opcode: Opcode
    var isFinal: Bool
    /// Whether it begins a compressed message (RFC 7692 §6).
    var isCompressed: Bool
    var payloadByteCount: Int
    var maskingKey: MaskingKey
}

/// Reads frame headers that may arrive in pieces, and refuses a bad one at its first bad byte.
struct FrameHeaderReader: Sendable {
    /// How many bytes of the header have arrived; 0 between two frames.
    private(set) var byteCount = 0

    private let role: Role
    private var opcode = Opcode.continuation
    private var isFinal = false
    private var isCompressed = false
    private var lengthCode: UInt8 = 0
    private var length: UInt64 = 0
    private var keyBits: UInt32 = 0

    init(role: Role) {
        self.role = role
    }

    /// Takes bytes from `cursor` on until the header is complete; `nil` means that more are needed.
    ///
    /// - Parameter allowsCompressed: whether compression was agreed on.
    mutating func next(
        in bytes: Span<UInt8>, at cursor: inout Int, allowsCompressed: Bool
    ) throws(WebSocketError) -> FrameHeader? {
        while cursor < bytes.count {
            let byte = bytes[cursor]
            cursor += 1
            try take(byte, allowsCompressed: allowsCompressed)
            if byteCount >= 2, byteCount == endOfKey {
                byteCount = 0
                return FrameHeader(
                    opcode: opcode, isFinal: isFinal, isCompressed: isCompressed,
                    payloadByteCount: Int(length), maskingKey: MaskingKey(bits: keyBits))
            }
        }
        return nil
    }

    /// RSV1 among the three reserved bits.
    private static let compressedBit: UInt8 = 0b100

    private var endOfLength: Int {
        switch lengthCode {
        case 126: 4
        case 127: 10
        default: 2
        }
    }

    private var endOfKey: Int {
        switch role {
        case .client: endOfLength
        case .server: endOfLength + 4
        }
    }

    private mutating func take(
        _ byte: UInt8, allowsCompressed: Bool
    ) throws(WebSocketError) {
        if byteCount == 0 {
            try takeFirst(byte, allowsCompressed: allowsCompressed)
        } else if byteCount == 1 {
            try takeSecond(byte)
        } else if byteCount < endOfLength {
            length = length << 8 | UInt64(byte)
            if byteCount + 1 == endOfLength { try checkLength() }
        } else {
            keyBits |= UInt32(byte) << UInt32(8 * (byteCount - endOfLength))
        }
        byteCount += 1
    }

    private mutating func takeFirst(
        _ byte: UInt8, allowsCompressed: Bool
    ) throws(WebSocketError) {
        let reserved = byte >> 4 & 0x7
        // RSV1 is set on the first frame of a message alone (RFC 7692 §6).
        let mayBeCompressed = allowsCompressed && Opcode(rawValue: byte & 0xF)?.isFirst == true
        isCompressed = mayBeCompressed && reserved == Self.compressedBit
        guard reserved == 0 || isCompressed else { throw .reservedBits(reserved) }
        guard let opcode = Opcode(rawValue: byte & 0xF) else { throw .unknownOpcode(byte & 0xF) }
        self.opcode = opcode
        isFinal = byte & 0x80 != 0
        guard isFinal || !opcode.isControl else { throw .fragmentedControlFrame }
    }

    private mutating func takeSecond(_ byte: UInt8) throws(WebSocketError) {
        let isMasked = byte & 0x80 != 0
        switch role {
        case .client: guard !isMasked else { throw .unexpectedMask }
        case .server: guard isMasked else { throw .missingMask }
        }
        lengthCode = byte & 0x7F
        length = lengthCode < 126 ? UInt64(lengthCode) : 0
        keyBits = 0
        guard lengthCode <= MessageLimits.controlPayloadByteLimit || !opcode.isControl else {
            throw .controlFrameTooLong
        }
    }

    /// "The minimal number of bytes MUST be used to encode the length" (RFC 6455 §5.2).
    private func checkLength() throws(WebSocketError) {
        guard length <= UInt64(Int.max) else { throw .lengthOutOfRange }
        guard length > (lengthCode == 126 ? 125 : 0xFFFF) else {
            throw .lengthNotMinimal(byteCount: length)
        }
    }
}
