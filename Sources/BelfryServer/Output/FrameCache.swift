import BelfryCenter
import BelfryWire

/// The ranges of one notification's encoded frames, by transport or encoding, and by selector.
struct FrameCache {
    /// The writer; it keeps the parts that deliveries of one notification share.
    var writer = DeliveryWriter()
    /// Plain frames by transport, and compressed ones by encoding behind them; each by selector.
    private var frames: [[Entry]]
    private let transportCount = Transport.allCases.count
    private var stamp: UInt32 = 0
    /// Whether large numbers of selectors have made much room necessary.
    private var isLarge = false

    /// A frame, and the stamp of its notification.
    private struct Entry {
        var stamp: UInt32 = 0
        var start = 0
        var end = 0
    }

    init() {
        frames = [[Entry]](
            repeating: [], count: transportCount + FrameEncoding.allCases.count)
    }

    /// Drops the frames of the last notification.
    mutating func startNotification() {
        stamp &+= 1
        if stamp == 0 || isLarge {
            for kind in frames.indices { frames[kind] = [] }
            isLarge = false
            stamp = max(1, stamp)
        }
    }

    /// The range of a delivery's frame, if it is encoded and serves more than one observer.
    @inline(__always)
    func range(of delivery: Delivery, _ encoding: FrameEncoding) -> Range<Int>? {
        let (kind, selector) = (kind(of: delivery, encoding), Int(delivery.selector))
        guard Self.isShared(delivery), selector < frames[kind].count else { return nil }
        let entry = frames[kind][selector]
        return entry.stamp == stamp ? entry.start..<entry.end : nil
    }

    /// Notes the range of a frame, if it serves more than one observer.
    mutating func note(_ range: Range<Int>, of delivery: Delivery, _ encoding: FrameEncoding) {
        guard Self.isShared(delivery) else { return }
        let (kind, selector) = (kind(of: delivery, encoding), Int(delivery.selector))
        while frames[kind].count <= selector { frames[kind].append(Entry()) }
        frames[kind][selector] = Entry(
            stamp: stamp, start: range.lowerBound, end: range.upperBound)
        if selector >= 4_096 { isLarge = true }
    }

    @inline(__always)
    private func kind(of delivery: Delivery, _ encoding: FrameEncoding) -> Int {
        encoding == .plain
            ? Int(delivery.transport.rawValue) : transportCount + Int(encoding.rawValue)
    }

    /// Whether the frame names no observer, and has no mark for one alone.
    @inline(__always)
    static func isShared(_ delivery: Delivery) -> Bool {
        (delivery.form == .shared || delivery.form == .change) && !delivery.isRedelivered
    }
}
