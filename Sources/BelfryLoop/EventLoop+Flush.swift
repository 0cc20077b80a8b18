internal import BelfrySystem

/// How far a flush has come.
struct FlushProgress {
    /// How many of the list of connections with output are flushed together: all deliveries leave
    /// before the first answer.
    private(set) var end = 0
    /// How many of them were looked at, in both passes.
    private var position = 0

    /// Whether nothing is left of those that are flushed together.
    var isComplete: Bool { position == 2 * end }

    /// Whether the last one taken belongs to the second pass.
    var isLastPass: Bool { position > end }

    /// The place of the next one in the list.
    mutating func next() -> Int? {
        guard !isComplete else { return nil }
        position += 1
        return isLastPass ? position - 1 - end : position - 1
    }

    /// Begins with those that are first in the list.
    init(end: Int = 0) {
        self.end = end
    }
}

/// The connections that got output since a flush was interrupted.
struct LateOutput {
    /// Where it begins in the list of connections with output.
    var start = 0
    /// Whether some delivery of it went to a connection that the flush has not come to.
    var hasJoinedEarlier = false
}

extension EventLoop {
    /// Flushes now if the arena is over its limit; all ranges of it are void then.
    ///
    /// `nextEvent` does it before each event. A caller that produces much output for one event may
    /// do it wherever it holds no range.
    public mutating func flushEarlyIfNeeded() {
        if outputByteCount > configuration.outputByteLimit { flush() }
    }

    /// Writes each connection with output once: the urgent ones, then deliveries, then answers.
    mutating func flush() {
        _ = flush(until: .max)
    }

    /// Flushes for a while; false if another event is ready then, and the next call continues.
    ///
    /// A turn that took long is followed by a share a third as long: writing gets a quarter of the
    /// time, however much there is to read.
    mutating func flushInShares() throws(SystemCallError) -> Bool {
        if isAmidFlush { flushLate() }
        var start = kernel.now().nanoseconds
        var share = max(flushShareNanoseconds, (start - now.nanoseconds) / 3)
        while !flush(until: start + share) {
            if try lookAmidFlush() { return false }
            start = now.nanoseconds
            share = flushShareNanoseconds
        }
        return true
    }

    /// - Returns: Whether all is written, and not only a share.
    private mutating func flush(until end: Int64) -> Bool {
        settleRow()
        if hasUrgent { flushUrgent() }
        var countToLook = Self.connectionsBetweenLooks
        while true {
            if flushed.isComplete {
                guard flushed.end < dirty.count else { break }
                beginFlushing()
            }
            while let index = nextToFlush() {
                flushConnection(index)
                countToLook -= 1
                guard countToLook == 0 else { continue }
                countToLook = Self.connectionsBetweenLooks
                if end < .max, kernel.now().nanoseconds >= end { return false }
            }
        }
        flushed = FlushProgress()
        // Mostly there was one, and to remove that takes a quarter of the work.
        if dirty.count == 1 { dirty.removeLast() } else { dirty.removeAll(keepingCapacity: true) }
        let capacityLimit = configuration.keptOutputByteLimit
        Self.empty(&output, capacityLimit: capacityLimit)
        Self.empty(&frames, capacityLimit: capacityLimit)
        return true
    }

    /// How many connections are written between two looks at the clock.
    private static var connectionsBetweenLooks: Int { 32 }

    /// Writes output that came amid the flush before the rest, if it is for few connections.
    ///
    /// So a post for a few does not wait for one for thousands.
    ///
    /// Answers keep their place if the deliveries that came with them do: those leave before them.
    private mutating func flushLate() {
        settleRow()
        let count = dirty.count - late.start
        guard count > 0, count <= Self.connectionsBetweenLooks else { return }
        let indices = dirty[late.start...]
        dirty.removeLast(count)
        var answers: [UInt32] = []
        for index in indices {
            if slots[Int(index)].flags.contains(.hasAnswer) {
                answers.append(index)
            } else {
                flushConnection(Int(index))
            }
        }
        if late.hasJoinedEarlier {
            dirty += answers
        } else {
            for index in answers { flushConnection(Int(index)) }
        }
    }

    private mutating func flushUrgent() {
        hasUrgent = false
        for index in dirty {
            let flags = slots[Int(index)].flags
            guard flags.contains(.isUrgent), !flags.contains(.hasAnswer) else { continue }
            flushConnection(Int(index))
        }
    }

    /// Collects all connections with output by now; later ones are flushed after that.
    private mutating func beginFlushing() {
        // A flush that is interrupted again and again must not keep those that are done.
        dirty.removeFirst(flushed.end)
        if hasLaterAnswers {
            hasLaterAnswers = false
            for index in dirty { slots[Int(index)].flags.remove(.answersLater) }
        }
        flushed = FlushProgress(end: dirty.count)
    }

    /// The next connection that is to be written.
    private mutating func nextToFlush() -> Int? {
        while let position = flushed.next() {
            let index = Int(dirty[position])
            if flushed.isLastPass != slots[index].flags.contains(.hasAnswer) { continue }
            if slots[index].flags.contains(.answersLater) {
                // Connections to be written before it came after it.
                dirty.append(UInt32(truncatingIfNeeded: index))
                continue
            }
            return index
        }
        return nil
    }

    /// In the middle of a flush: looks whether something is ready, and lets it be handed out.
    private mutating func lookAmidFlush() throws(SystemCallError) -> Bool {
        try kernel.wait(timeoutNanoseconds: 0, into: &ready)
        readClocks(afterWaiting: 0)
        guard !ready.isEmpty || nextDueTime <= now || pendingPosition < pending.count else {
            return false
        }
        idleIsDue = true
        late = LateOutput(start: dirty.count)
        beginHandingOut()
        return true
    }

    /// Makes an answer amid a flush wait for the deliveries that came with it.
    ///
    /// Earlier deliveries of its own connection do not wait for it.
    ///
    /// - Returns: Whether the connection is still there.
    mutating func prepareLateAnswer(_ index: Int) -> Bool {
        if slots[index].flags.contains(.dirty), !slots[index].flags.contains(.hasAnswer) {
            if slots[index].flags.contains(.hasFrames) { settleRow() }
            let generation = slots[index].generation
            flushConnection(index)
            guard slots[index].generation == generation else { return false }
        }
        slots[index].flags.insert(.answersLater)
        hasLaterAnswers = true
        return true
    }

    private static func empty(_ arena: inout [UInt8], capacityLimit: Int) {
        if arena.isEmpty { return }
        arena.removeAll(keepingCapacity: arena.capacity <= capacityLimit)
    }

    private mutating func flushConnection(_ index: Int) {
        // A connection that was closed meanwhile, or flushed in the first pass, is not dirty.
        guard slots[index].flags.contains(.dirty) else { return }
        let isWritable = slots[index].flags.contains(.writable)
        let hasFrames = slots[index].flags.contains(.hasFrames)
        slots[index].flags.subtract([
            .dirty, .hasAnswer, .answersLater, .writable, .hasFrames, .isUrgent,
        ])
        guard slots[index].turnByteCount < ConnectionSlot.tooMuch else {
            pending.append(closeByLoop(index, .tooMuchOutput))
            return
        }
        slots[index].turnByteCount = 0
        let unsentBefore = slots[index].unsentByteCount
        do {
            if !slots[index].flags.isDisjoint(with: [.connecting, .corked, .filtered])
                || unsentBefore > 0
            {
                keepRanges(index, ofFrames: hasFrames)
                if isWritable || unsentBefore == 0, slots[index].unsentByteCount > 0,
                    slots[index].flags.isDisjoint(with: [.connecting, .corked])
                {
                    slots[index].dropUnsent(try writeUnsent(index))
                }
            } else if !slots[index].ranges.isEmpty {
                try writeRanges(index, ofFrames: hasFrames)
            } else if slots[index].rangeEnd > slots[index].rangeStart {
                try writeRange(index, ofFrames: hasFrames)
            }
        } catch {
            unsentByteTotal += slots[index].unsentByteCount - unsentBefore
            pending.append(closeByLoop(index, after: error))
            return
        }
        unsentByteTotal += slots[index].unsentByteCount - unsentBefore
        let generation = slots[index].generation
        settle(index)
        // A connection that is closed is watched no more, and its slot has another generation.
        if slots[index].generation == generation { updateInterest(index) }
    }

    private mutating func writeRange(
        _ index: Int, ofFrames hasFrames: Bool
    ) throws(SystemCallError) {
        let range = slots[index].rangeStart..<slots[index].rangeEnd
        slots[index].rangeEnd = slots[index].rangeStart
        let socket = slots[index].socket
        // The arenas are read where they lie: a choice between them would count references.
        let written =
            if hasFrames {
                try kernel.write(frames.span.extracting(range), to: socket)
            } else {
                try kernel.write(output.span.extracting(range), to: socket)
            }
        let start = range.lowerBound + (written ?? 0)
        guard start < range.upperBound else { return }
        slots[index].unsent.append(
            contentsOf: (hasFrames ? frames : output)[start..<range.upperBound])
    }

    private mutating func writeRanges(
        _ index: Int, ofFrames hasFrames: Bool
    ) throws(SystemCallError) {
        let ranges = takeRanges(index)
        let arena = hasFrames ? frames : output
        let written = try kernel.write(ranges, of: arena.span, to: slots[index].socket) ?? 0
        slots[index].keep(ranges, of: arena, after: written)
    }

    mutating func keepRanges(_ index: Int, ofFrames hasFrames: Bool) {
        if slots[index].flags.intersection([.filtered, .corked]) == .filtered {
            return sealRanges(index, ofFrames: hasFrames)
        }
        let ranges = takeRanges(index)
        slots[index].keep(ranges, of: hasFrames ? frames : output, after: 0)
    }

    mutating func takeRanges(_ index: Int) -> [Range<Int>] {
        var ranges: [Range<Int>] = []
        swap(&ranges, &slots[index].ranges)
        if ranges.isEmpty, slots[index].rangeEnd > slots[index].rangeStart {
            ranges = [slots[index].rangeStart..<slots[index].rangeEnd]
        }
        slots[index].rangeEnd = slots[index].rangeStart
        return ranges
    }

    private mutating func writeUnsent(_ index: Int) throws(SystemCallError) -> Int {
        // Taken out while it is read, which copies nothing.
        var unsent: [UInt8] = []
        swap(&unsent, &slots[index].unsent)
        defer { swap(&unsent, &slots[index].unsent) }
        let rest = slots[index].unsentStart..<unsent.count
        return try kernel.write(unsent.span.extracting(rest), to: slots[index].socket) ?? 0
    }

    /// Sets the state of a connection by its unsent bytes after a write.
    private mutating func settle(_ index: Int) {
        let byteCount = slots[index].unsentByteCount
        if slots[index].flags.contains(.closing) {
            if byteCount == 0, slots[index].flags.isDisjoint(with: [.connecting, .corked]) {
                finishClosing(index)
            }
        } else if slots[index].flags.contains(.overHighWater) {
            guard byteCount <= configuration.lowWaterByteCount else { return }
            slots[index].flags.subtract([.overHighWater, .drainWanted])
            pending.append(.drained(id(at: index)))
        } else if byteCount > configuration.highWaterByteCount {
            slots[index].flags.insert(.overHighWater)
            pending.append(.overHighWater(id(at: index)))
        } else if slots[index].flags.contains(.drainWanted),
            byteCount <= configuration.lowWaterByteCount
        {
            slots[index].flags.remove(.drainWanted)
            pending.append(.drained(id(at: index)))
        }
    }

    private mutating func finishClosing(_ index: Int) {
        let flags = slots[index].flags
        guard !flags.contains(.outputEnded) else { return }
        guard flags.contains(.lingering), !flags.contains(.inputEnded) else {
            pending.append(closeByLoop(index, .finished))
            return
        }
        do {
            try kernel.shutdownWriting(slots[index].socket)
        } catch {
            pending.append(closeByLoop(index, .reset))
            return
        }
        slots[index].flags.insert(.outputEnded)
        if slots[index].discardedByteCount > configuration.lingerByteLimit {
            pending.append(closeByLoop(index, .finished))
            return
        }
        setDeadline(index, at: now + configuration.lingerTimeout)
    }
}
