import BelfryCenter
import BelfryWire

/// Where the encoded frames of one notification stand: one for each selector and encoding, one for
/// event streams.
struct FrameCache {
    /// Writes them; it keeps what deliveries of one notification share.
    var writer = DeliveryWriter()
    /// By selector: the frame, and the stamp of the notification that it is of.
    private var frames: [Entry] = []
    /// The same by encoding, where frames are compressed.
    private var deflated = [[Entry]](repeating: [], count: FrameEncoding.allCases.count)
    private var events = Entry()
    private var stamp: UInt32 = 0

    private struct Entry {
        var stamp: UInt32 = 0
        var start = 0
        var end = 0
    }

    /// The frames of the last notification are of no more use.
    mutating func startNotification() {
        stamp &+= 1
        if stamp == 0 {
            frames.removeAll(keepingCapacity: true)
            for index in deflated.indices { deflated[index] = [] }
            events = Entry()
            stamp = 1
        }
        if frames.count > 4_096 { frames = [] }
    }

    /// Where the compressed frame for a delivery stands, or the plain one if it is not worth it.
    func range(of delivery: Delivery, _ encoding: FrameEncoding) -> Range<Int>? {
        let (kind, selector) = (Int(encoding.rawValue), Int(delivery.selector))
        guard Self.isShared(delivery), selector < deflated[kind].count else { return nil }
        let entry = deflated[kind][selector]
        return entry.stamp == stamp ? entry.start..<entry.end : nil
    }

    /// Notes where the frame for connections of an encoding stands.
    mutating func note(_ range: Range<Int>, of delivery: Delivery, _ encoding: FrameEncoding) {
        guard Self.isShared(delivery) else { return }
        let (kind, selector) = (Int(encoding.rawValue), Int(delivery.selector))
        if deflated[kind].count > 4_096, selector <= 4_096 { deflated[kind] = [] }
        while deflated[kind].count <= selector { deflated[kind].append(Entry()) }
        deflated[kind][selector] = Entry(
            stamp: stamp, start: range.lowerBound, end: range.upperBound)
    }

    /// Where the frame for a delivery stands, if it was encoded and serves more than one observer.
    func range(of delivery: Delivery) -> Range<Int>? {
        guard Self.isShared(delivery) else { return nil }
        let entry: Entry
        switch delivery.transport {
        case .events: entry = events
        case .mailbox: return nil
        case .webSocket:
            guard Int(delivery.selector) < frames.count else { return nil }
            entry = frames[Int(delivery.selector)]
        }
        return entry.stamp == stamp ? entry.start..<entry.end : nil
    }

    /// Notes where a frame was written, if it serves more than one observer.
    mutating func note(_ range: Range<Int>, of delivery: Delivery) {
        guard Self.isShared(delivery) else { return }
        let entry = Entry(stamp: stamp, start: range.lowerBound, end: range.upperBound)
        switch delivery.transport {
        case .events: events = entry
        case .mailbox: break
        case .webSocket:
            while frames.count <= Int(delivery.selector) { frames.append(Entry()) }
            frames[Int(delivery.selector)] = entry
        }
    }

    /// Whether the frame names no observer, and is not marked for one alone.
    static func isShared(_ delivery: Delivery) -> Bool {
        delivery.form == .shared && !delivery.isRedelivered
    }
}
