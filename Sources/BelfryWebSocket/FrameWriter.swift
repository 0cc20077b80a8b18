import BelfryBytes

/// Writes frames behind what a buffer already holds (RFC 6455 §5.2).
///
/// A server passes no masking key; a client passes a new one for each frame.
public enum FrameWriter {
    /// Appends one frame.
    ///
    /// The payload of a control frame is at most 125 bytes.
    public static func append(
        _ opcode: Opcode, payload: Span<UInt8>, isFinal: Bool = true,
        maskingKey: MaskingKey? = nil, to buffer: inout [UInt8]
    ) {
        checkControl(opcode, byteCount: payload.count, isFinal: isFinal)
        let isMasked = maskingKey != nil
        let headerByteCount = headerByteCount(payloadByteCount: payload.count)
        for index in 0..<headerByteCount {
            buffer.append(
                headerByte(
                    at: index, opcode: opcode, isFinal: isFinal, isMasked: isMasked,
                    payloadByteCount: payload.count))
        }
        guard var key = maskingKey else {
            buffer.append(payload)
            return
        }
        for index in 0..<4 { buffer.append(key.byte(at: index)) }
        key.append(payload, to: &buffer)
    }

    /// Appends a Close frame; no code means no payload at all, and then there is no reason either.
    ///
    /// The code is one that is allowed on the wire, the reason at most 123 bytes of UTF-8.
    public static func appendClose(
        _ code: CloseCode?, reason: [UInt8] = [], maskingKey: MaskingKey? = nil,
        to buffer: inout [UInt8]
    ) {
        var payload: [UInt8] = []
        if let code {
            precondition(code.isValidOnWire, "a close code that may not be sent")
            payload = [UInt8(code.rawValue >> 8), UInt8(code.rawValue & 0xFF)] + reason
        } else {
            precondition(reason.isEmpty, "a close reason without a code")
        }
        append(.close, payload: payload.span, maskingKey: maskingKey, to: &buffer)
    }

    /// A frame whose header is still open, because its payload is being written behind it.
    public struct OpenFrame: Sendable {
        /// Where the payload begins in the buffer.
        public let payloadStart: Int
    }

    /// The header of a payload of 126 bytes to 64 KiB, which most are.
    private static let usualHeader = [UInt8](repeating: 0, count: 4)

    /// Reserves room for the usual header, so that the payload can be written in place behind it.
    ///
    /// Append the payload to the same buffer, then call `endFrame`.
    public static func beginFrame(in buffer: inout [UInt8]) -> OpenFrame {
        buffer.append(contentsOf: usualHeader)
        return OpenFrame(payloadStart: buffer.count)
    }

    /// Appends a frame with the compressed payload if that is smaller; otherwise nothing.
    ///
    /// - Returns: the range of the frame.
    public static func append(
        _ opcode: Opcode, compressing payload: Span<UInt8>, by deflater: Deflater,
        to buffer: inout [UInt8]
    ) -> Range<Int>? {
        let frame = beginFrame(in: &buffer)
        guard deflater.append(payload, to: &buffer) else {
            buffer.removeLast(usualHeader.count)
            return nil
        }
        return endFrame(frame, opcode, isCompressed: true, in: &buffer)
    }

    /// Makes the bytes behind the start of `frame` its payload, and writes the header before them.
    ///
    /// A payload with another header than the usual one is moved.
    ///
    /// - Returns: the range of the whole frame, directly behind the bytes before it.
    @discardableResult
    public static func endFrame(
        _ frame: OpenFrame, _ opcode: Opcode, isCompressed: Bool = false,
        in buffer: inout [UInt8]
    ) -> Range<Int> {
        let payloadByteCount = buffer.count - frame.payloadStart
        checkControl(opcode, byteCount: payloadByteCount, isFinal: true)
        precondition(!isCompressed || opcode.isFirst, "a compressed frame that begins no message")
        let headerByteCount = headerByteCount(payloadByteCount: payloadByteCount)
        let start = frame.payloadStart - usualHeader.count
        if headerByteCount < usualHeader.count {
            buffer.removeSubrange(start..<start + usualHeader.count - headerByteCount)
        } else if headerByteCount > usualHeader.count {
            let more = repeatElement(UInt8(0), count: headerByteCount - usualHeader.count)
            buffer.insert(contentsOf: more, at: start)
        }
        var header = buffer.mutableSpan
        header[start] = opcode.rawValue | (isCompressed ? 0xC0 : 0x80)
        for index in 1..<headerByteCount {
            header[start + index] = headerByte(
                at: index, opcode: opcode, isFinal: true, isMasked: false,
                payloadByteCount: payloadByteCount)
        }
        return start..<buffer.count
    }

    private static func checkControl(_ opcode: Opcode, byteCount: Int, isFinal: Bool) {
        guard opcode.isControl else { return }
        precondition(
            byteCount <= MessageLimits.controlPayloadByteLimit && isFinal,
            "a control frame that is too long or not final")
    }

    /// How many bytes of a whole frame without a mask are its header.
    public static func headerByteCount(frameByteCount: Int) -> Int {
        frameByteCount <= 127 ? 2 : frameByteCount <= 0xFFFF + 4 ? 4 : 10
    }

    /// The bytes of a header without the masking key, in the minimal form.
    private static func headerByteCount(payloadByteCount: Int) -> Int {
        payloadByteCount <= 125 ? 2 : payloadByteCount <= 0xFFFF ? 4 : 10
    }

    /// One byte of a header: by index, because the header goes to different places.
    private static func headerByte(
        at index: Int, opcode: Opcode, isFinal: Bool, isMasked: Bool, payloadByteCount: Int
    ) -> UInt8 {
        let byteCount = headerByteCount(payloadByteCount: payloadByteCount)
        if index == 0 {
            return opcode.rawValue | (isFinal ? 0x80 : 0)
        } else if index == 1 {
            let code = byteCount == 2 ? UInt8(payloadByteCount) : byteCount == 4 ? 126 : 127
            return code | (isMasked ? 0x80 : 0)
        } else {
            return UInt8(truncatingIfNeeded: payloadByteCount >> (8 * (byteCount - 1 - index)))
        }
    }
}
