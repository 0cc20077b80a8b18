/// What one loop sends on connections of another: encoded once, in the order in which it must leave.
struct RemoteOutput: Sendable {
    private(set) var bytes: [UInt8] = []
    private(set) var items: [Item] = []
    /// Where the frames of the current notification were copied to, by where they stood.
    private var copies: [Int: Range<Int>] = [:]

    /// Some bytes for one connection.
    struct Item: Sendable {
        let connection: UInt64
        let start: Int
        let end: Int
        let content: Content
    }

    /// What the bytes are.
    enum Content: Sendable {
        /// A notification for an observer, which may be removed before it is written.
        case delivery(observer: UInt64)
        /// Something else that a client is told.
        case notice
        /// Frames that are the last of a client that was removed.
        case lastFrames
        case answer(Sequel)
        /// An answer on a connection that did not wait for it.
        case lateAnswer
        /// No bytes: more is held for the client, and is written when there is room.
        case flushGoesOn(client: UInt64)
    }

    var isEmpty: Bool { items.isEmpty }

    /// Frames that are added from now on belong to another notification.
    mutating func startNotification() {
        copies.removeAll(keepingCapacity: true)
    }

    /// Adds a frame of the output arena for one connection; a frame is copied once.
    mutating func add(
        _ range: Range<Int>, of output: [UInt8], to connection: UInt64, observer: UInt64
    ) {
        let copy: Range<Int>
        if let known = copies[range.lowerBound] {
            copy = known
        } else {
            copy = bytes.count..<bytes.count + range.count
            bytes.append(contentsOf: output[range])
            copies[range.lowerBound] = copy
        }
        items.append(
            Item(
                connection: connection, start: copy.lowerBound, end: copy.upperBound,
                content: .delivery(observer: observer)))
    }

    /// Adds bytes for one connection.
    mutating func add(_ other: [UInt8], to connection: UInt64, _ content: Content) {
        let start = bytes.count
        bytes.append(contentsOf: other)
        items.append(
            Item(connection: connection, start: start, end: bytes.count, content: content))
    }
}
