import BelfryBytes

/// Reads what a NATS server sends, in pieces of any size.
///
/// The protocol is lines that end with CR LF. The line of a message is followed by its bytes, whose
/// number it tells, and another CR LF.
public struct ServerParser: Sendable {
    private enum Phase {
        case line
        case content
        case failed(NATSError)
    }

    /// The operations of a server; their names are taken in any case.
    private enum Operation: String, CaseIterable {
        case messageWithHeaders = "HMSG"
        case message = "MSG"
        case ping = "PING"
        case pong = "PONG"
        case info = "INFO"
        case ok = "+OK"
        case error = "-ERR"
    }

    private let limits: NATSLimits
    private var phase = Phase.line
    private var line: [UInt8] = []
    private var message = Message()
    private var headerByteCount = 0
    private var payloadByteCount = 0
    /// The bytes of the CR LF behind a payload that have come.
    private var endByteCount = 0

    /// Makes a parser for a new connection.
    public init(limits: NATSLimits) {
        self.limits = limits
    }

    /// Whether the bytes so far end where an event does.
    public var isBetweenEvents: Bool {
        if case .line = phase { line.isEmpty } else { false }
    }

    /// Takes the next event out of the bytes from `cursor` on, and moves it behind what was read.
    ///
    /// - Returns: The event, or `nil` when more bytes are needed; `cursor` is at their end then.
    /// - Throws: `NATSError`; the connection is lost, and the same error comes again.
    public mutating func nextEvent(
        in bytes: Span<UInt8>, at cursor: inout Int
    ) throws(NATSError) -> ServerEvent? {
        do throws(NATSError) {
            while true {
                switch phase {
                case .line:
                    guard try readLine(bytes, at: &cursor) else { return nil }
                    let event = try endLine()
                    line.removeAll(keepingCapacity: true)
                    if let event { return event }
                case .content:
                    return try readContent(bytes, at: &cursor)
                case .failed(let error):
                    throw error
                }
            }
        } catch {
            phase = .failed(error)
            throw error
        }
    }

    // MARK: - Lines

    /// Reads on to the end of a line; true when it is in `line`, without its CR LF.
    private mutating func readLine(
        _ bytes: Span<UInt8>, at cursor: inout Int
    ) throws(NATSError) -> Bool {
        while cursor < bytes.count {
            let byte = bytes[cursor]
            cursor += 1
            if byte == .lineFeed {
                guard line.popLast() == .carriageReturn else { throw .invalidLineEnd }
                return true
            }
            guard line.last != .carriageReturn else { throw .invalidLineEnd }
            // A CR at the limit may be that of the end.
            if line.count >= limits.controlLineByteLimit, byte != .carriageReturn {
                try checkLineLimit()
            }
            line.append(byte)
        }
        return false
    }

    /// Checks that the line, which is as long as others may be, may be longer.
    private func checkLineLimit() throws(NATSError) {
        guard line.span.extracting(first: 5).isWord("INFO ") else {
            throw .controlLineTooLong(limit: limits.controlLineByteLimit)
        }
        guard line.count < limits.infoByteLimit else {
            throw .infoTooLong(limit: limits.infoByteLimit)
        }
    }

    /// Reads the operation of the line.
    ///
    /// - Returns: `nil` for the line of a message, whose content follows.
    private mutating func endLine() throws(NATSError) -> ServerEvent? {
        let (operation, arguments) = try splitLine()
        switch operation {
        case .message, .messageWithHeaders:
            try begin(arguments, hasHeaders: operation == .messageWithHeaders)
            return nil
        case .info: return .info(try ServerInfo(json: arguments))
        case .error: return .error(ServerRefusal(quoted: arguments))
        case .ping, .pong, .ok:
            guard arguments.isEmpty else { throw .malformedArguments }
            return operation == .ping ? .ping : operation == .pong ? .pong : .ok
        }
    }

    private func splitLine() throws(NATSError) -> (Operation, arguments: [UInt8]) {
        let nameEnd = line.firstIndex(where: \.isBlank) ?? line.count
        let name = line.span.extracting(..<nameEnd)
        let rest = line.span.extracting(nameEnd...)
        for operation in Operation.allCases where name.isWord(operation.rawValue) {
            return (operation, Array(copying: rest.extracting(rest.trimmed)))
        }
        throw .unknownOperation
    }

    // MARK: - Messages

    /// Reads `subject sid [reply-to] [header bytes] total bytes`.
    private mutating func begin(_ line: [UInt8], hasHeaders: Bool) throws(NATSError) {
        let words = line.split(whereSeparator: \.isBlank).map(Array.init)
        let sizeCount = hasHeaders ? 2 : 1
        let sizes = words.suffix(sizeCount).compactMap(\.decimal).compactMap(Int.init(exactly:))
        guard words.count == 2 + sizeCount || words.count == 3 + sizeCount,
            let sid = words[1].decimal, sizes.count == sizeCount,
            let byteCount = sizes.last, byteCount >= sizes[0]
        else { throw .malformedArguments }
        headerByteCount = hasHeaders ? sizes[0] : 0
        payloadByteCount = byteCount - headerByteCount
        guard headerByteCount <= limits.headerByteLimit else {
            throw .headersTooLarge(byteCount: headerByteCount, limit: limits.headerByteLimit)
        }
        guard payloadByteCount <= limits.payloadByteLimit else {
            throw .payloadTooLarge(byteCount: payloadByteCount, limit: limits.payloadByteLimit)
        }
        message = Message()
        message.subject = words[0]
        message.sid = sid
        message.replyTo = words.count == 3 + sizeCount ? words[2] : nil
        endByteCount = 0
        phase = .content
    }

    /// Reads on in header block, payload and CR LF; each byte is copied once.
    private mutating func readContent(
        _ bytes: Span<UInt8>, at cursor: inout Int
    ) throws(NATSError) -> ServerEvent? {
        Self.fill(&message.headerBytes, upTo: headerByteCount, bytes, at: &cursor)
        Self.fill(&message.payload, upTo: payloadByteCount, bytes, at: &cursor)
        while cursor < bytes.count {
            let end: UInt8 = endByteCount == 0 ? .carriageReturn : .lineFeed
            guard bytes[cursor] == end else { throw .invalidLineEnd }
            cursor += 1
            endByteCount += 1
            guard end == .lineFeed else { continue }
            phase = .line
            defer { message = Message() }
            return .message(message)
        }
        return nil
    }

    /// Adds what is missing of `byteCount` bytes, or all that there is.
    private static func fill(
        _ target: inout [UInt8], upTo byteCount: Int, _ bytes: Span<UInt8>, at cursor: inout Int
    ) {
        if target.isEmpty { target.reserveCapacity(byteCount) }
        let end = cursor + min(byteCount - target.count, bytes.count - cursor)
        target.append(bytes.extracting(cursor..<end))
        cursor = end
    }
}
