import BelfryAccess
import BelfryHTTP
import BelfryWire

/// One HTTP request on its way in.
///
/// One exchange serves all connections of a loop in turn; a connection takes it along only when its
/// request is unfinished at the end of what was read.
struct Exchange {
    var parser: RequestParser
    /// The content so far, unless all of it lies in what was just read.
    var content: [UInt8] = []
    /// Where the content lies in what was just read.
    var contentRange: Range<Int>?
    /// Whether the head was read and the end was not.
    var isInContent = false
    /// What the request asks for; nil until the head was read, or when it is refused.
    var path: RoutedPath?
    /// Why it is refused, once that is known; its content is still read.
    var refusal: Problem?
    /// The fields that belong to the refusal.
    var refusalFields: [HTTPField] = []
    /// The form of its answer.
    var reply = HTTPReply(context: .closing)

    init(limits: HTTPLimits) {
        parser = RequestParser(limits: limits)
    }

    /// Forgets the last request.
    mutating func begin() {
        content.removeAll(keepingCapacity: content.capacity <= 65_536)
        contentRange = nil
        path = nil
        refusal = nil
        refusalFields = []
    }

    /// Notes a piece of content; the first one is only pointed at.
    mutating func addContent(_ range: Range<Int>, of bytes: Span<UInt8>) {
        if content.isEmpty, contentRange == nil {
            contentRange = range
        } else {
            keepContent(of: bytes)
            content.append(copying: bytes.extracting(range))
        }
    }

    /// Copies what was only pointed at, before the bytes go.
    mutating func keepContent(of bytes: Span<UInt8>) {
        guard let range = contentRange else { return }
        contentRange = nil
        content.append(copying: bytes.extracting(range))
    }
}

extension [UInt8] {
    /// Appends the bytes of a span.
    mutating func append(copying bytes: Span<UInt8>) {
        let needed = count + bytes.count
        // Growing by doubling keeps many small pieces linear in all.
        if needed > capacity { reserveCapacity(Swift.max(needed, capacity * 2)) }
        for index in bytes.indices { append(bytes[index]) }
    }

    /// Copies the bytes of a span.
    init(copying bytes: Span<UInt8>) {
        self.init()
        append(copying: bytes)
    }
}
