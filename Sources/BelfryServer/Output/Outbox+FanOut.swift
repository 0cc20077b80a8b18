import BelfryCenter
import BelfryLoop
import BelfryWire

extension Delivery {
    /// Whether the shared frame of this delivery is also that of another one, on any loop.
    @inline(__always)
    fileprivate func hasFrame(of other: Delivery) -> Bool {
        notification == other.notification && selector == other.selector
            && transport == other.transport && form == other.form
            && !other.isRedelivered
            && ConnectionNumber.haveSameEncoding(connection.number, other.connection.number)
    }
}

extension Outbox {
    /// Refers each connection to the frames of its deliveries; each frame is encoded once.
    mutating func spread(
        _ effects: inout Effects, of center: Int, in centers: inout CenterTable
    ) {
        var notification = UInt32.max
        var place = 0
        while place < effects.deliveries.count {
            let delivery = effects.deliveries[place]
            if delivery.notification != notification {
                notification = delivery.notification
                startNotification()
            }
            let target = ConnectionNumber(delivery.connection)
            let range =
                target.encoding == .plain
                ? frames.range(of: delivery, .plain) ?? encode(delivery, &effects, center, &centers)
                : frames.range(of: delivery, target.encoding)
                    ?? encode(delivery, &effects, center, &centers, target.encoding)
            place =
                outbound.count > 1
                ? sendEverywhere(range, to: effects.deliveries, from: place)
                : sendFrames(range, to: effects.deliveries, from: place)
        }
    }

    /// Refers a row of connections to one frame, where this loop is the only one.
    ///
    /// - Returns: the place of the first delivery with another frame.
    private mutating func sendFrames(
        _ range: Range<Int>, to deliveries: [Delivery], from start: Int
    ) -> Int {
        targets.removeAll(keepingCapacity: targets.capacity <= 1 << 16)
        let end = Self.gatherRow(of: deliveries, from: start, in: &targets)
        loop.sendFrames(range, to: targets)
        return end
    }

    private static func gatherRow(
        of deliveries: [Delivery], from start: Int, in targets: inout [ConnectionID]
    ) -> Int {
        let first = deliveries[start]
        targets.append(ConnectionNumber(first.connection).connection)
        var place = start + 1
        guard FrameCache.isShared(first), place < deliveries.count,
            first.hasFrame(of: deliveries[place])
        else { return place }
        targets.append(addingCapacity: deliveries.count - place) { output in
            // A variable of the closure stays in a register.
            var next = place
            while next < deliveries.count, first.hasFrame(of: deliveries[next]) {
                output.append(ConnectionNumber(deliveries[next].connection).connection)
                next += 1
            }
            place = next
        }
        return place
    }

    /// Sends one frame to the connections of all loops.
    ///
    /// - Returns: the place of the first delivery with another frame.
    private mutating func sendEverywhere(
        _ range: Range<Int>, to deliveries: [Delivery], from start: Int
    ) -> Int {
        for loop in outbound.indices { outbound[loop].row.removeAll() }
        let end = Self.gatherRows(of: deliveries, from: start, in: &outbound)
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
            let target = ConnectionNumber(deliveries[place].connection)
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

    /// Encodes the frame of a delivery at the end of the arena of frames.
    private mutating func encode(
        _ delivery: Delivery, _ effects: inout Effects, _ center: Int,
        _ centers: inout CenterTable
    ) -> Range<Int> {
        let start = loop.frames.count
        let notification = effects.notifications[Int(delivery.notification)]
        if delivery.form == .change {
            Transport.append(
                change: notification, effects.keyPaths[delivery.notification] ?? [], of: delivery,
                at: center, in: centers, to: &loop.frames)
        } else if delivery.form.isAddressed,
            let addressed = effects.addressed(of: delivery.notification)
        {
            Transport.append(
                addressed, notification, of: delivery, at: center, in: centers, to: &loop.frames)
        } else {
            Transport.append(
                notification, of: delivery, at: center, in: &centers, by: &frames.writer,
                to: &loop.frames)
        }
        let range = start..<loop.frames.count
        frames.note(range, of: delivery, .plain)
        return range
    }

    /// Encodes the frame for a connection with compression, which is a WebSocket.
    ///
    /// Only frames for all observers of a selector are compressed: so the work grows with the
    /// posts, and not with the observers.
    private mutating func encode(
        _ delivery: Delivery, _ effects: inout Effects, _ center: Int,
        _ centers: inout CenterTable, _ encoding: FrameEncoding
    ) -> Range<Int> {
        let plain =
            frames.range(of: delivery, .plain) ?? encode(delivery, &effects, center, &centers)
        guard FrameCache.isShared(delivery) else { return plain }
        let range = compress(WebSocketTransport.payload(of: plain), encoding) ?? plain
        frames.note(range, of: delivery, encoding)
        return range
    }

    /// Appends a compressed frame of a payload in the arena; nil if it is not smaller.
    private mutating func compress(
        _ payload: Range<Int>, _ encoding: FrameEncoding
    ) -> Range<Int>? {
        guard payload.count >= configuration.compressionThreshold,
            let deflater = compression.deflater(encoding)
        else { return nil }
        counters.compressions += 1
        return WebSocketTransport.append(compressing: payload, by: deflater, to: &loop.frames)
    }
}
