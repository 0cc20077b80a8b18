import BelfryBytes

/// An event that an `EventStreamParser` found in the bytes.
public enum EventStreamEvent: Sendable, Equatable {
    /// An event is complete.
    case event(ServerSentEvent)
    /// A block without data has moved the last id to this one.
    case position([UInt8])
    /// The server asks for this reconnection time.
    case retry(milliseconds: Int)
    /// A comment, without its colon; servers send them to keep a connection alive.
    case comment([UInt8])
}

/// One event of an event stream.
public struct ServerSentEvent: Sendable, Equatable {
    /// The last id that the stream gave, up to this event.
    public var id: [UInt8]
    /// The type; empty for the default, which is `message`.
    public var type: [UInt8]
    /// The data; its lines are joined with LF.
    public var data: [UInt8]

    /// Makes an event out of its parts.
    public init(id: [UInt8] = [], type: [UInt8] = [], data: [UInt8]) {
        self.id = id
        self.type = type
        self.data = data
    }
}

/// Reads `text/event-stream` as WHATWG HTML §9.2.6 has it, in pieces of any size.
///
/// Unlike there, bytes are kept as they are: UTF-8 is left to the caller.
public struct EventStreamParser: Sendable {
    /// The last id that the stream gave: what Last-Event-ID is after a reconnection.
    public private(set) var lastEventID: [UInt8]

    private let byteLimit: Int
    private var line: [UInt8] = []
    private var isAfterReturn = false
    private var isFirstLine = true
    private var type: [UInt8] = []
    private var data: [UInt8] = []
    private var hasData = false
    private var nextID: [UInt8]

    /// Makes a parser for a new connection.
    ///
    /// - Parameters:
    ///   - lastEventID: The id that an earlier connection ended with.
    ///   - byteLimit: The longest line and the largest data of one event, in bytes.
    public init(lastEventID: [UInt8] = [], byteLimit: Int = 1_048_576) {
        self.lastEventID = lastEventID
        self.byteLimit = byteLimit
        nextID = lastEventID
    }

    /// Takes the next event out of the bytes from `cursor` on, and moves it behind what was read.
    ///
    /// - Returns: The event, or `nil` when more bytes are needed; `cursor` is at their end then.
    /// - Throws: `HTTPError.eventTooLong`.
    public mutating func nextEvent(
        in bytes: Span<UInt8>, at cursor: inout Int
    ) throws(HTTPError) -> EventStreamEvent? {
        while cursor < bytes.count {
            if isAfterReturn {
                isAfterReturn = false
                if bytes[cursor] == ASCII.lineFeed {
                    cursor += 1
                    continue
                }
            }
            let start = cursor
            while cursor < bytes.count, !isLineEnd(bytes[cursor]) { cursor += 1 }
            guard cursor - start <= byteLimit - line.count else {
                throw .eventTooLong(limit: byteLimit)
            }
            line.append(bytes.extracting(start..<cursor))
            guard cursor < bytes.count else { return nil }
            isAfterReturn = bytes[cursor] == ASCII.carriageReturn
            cursor += 1
            if let event = try endLine() { return event }
        }
        return nil
    }

    private func isLineEnd(_ byte: UInt8) -> Bool {
        byte == ASCII.lineFeed || byte == ASCII.carriageReturn
    }

    private mutating func endLine() throws(HTTPError) -> EventStreamEvent? {
        defer { line.removeAll(keepingCapacity: true) }
        if isFirstLine {
            isFirstLine = false
            // One byte order mark may come first.
            if line.starts(with: [0xEF, 0xBB, 0xBF]) { line.removeFirst(3) }
        }
        guard let first = line.first else { return dispatch() }
        guard first != ASCII.colon else { return .comment(Array(line.dropFirst())) }
        let colon = line.firstIndex(of: ASCII.colon) ?? line.count
        var value = line.dropFirst(colon + 1)
        if value.first == ASCII.space { value.removeFirst() }
        let name = line[..<colon]
        if name.elementsEqual("data".utf8) {
            if hasData { data.append(ASCII.lineFeed) }
            guard value.count <= byteLimit - data.count else {
                throw .eventTooLong(limit: byteLimit)
            }
            data += value
            hasData = true
        } else if name.elementsEqual("event".utf8) {
            type = Array(value)
        } else if name.elementsEqual("id".utf8), !value.contains(0) {
            nextID = Array(value)
        } else if name.elementsEqual("retry".utf8) {
            let digits = Array(value)
            guard let time = try? Framing.contentLength(digits.span) else { return nil }
            return .retry(milliseconds: time)
        }
        return nil
    }

    /// An empty line ends an event; one without data only fixes the id.
    private mutating func dispatch() -> EventStreamEvent? {
        let isMoved = lastEventID != nextID
        lastEventID = nextID
        defer {
            type = []
            data = []
            hasData = false
        }
        guard hasData else { return isMoved ? .position(lastEventID) : nil }
        return .event(ServerSentEvent(id: lastEventID, type: type, data: data))
    }
}
