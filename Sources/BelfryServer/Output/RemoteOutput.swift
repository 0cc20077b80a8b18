import BelfryLoop

/// The output of one loop for connections of another: encoded once, in order.
struct RemoteOutput: Sendable {
    /// Bytes for single connections.
    private(set) var bytes: [UInt8] = []
    /// Frames for rows of connections.
    private(set) var frames: [UInt8] = []
    private(set) var items: [Item] = []
    /// The connections of all rows, and their observers.
    private(set) var connections: [ConnectionID] = []
    private(set) var observers: [UInt64] = []
    /// The copies of the current notification's frames, by where these were.
    private var copies: [Int: Range<Int>] = [:]

    /// Bytes for one connection.
    struct Item: Sendable {
        let connection: UInt64
        let start: Int
        let end: Int
        let content: OutboxItem.Content
    }

    var isEmpty: Bool { items.isEmpty }

    /// Begins the frames of another notification.
    mutating func startNotification() {
        copies.removeAll(keepingCapacity: true)
    }

    /// Adds a frame of an arena for a row of observers; a frame is copied once.
    mutating func add(_ range: Range<Int>, of arena: [UInt8], to row: DeliveryRow) {
        let copy: Range<Int>
        if let known = copies[range.lowerBound] {
            copy = known
        } else {
            copy = frames.count..<frames.count + range.count
            frames.append(contentsOf: arena[range])
            copies[range.lowerBound] = copy
        }
        if let last = items.last, case .deliveries(let places) = last.content,
            last.end == copy.lowerBound, observers[places].elementsEqual(row.observers),
            connections[places].elementsEqual(row.connections)
        {
            // Mostly the next frame of a turn is for the same observers.
            items[items.count - 1] = Item(
                connection: 0, start: last.start, end: copy.upperBound, content: last.content)
            return
        }
        let start = connections.count
        connections.append(contentsOf: row.connections)
        observers.append(contentsOf: row.observers)
        items.append(
            Item(
                connection: 0, start: copy.lowerBound, end: copy.upperBound,
                content: .deliveries(start..<connections.count)))
    }

    /// Adds bytes for one connection.
    mutating func add(_ other: [UInt8], to connection: UInt64, _ content: OutboxItem.Content) {
        let start = bytes.count
        bytes.append(contentsOf: other)
        items.append(
            Item(connection: connection, start: start, end: bytes.count, content: content))
    }
}

/// The observers of one loop that get one frame, in registration order.
struct DeliveryRow {
    var connections: [ConnectionID] = []
    var observers: [UInt64] = []

    mutating func removeAll() {
        connections.removeAll(keepingCapacity: connections.capacity <= 1 << 16)
        observers.removeAll(keepingCapacity: observers.capacity <= 1 << 16)
    }
}
