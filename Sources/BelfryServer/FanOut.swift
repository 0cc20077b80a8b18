import BelfryCenter
import BelfryLoop
import BelfryWebSocket
import BelfryWire

/// The number under which a center knows a connection: loop, encoding, slot and generation.
///
/// The encoding stands in it so that a delivery tells how its frame is encoded, and nobody has to
/// look at the connection. Centers know nothing of it.
struct ConnectionNumber {
    let rawValue: UInt64

    init(loop: Int, connection: ConnectionID, encoding: FrameEncoding = .plain) {
        precondition(
            loop < 127 && connection.index <= Self.indexMask, "a connection number has 64 bits")
        // None is 0, which stands for no connection in centers.
        rawValue =
            UInt64(loop + 1) << 57 | UInt64(encoding.rawValue) << 55
            | UInt64(connection.index) << 32 | UInt64(connection.generation)
    }

    init(rawValue: UInt64) {
        self.rawValue = rawValue
    }

    /// The bits of a slot: 8 million connections for each loop.
    private static let indexMask: UInt32 = 0x7F_FFFF

    var loop: Int { Int(rawValue >> 57) - 1 }

    /// Whether two connections, of whatever loops, take frames of one encoding.
    @inline(__always)
    static func haveSameEncoding(_ one: UInt64, _ other: UInt64) -> Bool {
        (one ^ other) >> 55 & 3 == 0
    }

    var encoding: FrameEncoding {
        FrameEncoding(rawValue: UInt8(truncatingIfNeeded: rawValue >> 55) & 3) ?? .plain
    }

    var connection: ConnectionID {
        ConnectionID(
            index: UInt32(truncatingIfNeeded: rawValue >> 32) & Self.indexMask,
            generation: UInt32(truncatingIfNeeded: rawValue))
    }
}

/// Where the encoded frames of one notification stand: one for each selector and encoding, one for
/// event streams.
struct FrameCache {
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

extension Delivery {
    /// Whether the shared frame of this delivery is that of another one, on whatever loop.
    @inline(__always)
    fileprivate func hasFrame(of other: Delivery) -> Bool {
        notification == other.notification && selector == other.selector
            && transport == other.transport && FrameCache.isShared(other)
            && ConnectionNumber.haveSameEncoding(connection, other.connection)
    }
}

extension ServerLoop {
    /// Lets everybody have what the last command brought about; a second call does nothing.
    mutating func fanOut() {
        if isSpread { return }
        isSpread = true
        tellNotices()
        if !effects.deliveries.isEmpty {
            counters.deliveries += UInt64(effects.deliveries.count)
            workTotal &+= effects.deliveries.count / Self.deliveriesOfWork
            spreadDeliveries()
        }
        if !effects.completions.isEmpty { keepCompletions() }
    }

    /// Refers each connection to the frames of its deliveries; each frame is encoded once.
    private mutating func spreadDeliveries() {
        var notification = UInt32.max
        var place = 0
        while place < effects.deliveries.count {
            let delivery = effects.deliveries[place]
            if delivery.notification != notification {
                notification = delivery.notification
                startNotification()
            }
            let target = ConnectionNumber(rawValue: delivery.connection)
            let range =
                target.encoding == .plain
                ? frames.range(of: delivery) ?? encode(delivery)
                : frames.range(of: delivery, target.encoding)
                    ?? encode(delivery, target.encoding)
            place =
                outbound.count > 1
                ? sendEverywhere(range, from: place) : sendFrames(range, from: place)
        }
    }

    /// Refers a row of connections to one frame, where this loop is the only one; tells the place of
    /// the first delivery with another one.
    private mutating func sendFrames(_ range: Range<Int>, from start: Int) -> Int {
        targets.removeAll(keepingCapacity: targets.capacity <= 1 << 16)
        let end = Self.gatherRow(of: effects.deliveries, from: start, in: &targets)
        loop.sendFrames(range, to: targets)
        return end
    }

    private static func gatherRow(
        of deliveries: [Delivery], from start: Int, in targets: inout [ConnectionID]
    ) -> Int {
        let first = deliveries[start]
        targets.append(ConnectionNumber(rawValue: first.connection).connection)
        var place = start + 1
        guard FrameCache.isShared(first), place < deliveries.count,
            first.hasFrame(of: deliveries[place])
        else { return place }
        targets.append(addingCapacity: deliveries.count - place) { output in
            while place < deliveries.count, first.hasFrame(of: deliveries[place]) {
                output.append(ConnectionNumber(rawValue: deliveries[place].connection).connection)
                place += 1
            }
        }
        return place
    }

    /// Lets the connections of all loops have one frame; tells the place of the first delivery with
    /// another one.
    private mutating func sendEverywhere(_ range: Range<Int>, from start: Int) -> Int {
        for loop in outbound.indices { outbound[loop].row.removeAll() }
        let end = Self.gatherRows(of: effects.deliveries, from: start, in: &outbound)
        if !outbound[number].row.connections.isEmpty {
            loop.sendFrames(range, to: outbound[number].row.connections)
        }
        for target in outbound.indices where target != number {
            guard !outbound[target].row.connections.isEmpty else { continue }
            let row = outbound[target].row
            outbound[target].output.add(range, of: loop.frames, to: row)
        }
        return end
    }

    private static func gatherRows(
        of deliveries: [Delivery], from start: Int, in outbound: inout [Outbound]
    ) -> Int {
        let first = deliveries[start]
        var place = start
        repeat {
            let target = ConnectionNumber(rawValue: deliveries[place].connection)
            outbound[target.loop].row.connections.append(target.connection)
            outbound[target.loop].row.observers.append(deliveries[place].observer)
            place += 1
        } while place < deliveries.count && FrameCache.isShared(first)
            && first.hasFrame(of: deliveries[place])
        return place
    }

    private mutating func startNotification() {
        frames.startNotification()
        guard outbound.count > 1 else { return }
        for target in outbound.indices { outbound[target].output.startNotification() }
    }

    /// The frame of a delivery for a connection that takes compressed ones.
    ///
    /// Only what serves all observers of a selector is compressed: so the work grows with the posts,
    /// and not with the observers.
    private mutating func encode(_ delivery: Delivery, _ encoding: FrameEncoding) -> Range<Int> {
        let plain = frames.range(of: delivery) ?? encode(delivery)
        guard FrameCache.isShared(delivery), delivery.transport == .webSocket else { return plain }
        let headerByteCount = FrameWriter.headerByteCount(frameByteCount: plain.count)
        let payload = plain.dropFirst(headerByteCount)
        let range = compress(payload, encoding) ?? plain
        frames.note(range, of: delivery, encoding)
        return range
    }

    /// Appends a compressed frame with what stands in the arena; nil if that is not worth it.
    private mutating func compress(
        _ payload: Range<Int>, _ encoding: FrameEncoding
    ) -> Range<Int>? {
        guard payload.count >= configuration.compressionThreshold,
            let deflater = compression.deflater(encoding)
        else { return nil }
        counters.compressions += 1
        // The arena grows while it is read, so the deflater reads a copy.
        let text = Array(loop.frames[payload])
        return FrameWriter.append(.text, compressing: text.span, by: deflater, to: &loop.frames)
    }

    /// Encodes the frame of a delivery at the end of the arena of frames.
    private mutating func encode(_ delivery: Delivery) -> Range<Int> {
        let notification = effects.notifications[Int(delivery.notification)]
        let start = loop.frames.count
        switch delivery.transport {
        case .webSocket:
            let selector = centers[lastCenter].selector(delivery.selector)
            let frame = FrameWriter.beginFrame(in: &loop.frames)
            if delivery.form == .acknowledged {
                RPC.append(
                    request: notification, observer: delivery.observer, selector: selector,
                    isRedelivered: delivery.isRedelivered, to: &loop.frames)
            } else {
                deliveryWriter.append(
                    notification, calling: selector, isRedelivered: delivery.isRedelivered,
                    to: &loop.frames)
            }
            FrameWriter.endFrame(frame, .text, in: &loop.frames)
        case .events:
            EventStream.append(
                notification: notification, epoch: centers[lastCenter].epoch,
                isRedelivered: delivery.isRedelivered,
                observer: delivery.form == .named ? delivery.observer : nil, to: &loop.frames)
        case .mailbox:
            break
        }
        let range = start..<loop.frames.count
        frames.note(range, of: delivery)
        return range
    }

    /// Tells clients what happened to their observers.
    private mutating func tellNotices() {
        guard !effects.notices.isEmpty else { return }
        var notices: [Notice] = []
        swap(&notices, &effects.notices)
        for notice in notices { tell(notice) }
    }

    private mutating func tell(_ notice: Notice) {
        var bytes: [UInt8] = []
        let number: UInt64
        var closesConnection = false
        switch notice {
        case .removed(let connection, let transport, let observer, let tombstone):
            number = connection
            appendNotice(transport, to: &bytes) { text in
                RPC.append(removed: observer, tombstone, to: &text)
            } event: { text in
                EventStream.append(removed: observer, tombstone, to: &text)
            }
        case .gap(let connection, let transport, let gap):
            number = connection
            if log.level <= .debug { tell(gap) }
            appendNotice(transport, to: &bytes) { text in
                RPC.append(gap: gap, to: &text)
            } event: { text in
                EventStream.append(gap: gap, to: &text)
            }
        case .clientRemoved(let connection, let transport):
            number = connection
            closesConnection = true
            if transport == .webSocket {
                FrameWriter.appendClose(
                    .clientRemoved, reason: Array("client removed".utf8), to: &bytes)
            }
        case .flushGoesOn(let client, let connection):
            return goOnFlushing(client, on: ConnectionNumber(rawValue: connection))
        case .takenOver(let connection):
            number = connection
            closesConnection = true
            FrameWriter.appendClose(.takenOver, reason: Array("taken over".utf8), to: &bytes)
        case .readerReplaced(let connection, let isStream):
            guard isStream else { return endPoll(connection, .replaced) }
            number = connection
            closesConnection = true
            appendStreamEnd(connection, to: &bytes)
        case .mailboxFilled(let connection, _):
            return endPoll(connection, .filled)
        }
        let target = ConnectionNumber(rawValue: number)
        if target.loop == self.number {
            sendFrame(bytes, to: target.connection, closes: closesConnection)
        } else {
            outbound[target.loop].output.add(
                bytes, to: number, closesConnection ? .lastFrames : .notice)
        }
    }

    private mutating func goOnFlushing(_ client: UInt64, on target: ConnectionNumber) {
        if target.loop == number {
            flushFurther(client, on: target.connection)
        } else {
            outbound[target.loop].output.add(
                [], to: target.rawValue, .flushGoesOn(client: client))
        }
    }

    private func appendNotice(
        _ transport: Transport, to bytes: inout [UInt8], frame: (inout [UInt8]) -> Void,
        event: (inout [UInt8]) -> Void
    ) {
        switch transport {
        case .webSocket:
            var text: [UInt8] = []
            frame(&text)
            FrameWriter.append(.text, payload: text.span, to: &bytes)
        case .events:
            event(&bytes)
        case .mailbox:
            break
        }
    }

    /// Sends frames to a client of this loop, and closes its connection if that is the end.
    mutating func sendFrame(_ bytes: [UInt8], to id: ConnectionID, closes: Bool) {
        guard connection(id) != nil else { return }
        let start = loop.output.count
        loop.output.append(contentsOf: bytes)
        loop.send(start..<loop.output.count, to: id, as: .delivery)
        if closes {
            connections[id].client = 0
            connections[id].mailbox = 0
            closeSoon(id)
        }
    }
}
