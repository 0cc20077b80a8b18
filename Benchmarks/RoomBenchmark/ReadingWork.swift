import BelfryHTTP
import BelfryWebSocket

/// Reads one frame of a client over and over, as it lies in a receive buffer.
struct ReadingFrames: Work {
    private let frame: [UInt8]
    /// After a Close frame nothing more is read, so each has a reader of its own.
    private let endsReader: Bool
    private var reader = MessageReader(role: .server)

    /// A frame with this opcode and so many bytes of text, masked (RFC 6455 §5.2).
    init(opcode: UInt8, payloadByteCount count: Int) {
        var frame = [0x80 | opcode]
        switch count {
        case ..<126:
            frame.append(0x80 | UInt8(count))
        case ..<65_536:
            frame += [0x80 | 126, UInt8(count >> 8), UInt8(count & 0xFF)]
        default:
            frame.append(0x80 | 127)
            for shift in stride(from: 56, through: 0, by: -8) {
                frame.append(UInt8(truncatingIfNeeded: count >> shift))
            }
        }
        let mask: [UInt8] = [0x11, 0x22, 0x33, 0x44]
        frame += mask
        // A Close begins with its code, 1000.
        var payload: [UInt8] = opcode == 8 ? [0x03, 0xE8] : []
        payload += (payload.count..<count).map { UInt8(ascii: "a") + UInt8($0 % 26) }
        for (index, byte) in payload.enumerated() { frame.append(byte ^ mask[index % 4]) }
        self.frame = frame
        endsReader = opcode == 8
    }

    mutating func run(_ count: Int) {
        let bytes = frame
        var eventCount = 0
        for _ in 0..<count {
            if endsReader { reader = MessageReader(role: .server) }
            let span = bytes.span
            var cursor = 0
            do throws(WebSocketError) {
                while try reader.nextEvent(in: span, at: &cursor) != nil { eventCount += 1 }
            } catch {
                fatalError("\(error)")
            }
        }
        precondition(eventCount == count, "a frame was not read")
    }
}

/// Reads one POST over and over out of a receive buffer; or two whose heads differ in a byte.
struct ReadingPosts: Work {
    private let requests: [[UInt8]]
    private var parser = RequestParser(limits: HTTPLimits())

    init(repeatsHead: Bool) {
        let content = #"{"title":"7"}"#
        requests = ["ButtonChange", repeatsHead ? "ButtonChange" : "ButtonChangf"].map { name in
            Array(
                """
                POST /v1/channels/\(name) HTTP/1.1\r
                Host: 127.0.0.1\r
                Content-Type: application/json\r
                Content-Length: \(content.utf8.count)\r
                \r
                \(content)
                """.utf8)
        }
    }

    mutating func run(_ count: Int) {
        var eventCount = 0
        for turn in 0..<count {
            let bytes = requests[turn & 1]
            let span = bytes.span
            var cursor = 0
            do throws(HTTPError) {
                while try parser.nextEvent(in: span, at: &cursor) != nil { eventCount += 1 }
            } catch {
                fatalError("\(error)")
            }
        }
        // Its head, its content and its end.
        precondition(eventCount == 3 * count, "a request was not read")
    }
}
