import BelfryCenter
import BelfryWire

/// The content of one frame for a client.
struct Frame: Equatable {
    /// The method that is called, or the type of an event; empty when the wire does not say.
    var method: [UInt8] = []
    var id: [UInt8] = []
    var sequence: UInt64 = 0
    var name: [UInt8] = []
    var object: [UInt8]?
    var userInfo: [UInt8]?
    var causedBy: [UInt8]?
    var observer: [UInt8]?
    var isRedelivered = false
    /// The id under which an acknowledgement is expected.
    var requestID: [UInt8]?
    /// The fields of a gap frame.
    var lost: [UInt8]?
    var firstSequence: [UInt8]?
    var lastSequence: [UInt8]?
    var reason: [UInt8]?

    /// Reads the bytes of a frame: a WebSocket text, or one event of a stream.
    static func read(_ bytes: [UInt8], isEvent: Bool) -> Frame? {
        var frame = Frame()
        guard isEvent else {
            var scanner = MemberScanner(bytes, from: 0)
            return frame.take(from: &scanner) ? frame : nil
        }
        var start = 0
        var hasContent = false
        while start < bytes.count {
            var end = start
            while end < bytes.count, bytes[end] != 10 { end += 1 }
            let line = Array(bytes[start..<end])
            if line.starts(with: "event: ".utf8) { frame.method = Array(line.dropFirst(7)) }
            if line.starts(with: "data: ".utf8) {
                var scanner = MemberScanner(line, from: 6)
                guard frame.take(from: &scanner) else { return nil }
                hasContent = true
            }
            start = end + 1
        }
        return hasContent ? frame : nil
    }

    private mutating func take(from scanner: inout MemberScanner) -> Bool {
        scanner.forEachMember { key, value, scanner in
            switch key {
            case Key.method: method = value
            case Key.params: _ = take(from: &scanner)
            case Key.id:
                // The id of the request is outside of the params, the notification's inside.
                if scanner.depth == 1, scanner.isRequest { requestID = value } else { id = value }
            case Key.seq: sequence = MemberScanner.number(value)
            case Key.name: name = value
            case Key.object: object = value
            case Key.userInfo: userInfo = value
            case Key.causedBy: causedBy = value
            case Key.observer: observer = value
            case Key.redelivered: isRedelivered = value == Key.isTrue
            case Key.lost: lost = value
            case Key.firstSeq: firstSequence = value
            case Key.lastSeq: lastSequence = value
            case Key.reason: reason = value
            default: break
            }
        }
    }

    private enum Key {
        static let method = [UInt8]("method")
        static let params = [UInt8]("params")
        static let id = [UInt8]("id")
        static let seq = [UInt8]("seq")
        static let name = [UInt8]("name")
        static let object = [UInt8]("object")
        static let userInfo = [UInt8]("userInfo")
        static let causedBy = [UInt8]("causedBy")
        static let observer = [UInt8]("observer")
        static let redelivered = [UInt8]("redelivered")
        static let lost = [UInt8]("lost")
        static let firstSeq = [UInt8]("firstSeq")
        static let lastSeq = [UInt8]("lastSeq")
        static let reason = [UInt8]("reason")
        static let isTrue = [UInt8]("true")
    }
}

/// Walks the members of a JSON object that has no escapes: the simulator's texts have none.
struct MemberScanner {
    private let bytes: [UInt8]
    private var position: Int
    private(set) var depth = 0
    /// Whether the outermost object has `"jsonrpc"`: then its `id` is that of a request.
    private(set) var isRequest = false

    init(_ bytes: [UInt8], from position: Int) {
        self.bytes = bytes
        self.position = position
    }

    static func number(_ text: [UInt8]) -> UInt64 {
        text.reduce(0) { $0 &* 10 &+ UInt64($1 &- 48) }
    }

    /// Calls the visitor with each member; an object called `params` is left for it to walk.
    mutating func forEachMember(
        _ visit: ([UInt8], [UInt8], inout MemberScanner) -> Void
    ) -> Bool {
        guard take(UInt8(ascii: "{")) else { return false }
        depth += 1
        defer { depth -= 1 }
        if take(UInt8(ascii: "}")) { return true }
        repeat {
            guard let key = text(), take(UInt8(ascii: ":")) else { return false }
            if key == [UInt8]("jsonrpc") { isRequest = true }
            if key == [UInt8]("params") {
                visit(key, [], &self)
            } else {
                guard let value = value() else { return false }
                visit(key, value, &self)
            }
        } while take(UInt8(ascii: ","))
        return take(UInt8(ascii: "}"))
    }

    private mutating func take(_ byte: UInt8) -> Bool {
        guard position < bytes.count, bytes[position] == byte else { return false }
        position += 1
        return true
    }

    private mutating func text() -> [UInt8]? {
        guard take(UInt8(ascii: "\"")) else { return nil }
        let start = position
        while position < bytes.count, bytes[position] != UInt8(ascii: "\"") { position += 1 }
        guard position < bytes.count else { return nil }
        position += 1
        return Array(bytes[start..<position - 1])
    }

    /// A text without its quotes, or the bytes of any other value.
    private mutating func value() -> [UInt8]? {
        guard position < bytes.count else { return nil }
        if bytes[position] == UInt8(ascii: "\"") { return text() }
        let start = position
        var nesting = 0
        while position < bytes.count {
            let byte = bytes[position]
            if byte == UInt8(ascii: "{") { nesting += 1 }
            if nesting == 0, byte == UInt8(ascii: ",") || byte == UInt8(ascii: "}") { break }
            if byte == UInt8(ascii: "}") { nesting -= 1 }
            position += 1
        }
        return Array(bytes[start..<position])
    }
}
