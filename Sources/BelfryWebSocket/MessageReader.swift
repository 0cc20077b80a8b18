/// Turns the bytes of one direction of a connection into messages and control frames.
///
/// It reads in place out of the caller's receive buffer, and keeps the unfinished part of a frame
/// or message; payload is unmasked and checked as it arrives, so a fault is reported at its first
/// byte (RFC 6455 §8.1 requires that only at the end of the message).
///
/// The reader keeps only the compressed bytes of an unfinished message: a connection holds no
/// more memory than its peer has sent, however much that would become. They are inflated for a
/// check as often as their number doubles, so that a bomb is found before its end (RFC 7692
/// §7.2.2).
///
/// The storage of `message` and `control` is reused, so one reader can serve many idle connections:
/// a connection needs a reader of its own only while `isBetweenMessages` is false. After a Close or
/// an error a reader stays ended, and a shared one is replaced by a new one.
public struct MessageReader {
    /// The unmasked message of the last `.text` or `.binary` event, until the next call.
    public private(set) var message: [UInt8] = []

    /// The payload of the last `.ping` or `.pong` event, or the reason of the last `.close`.
    public private(set) var control: [UInt8] = []

    /// Inflates compressed messages; `nil` when compression was not agreed on.
    ///
    /// Several readers of a thread may have the same one. It changes between two messages only.
    public var inflater: Inflater?

    private let limits: MessageLimits
    private var phase = Phase.header
    private var headers: FrameHeaderReader
    private var openMessage: OpenMessage?

    private enum Phase {
        case header
        case payload(FrameHeader)
        /// After a Close frame or an error: "the endpoint MUST NOT continue to attempt to process
        /// data" (RFC 6455 §7.1.7).
        case ended
    }

    /// The facts about a message whose last fragment has not arrived.
    private struct OpenMessage {
        let isText: Bool
        let isCompressed: Bool
        var fragmentCount = 1
        var text = UTF8Validator()
        /// The number of compressed bytes at which they are looked at again.
        var nextProbe = MessageReader.firstProbe
    }

    /// The compressed bytes of the message that is open.
    private var compressed: [UInt8] = []

    /// How many compressed bytes are looked at first: less cannot become more than a mebibyte.
    private static let firstProbe = 1_024

    /// The capacity in bytes that stays allocated for the next message.
    private static let keptByteCapacity = 65_536

    /// A reader for the endpoint that plays `role`.
    public init(
        role: Role, limits: MessageLimits = MessageLimits(), inflater: Inflater? = nil
    ) {
        self.limits = limits
        self.inflater = inflater
        headers = FrameHeaderReader(role: role)
    }

    /// Whether nothing is unfinished: no message, no frame and no part of a frame header.
    ///
    /// It is false after a Close frame and after an error.
    public var isBetweenMessages: Bool {
        switch phase {
        case .header: headers.byteCount == 0 && openMessage == nil
        case .payload, .ended: false
        }
    }

    /// The bytes that it keeps of a message or a control frame that is unfinished.
    public var byteCount: Int { message.count + compressed.count + control.count }

    /// Forgets the message that was read whole; only an unfinished one is left.
    public mutating func forgetLast() {
        if openMessage == nil { (message, compressed) = ([], []) }
        if case .payload(let header) = phase, header.opcode.isControl { return }
        control = []
    }

    /// Reads on at `cursor`, and returns the next event, or `nil` when more bytes are needed.
    ///
    /// Call it until it returns `nil`; then `cursor` is at the end, and the bytes may go. After a
    /// `.close` event and after an error all further bytes are ignored.
    ///
    /// - Throws: `WebSocketError`; events of the bytes before the fault were returned earlier.
    public mutating func nextEvent(
        in bytes: Span<UInt8>, at cursor: inout Int
    ) throws(WebSocketError) -> WebSocketEvent? {
        do {
            return try readEvent(in: bytes, at: &cursor)
        } catch {
            phase = .ended
            cursor = bytes.count
            throw error
        }
    }

    private mutating func readEvent(
        in bytes: Span<UInt8>, at cursor: inout Int
    ) throws(WebSocketError) -> WebSocketEvent? {
        while true {
            switch phase {
            case .header:
                guard
                    let header = try headers.next(
                        in: bytes, at: &cursor, allowsCompressed: inflater != nil)
                else { return nil }
                try begin(header)
                phase = .payload(header)
            case .payload(var header):
                try take(&header, from: bytes, at: &cursor)
                guard header.payloadByteCount == 0 else {
                    phase = .payload(header)
                    return nil
                }
                phase = .header
                if let event = try end(header) { return event }
            case .ended:
                cursor = bytes.count
                return nil
            }
        }
    }

    /// Checks a frame against the message that is open, and makes room for it (RFC 6455 §5.4).
    private mutating func begin(_ header: FrameHeader) throws(WebSocketError) {
        switch header.opcode {
        case .close, .ping, .pong:
            control.removeAll(keepingCapacity: true)
        case .text, .binary:
            guard openMessage == nil else { throw .missingContinuation }
            openMessage = OpenMessage(
                isText: header.opcode == .text, isCompressed: header.isCompressed)
            message.removeAll(keepingCapacity: message.capacity <= Self.keptByteCapacity)
            compressed.removeAll(keepingCapacity: compressed.capacity <= Self.keptByteCapacity)
            try checkSize(adding: header.payloadByteCount)
        case .continuation:
            guard let fragmentCount = openMessage?.fragmentCount else {
                throw .unexpectedContinuation
            }
            guard fragmentCount < limits.fragmentLimit else {
                throw .tooManyFragments(limit: limits.fragmentLimit)
            }
            openMessage?.fragmentCount = fragmentCount + 1
            try checkSize(adding: header.payloadByteCount)
        }
    }

    private func checkSize(adding byteCount: Int) throws(WebSocketError) {
        let isCompressed = openMessage?.isCompressed == true
        let limit = isCompressed ? limits.compressedByteLimit : limits.messageByteLimit
        let known = isCompressed ? compressed.count : message.count
        guard byteCount <= limit - known else {
            let (sum, isOverflow) = known.addingReportingOverflow(byteCount)
            throw .messageTooBig(byteCount: isOverflow ? .max : sum, limit: limit)
        }
    }

    /// Unmasks the received bytes of a payload; `header` then has the count of those to come.
    ///
    /// Room is made for bytes that have arrived only: a header alone cannot make the reader
    /// allocate.
    private mutating func take(
        _ header: inout FrameHeader, from bytes: Span<UInt8>, at cursor: inout Int
    ) throws(WebSocketError) {
        let byteCount = min(header.payloadByteCount, bytes.count - cursor)
        guard byteCount > 0 else { return }
        let payload = bytes.extracting(cursor..<(cursor + byteCount))
        cursor += byteCount
        header.payloadByteCount -= byteCount
        if header.opcode.isControl {
            header.maskingKey.append(payload, to: &control)
        } else if openMessage?.isCompressed == true {
            try takeCompressed(payload, &header)
        } else {
            let start = message.count
            header.maskingKey.append(payload, to: &message)
            try checkText(from: start)
        }
    }

    private mutating func checkText(from start: Int) throws(WebSocketError) {
        guard let open = openMessage, open.isText else { return }
        var text = open.text
        if let fault = text.firstFault(in: message.span.extracting(start...)) {
            throw .invalidUTF8(byteOffset: start + fault)
        }
        openMessage?.text = text
    }

    /// Reports a frame whose payload is complete, unless more fragments follow.
    private mutating func end(_ header: FrameHeader) throws(WebSocketError) -> WebSocketEvent? {
        switch header.opcode {
        case .ping: return .ping
        case .pong: return .pong
        case .close: return try endClose()
        case .text, .binary, .continuation: return header.isFinal ? try endMessage() : nil
        }
    }

    private mutating func endMessage() throws(WebSocketError) -> WebSocketEvent? {
        if openMessage?.isCompressed == true { try inflate(isWhole: true) }
        guard let ended = openMessage else { return nil }
        guard ended.text.isAtBoundary else { throw .invalidUTF8(byteOffset: message.count) }
        openMessage = nil
        return ended.isText ? .text : .binary
    }

    // MARK: Compressed messages

    /// Keeps the received bytes of a compressed payload, and checks it from time to time.
    private mutating func takeCompressed(
        _ payload: Span<UInt8>, _ header: inout FrameHeader
    ) throws(WebSocketError) {
        var start = 0
        // A message whose end is here is looked at once, at its end.
        let endsHere = header.isFinal && header.payloadByteCount == 0
        while !endsHere, let next = openMessage?.nextProbe,
            next <= compressed.count + payload.count - start
        {
            let end = start + next - compressed.count
            header.maskingKey.append(payload.extracting(start..<end), to: &compressed)
            start = end
            openMessage?.nextProbe = next * 2
            try inflate(isWhole: false)
        }
        header.maskingKey.append(payload.extracting(start..<payload.count), to: &compressed)
    }

    /// Inflates a compressed message so far: into `message`, or only to check it.
    ///
    /// The result does not depend on how often it is done: the first fault counts, in the order of
    /// the inflated bytes.
    private mutating func inflate(isWhole: Bool) throws(WebSocketError) {
        guard let inflater, var open = openMessage else { return }
        // Some senders make no byte of an empty message, where §7.2.3.6 has one.
        if compressed.isEmpty { return }
        if isWhole { compressed += Inflater.tail }
        inflater.begin()
        var cursor = 0
        var inflatedCount = 0
        while true {
            let count = try inflater.step(compressed.span, at: &cursor)
            if count == 0 { break }
            let accepted = min(count, limits.messageByteLimit - inflatedCount)
            let piece = inflater.piece
            if open.isText,
                let fault = open.text.firstFault(in: piece.span.extracting(0..<accepted))
            {
                throw .invalidUTF8(byteOffset: inflatedCount + fault)
            }
            guard accepted == count else {
                throw .messageTooBig(
                    byteCount: limits.messageByteLimit + 1, limit: limits.messageByteLimit)
            }
            inflatedCount += count
            if isWhole { message += piece[..<count] }
        }
        guard isWhole else { return }
        guard inflater.isAtBoundary else { throw .invalidDeflate }
        openMessage = open
    }

    /// Splits a Close frame (RFC 6455 §5.5.1): no payload, or a code and a UTF-8 reason.
    private mutating func endClose() throws(WebSocketError) -> WebSocketEvent {
        phase = .ended
        guard !control.isEmpty else { return .close(code: nil) }
        guard control.count >= 2 else { throw .truncatedCloseCode }
        let code = CloseCode(rawValue: UInt16(control[0]) << 8 | UInt16(control[1]))
        guard code.isValidOnWire else { throw .invalidCloseCode(code) }
        control.removeFirst(2)
        var reason = UTF8Validator()
        if let fault = reason.firstFault(in: control.span) {
            throw .invalidUTF8(byteOffset: fault)
        }
        guard reason.isAtBoundary else { throw .invalidUTF8(byteOffset: control.count) }
        return .close(code: code)
    }
}
