internal import BelfrySystem

extension EventLoop {
    // MARK: What a caller asks of a connection

    /// Sends a range of `output` to a connection when the turn ends.
    ///
    /// Ranges leave in the order of the calls. Nothing happens for a connection that is closed or
    /// closing.
    public mutating func send(_ range: Range<Int>, to id: ConnectionID, as kind: OutputKind) {
        precondition(range.lowerBound >= 0 && range.upperBound <= output.count, "not in the arena")
        guard let index = index(of: id), !range.isEmpty,
            !slots[index].flags.contains(.closing)
        else { return }
        if kind == .answer, isAmidFlush, !prepareLateAnswer(index) { return }
        if slots[index].flags.contains(.hasFrames) { settleRow() }
        if isTooMuch(range.count, for: index) { return }
        if slots[index].flags.contains(.hasFrames) {
            // The output of one connection in a turn lies in one arena, in its order.
            let start = frames.count
            frames.append(contentsOf: output[range])
            add(start..<frames.count, kind, to: index)
        } else {
            add(range, kind, to: index)
        }
    }

    /// Sends a range of `frames` to a connection when the turn ends, as a delivery.
    public mutating func sendFrames(_ range: Range<Int>, to id: ConnectionID) {
        precondition(range.lowerBound >= 0 && range.upperBound <= frames.count, "not in the arena")
        guard let index = index(of: id), !range.isEmpty,
            !slots[index].flags.contains(.closing)
        else { return }
        if slots[index].flags.contains(.hasFrames) { settleRow() }
        if isTooMuch(range.count, for: index) { return }
        if slots[index].flags.contains(.hasFrames) || !slots[index].hasRanges {
            slots[index].flags.insert(.hasFrames)
            add(range, .delivery, to: index)
        } else {
            let start = output.count
            output.append(contentsOf: frames[range])
            add(start..<output.count, .delivery, to: index)
        }
    }

    /// Counts the output of a connection in this turn; too much of it is dropped.
    ///
    /// The flush then closes the connection.
    @inline(__always)
    private mutating func isTooMuch(_ byteCount: Int, for index: Int) -> Bool {
        slots[index].turnByteCount += byteCount
        let limit = configuration.connectionByteLimit - slots[index].unsentByteCount
        guard slots[index].turnByteCount > limit else { return false }
        slots[index].turnByteCount = ConnectionSlot.tooMuch
        slots[index].dropRanges()
        markDirty(index)
        return true
    }

    private mutating func add(_ range: Range<Int>, _ kind: OutputKind, to index: Int) {
        if kind == .urgent { hasUrgent = true }
        if slots[index].add(range, kind) {
            slots[index].flags.insert(.dirty)
            dirty.append(UInt32(truncatingIfNeeded: index))
        } else if kind == .delivery {
            late.hasJoinedEarlier = true
        }
    }

    /// Whether a flush was interrupted for this turn, and is not over.
    public var isAmidFlush: Bool { flushed.end > 0 }

    /// Whether a connection has answers that an interrupted flush has not reached.
    ///
    /// They are written before its next request is read, or they would never leave.
    public func mustBeWrittenFirst(_ id: ConnectionID) -> Bool {
        isAmidFlush && index(of: id).map { mustBeWrittenFirst($0) } ?? false
    }

    func mustBeWrittenFirst(_ index: Int) -> Bool {
        isAmidFlush && slots[index].flags.contains([.dirty, .hasAnswer])
    }

    /// How many bytes were appended to both arenas in this turn.
    public var outputByteCount: Int { output.count + frames.count }

    /// Closes a connection at once and drops its unsent bytes; no `.closed` follows.
    public mutating func close(_ id: ConnectionID) {
        guard let index = index(of: id) else { return }
        release(index)
    }

    /// Flushes a connection and closes it; its input is discarded, and `.closed` follows.
    ///
    /// With `lingering` the output is shut down first and the peer's end awaited for a while, since
    /// closing with unread input would reset the connection and could destroy the last answer.
    public mutating func closeAfterFlush(_ id: ConnectionID, lingering: Bool) {
        guard let index = index(of: id), !slots[index].flags.contains(.closing) else { return }
        if slots[index].flags.contains(.hasFrames) { settleRow() }
        slots[index].flags.insert(.closing)
        if lingering { slots[index].flags.insert(.lingering) }
        slots[index].flags.remove(.paused)
        // Output that a cork keeps back has its time from the uncorking on.
        let isCorked = slots[index].flags.contains(.corked)
        setDeadline(index, at: isCorked ? .distantFuture : now + configuration.closeFlushTimeout)
        markDirty(index)
    }

    /// Keeps back the output of a connection from now on, and its unsent bytes.
    ///
    /// It is kept in order, and counts as unsent; input is handed out as before. The promise that
    /// an answer makes may so be waited for, while the next answers line up behind it. A connection
    /// that closes already stays as it is.
    public mutating func cork(_ id: ConnectionID) {
        guard let index = index(of: id),
            slots[index].flags.isDisjoint(with: [.corked, .closing])
        else { return }
        if slots[index].hasRanges {
            let unsentBefore = slots[index].unsentByteCount
            let hasFrames = slots[index].flags.contains(.hasFrames)
            if hasFrames { settleRow() }
            keepRanges(index, ofFrames: hasFrames)
            slots[index].flags.remove(.hasFrames)
            slots[index].turnByteCount = 0
            unsentByteTotal += slots[index].unsentByteCount - unsentBefore
        }
        slots[index].corkStart = slots[index].unsent.count
        slots[index].flags.insert(.corked)
        updateInterest(index)
    }

    /// Lets the output that was kept back be written at the end of the turn, if there is a cork.
    ///
    /// - Parameter range: the part of `output` that replaces everything since the corking, also on
    ///   a connection that closes; nil to write that itself.
    public mutating func uncork(_ id: ConnectionID, instead range: Range<Int>? = nil) {
        guard let index = index(of: id), slots[index].flags.contains(.corked) else { return }
        slots[index].flags.remove(.corked)
        let isFiltered = slots[index].flags.contains(.filtered)
        if range != nil || isFiltered {
            let unsentBefore = slots[index].unsentByteCount
            var kept = slots[index].takeWithheld()
            if let range {
                if slots[index].flags.contains(.hasFrames) { settleRow() }
                slots[index].dropRanges()
                slots[index].turnByteCount = 0
                kept = Array(output[range])
            }
            if !isFiltered {
                slots[index].unsent += kept
            } else if let filter, !kept.isEmpty {
                filter.seal(kept.span, of: id, into: &slots[index].unsent)
            }
            unsentByteTotal += slots[index].unsentByteCount - unsentBefore
        }
        // Whether the socket has room is found out by writing.
        slots[index].flags.insert(.writable)
        if slots[index].flags.contains(.closing) {
            setDeadline(index, at: now + configuration.closeFlushTimeout)
        }
        // The flush says what epoll is to tell: mostly the socket takes all, and nothing changes.
        markDirty(index)
    }

    /// Asks for one `.drained` as soon as no more bytes are unsent than the low-water mark says.
    ///
    /// It follows the next flush if that is so already.
    public mutating func tellWhenDrained(_ id: ConnectionID) {
        guard let index = index(of: id), !slots[index].flags.contains(.closing) else { return }
        slots[index].flags.insert(.drainWanted)
        markDirty(index)
    }

    /// Begins another turn before the loop waits, even if no event is ready.
    ///
    /// So work after the end of a turn gets its own end soon.
    public mutating func takeAnotherTurn() {
        turnIsWanted = true
    }

    /// Treats a connection for a while as one that sends much, as its requests are much work.
    ///
    /// Connections that ask for little go before it.
    public mutating func letOthersGoFirst(_ id: ConnectionID) {
        guard let index = index(of: id) else { return }
        slots[index].busyReadCount = Self.busyReadCount
    }

    /// How many small reads it takes until a connection is no longer one that sends much.
    static var busyReadCount: UInt8 { 8 }

    /// Stops handing out a connection's input, so that its peer must wait.
    public mutating func pauseReading(_ id: ConnectionID) {
        guard let index = index(of: id), !slots[index].flags.contains(.closing) else { return }
        slots[index].flags.insert(.paused)
        updateInterest(index)
    }

    /// Hands out a connection's input again.
    public mutating func resumeReading(_ id: ConnectionID) {
        guard let index = index(of: id) else { return }
        slots[index].flags.subtract([.paused, .endTold])
        updateInterest(index)
    }

    /// Whether the connection is open, which a closing one is too.
    public func isOpen(_ id: ConnectionID) -> Bool {
        index(of: id) != nil
    }

    /// The bytes that a full socket did not take, or a cork keeps back, without those of this turn.
    @inline(__always)
    public func unsentByteCount(of id: ConnectionID) -> Int {
        index(of: id).map { slots[$0].unsentByteCount } ?? 0
    }

    /// Whether the connection is over its high-water mark and has not drained yet.
    public func isBackpressured(_ id: ConnectionID) -> Bool {
        index(of: id).map { slots[$0].flags.contains(.overHighWater) } ?? false
    }

    /// The other end, or `nil` for a connection that is closed.
    public func peer(of id: ConnectionID) -> ConnectionPeer? {
        index(of: id).map { kernel.peer(of: slots[$0].socket, at: slots[$0].peer) }
    }

    // MARK: Slots

    func index(of id: ConnectionID) -> Int? {
        let index = Int(id.index)
        guard index < slots.count, slots[index].generation == id.generation,
            slots[index].flags.contains(.open)
        else { return nil }
        return index
    }

    func id(at index: Int) -> ConnectionID {
        ConnectionID(index: UInt32(index), generation: slots[index].generation)
    }

    /// Puts a socket into a free slot and watches it; closes it when that fails.
    mutating func admit(
        _ socket: Socket, peer: SocketAddress, flags: ConnectionSlot.Flags
    ) throws(SystemCallError) -> ConnectionID {
        let index: Int
        if let free = freeSlots.popLast() {
            index = Int(free)
        } else {
            index = slots.count
            slots.append(ConnectionSlot(peer: peer))
        }
        slots[index].socket = socket
        slots[index].peer = peer
        slots[index].flags = flags
        slots[index].interest = ConnectionSlot.wantedInterest(flags, hasUnsent: false)
        let id = id(at: index)
        do {
            try kernel.watch(socket, token: id.token, for: slots[index].interest)
        } catch {
            kernel.close(socket)
            slots[index].flags = []
            freeSlots.append(id.index)
            throw error
        }
        if flags.contains(.refused) { refusedCount += 1 } else { connectionCount += 1 }
        return id
    }

    /// Closes the socket and frees the slot, for a new generation, when the turn has ended.
    mutating func release(_ index: Int) {
        kernel.close(slots[index].socket)
        if slots[index].flags.contains(.filtered) { filter?.forget(id(at: index)) }
        if slots[index].flags.contains(.refused) { refusedCount -= 1 } else { connectionCount -= 1 }
        unsentByteTotal -= slots[index].unsentByteCount
        var empty = ConnectionSlot(peer: slots[index].peer)
        empty.generation = slots[index].generation &+ 1
        slots[index] = empty
        releasedSlots.append(UInt32(index))
        if acceptResumeTime < .distantFuture { resumeAccepting() }
    }

    mutating func closeByLoop(_ index: Int, _ reason: CloseReason) -> LoopEvent {
        let id = id(at: index)
        release(index)
        return .closed(id, reason)
    }

    mutating func closeByLoop(_ index: Int, after error: SystemCallError) -> LoopEvent {
        closeByLoop(index, error.isReset ? .reset : .failed(errno: error.errno))
    }

    mutating func markDirty(_ index: Int) {
        guard !slots[index].flags.contains(.dirty) else { return }
        slots[index].flags.insert(.dirty)
        dirty.append(UInt32(index))
    }

    mutating func updateInterest(_ index: Int) {
        // A look at all of the slot would copy it: its fields are read one by one.
        let wanted = ConnectionSlot.wantedInterest(
            slots[index].flags, hasUnsent: slots[index].unsent.count > slots[index].unsentStart)
        guard wanted != slots[index].interest else { return }
        slots[index].interest = wanted
        let token = id(at: index).token
        do {
            try kernel.rewatch(slots[index].socket, token: token, for: wanted)
        } catch {
            // The socket is open and watched, so only our own bug gets here.
            preconditionFailure("a watched socket is unknown to epoll: \(error)")
        }
    }
}
