internal import BelfrySystem

extension EventLoop {
    /// Continues through the ready list to the next event.
    mutating func nextReady(into input: inout [UInt8]) throws(SystemCallError) -> LoopEvent? {
        while readyPosition < ready.count {
            let entry = ready[readyPosition]
            let number = UInt32(entry.token >> 32)
            switch UInt32(truncatingIfNeeded: entry.token) {
            case Token.mail:
                readyPosition += 1
                wakes[Int(number)].clear()
                return .mail
            case Token.signals:
                if let signal = try nextSignal() { return .signal(signal) }
                readyPosition += 1
            case Token.listener:
                if let event = acceptNext(Int(number)) { return event }
                acceptedInARow = 0
                readyPosition += 1
            case let index:
                readyPosition += 1
                let id = ConnectionID(index: index, generation: number)
                if let event = connectionReady(id, entry.readiness, into: &input) { return event }
            }
        }
        return nil
    }

    private mutating func nextSignal() throws(SystemCallError) -> Int32? {
        switch kernel {
        case .embedded(let kernel): return kernel.nextSignal()
        case .linux: return try signals?.next()
        }
    }

    // MARK: Listeners

    private mutating func acceptNext(_ number: Int) -> LoopEvent? {
        while acceptedInARow < configuration.acceptLimit, listeners[number].isOpen,
            !listeners[number].isResting
        {
            acceptedInARow += 1
            do {
                guard let (socket, peer) = try kernel.accept(listeners[number].socket)
                else { return nil }
                let arrival = Arrival(socket: socket, peer: peer, listener: number)
                if sharesArrivals {
                    self.arrival = arrival
                    return .arrived
                }
                if let event = try seat(arrival) { return event }
            } catch {
                // Any other error is that of one connection which was gone before it was taken.
                if error.isExhaustion { restListeners() }
            }
        }
        return nil
    }

    /// Takes the connection that `.arrived` told of; it must go to a loop, or be closed.
    public mutating func takeArrival() -> Arrival? {
        arrival.take()
    }

    /// Takes a connection that the listener of another loop took.
    ///
    /// - Returns: `.accepted` or `.refused`; nil when it is closed already.
    public mutating func adopt(_ arrival: Arrival) -> LoopEvent? {
        do {
            return try seat(arrival)
        } catch {
            if error.isExhaustion { exhaustionCount += 1 }
            return nil
        }
    }

    /// Gives a connection a slot, or refuses it.
    private mutating func seat(_ arrival: Arrival) throws(SystemCallError) -> LoopEvent? {
        let listener = arrival.listener
        if connectionCount < configuration.connectionLimit {
            let id = try admit(arrival.socket, peer: arrival.peer, flags: .open)
            return .accepted(id, listener: listener)
        }
        if refusedCount < configuration.refusalLimit {
            let id = try admit(arrival.socket, peer: arrival.peer, flags: [.open, .refused])
            return .refused(id, listener: listener)
        }
        refuse(arrival.socket, listener: listener)
        return nil
    }

    /// Tells one connection too many so, as far as its socket takes it, and lets it go.
    ///
    /// What it has sent already is taken off, as the reset after unread input would destroy the
    /// answer. All this is done in the moment of accepting, so it costs neither a slot nor a wait.
    private mutating func refuse(_ socket: Socket, listener number: Int) {
        directRefusalCount += 1
        defer { kernel.close(socket) }
        let refusal = listeners[number].refusal
        guard !refusal.isEmpty else { return }
        var input = [UInt8](repeating: 0, count: Self.refusedInputByteCount)
        do {
            _ = try kernel.write(refusal.span, to: socket)
            try kernel.shutdownWriting(socket)
            _ = try kernel.read(socket, into: &input, byteLimit: input.count)
        } catch {
            // The peer is gone already, and does not wait for an answer.
            return
        }
    }

    private static var refusedInputByteCount: Int { 4_096 }

    /// A listener that cannot accept stays readable, so it is not watched for a while.
    private mutating func restListeners() {
        exhaustionCount += 1
        acceptResumeTime = now + configuration.acceptRest
        setListenersResting(true)
    }

    mutating func resumeAccepting() {
        acceptResumeTime = .distantFuture
        setListenersResting(false)
    }

    mutating func setListenersResting(_ isResting: Bool) {
        for number in listeners.indices
        where listeners[number].isOpen && listeners[number].isResting != isResting {
            listeners[number].isResting = isResting
            do {
                try kernel.rewatch(
                    listeners[number].socket, token: Token.make(Token.listener, number: number),
                    for: isResting ? [] : .readable)
            } catch {
                // The listener is open and watched, so only our own bug gets here.
                preconditionFailure("a watched listener is unknown to epoll: \(error)")
            }
        }
    }

    // MARK: Connections

    private mutating func connectionReady(
        _ id: ConnectionID, _ readiness: Readiness, into input: inout [UInt8]
    ) -> LoopEvent? {
        guard let index = index(of: id) else { return nil }
        if slots[index].flags.contains(.connecting) { return finishConnecting(index) }
        if !readiness.isDisjoint(with: [.writable, .failed]), slots[index].unsentByteCount > 0,
            !slots[index].flags.contains(.corked)
        {
            slots[index].flags.insert(.writable)
            markDirty(index)
        }
        guard !readiness.isDisjoint(with: [.readable, .failed, .ending]) else { return nil }
        guard slots[index].flags.isDisjoint(with: [.paused, .inputEnded]) else {
            // Nothing is read any more, so a failure can only be told by closing.
            if readiness.contains(.failed) { return closeByLoop(index, .reset) }
            return readiness.contains(.ending) ? tellEnd(index) : nil
        }
        if mustBeWrittenFirst(index) { return nil }
        if slots[index].busyReadCount > 0, !slots[index].flags.contains(.closing) {
            if slots[index].flags.contains(.linedUp) { return nil }
            slots[index].flags.insert(.linedUp)
            line.append(id)
            return nil
        }
        // The input of a closing connection is discarded.
        let isClosing = slots[index].flags.contains(.closing)
        return read(
            index, byteLimit: isClosing ? .max : configuration.firstReadByteLimit, into: &input)
    }

    /// Reports once that a connection which is not read has ended; epoll would repeat it.
    private mutating func tellEnd(_ index: Int) -> LoopEvent? {
        guard slots[index].flags.isDisjoint(with: [.inputEnded, .endTold, .closing]) else {
            return nil
        }
        slots[index].flags.insert(.endTold)
        updateInterest(index)
        return .endAhead(id(at: index))
    }

    // MARK: Connections that send much

    /// Reads the next of those that send much, while the turn has room for it.
    mutating func nextInLine(into input: inout [UInt8]) -> LoopEvent? {
        while linePosition < line.count {
            guard turnHasRoom else {
                turnIsWanted = true
                if linePosition > line.count / 2 {
                    line.removeFirst(linePosition)
                    linePosition = 0
                }
                return nil
            }
            let id = line[linePosition]
            linePosition += 1
            guard let index = index(of: id), slots[index].flags.contains(.linedUp) else { continue }
            slots[index].flags.remove(.linedUp)
            guard slots[index].flags.isDisjoint(with: [.paused, .inputEnded]),
                !mustBeWrittenFirst(index)
            else { continue }
            if let event = read(index, byteLimit: .max, into: &input) { return event }
        }
        line.removeAll(keepingCapacity: line.capacity <= 1_024)
        linePosition = 0
        return nil
    }

    /// Whether one more connection that sends much may be read in this turn.
    private var turnHasRoom: Bool {
        if turnInputByteCount == 0 { return true }
        return turnInputByteCount < configuration.turnInputByteLimit && !turnIsLong
    }

    private mutating func read(
        _ index: Int, byteLimit: Int, into input: inout [UInt8]
    ) -> LoopEvent? {
        let id = id(at: index)
        do {
            let byteLimit = min(byteLimit, input.count)
            guard
                let byteCount = try kernel.read(
                    slots[index].socket, into: &input, byteLimit: byteLimit)
            else { return nil }
            countInput(byteCount, byteLimit, of: index)
            if slots[index].flags.contains(.closing) { return discard(byteCount, of: index) }
            if byteCount > 0 { return .received(id, byteCount: byteCount) }
            slots[index].flags.insert(.inputEnded)
            // The flush sets the interest of epoll, because mostly it closes the connection.
            markDirty(index)
            return .endOfInput(id)
        } catch {
            return closeByLoop(index, after: error)
        }
    }

    /// Notes whether a connection sends much: it does from a full read on, until some small ones.
    private mutating func countInput(_ byteCount: Int, _ byteLimit: Int, of index: Int) {
        if slots[index].busyReadCount > 0 {
            turnInputByteCount += byteCount
            slots[index].busyReadCount -= 1
        }
        if byteCount == byteLimit || byteCount >= configuration.firstReadByteLimit {
            slots[index].busyReadCount = Self.busyReadCount
        }
    }

    private mutating func finishConnecting(_ index: Int) -> LoopEvent? {
        do {
            try kernel.finishConnecting(slots[index].socket)
        } catch {
            return closeByLoop(index, .failed(errno: error.errno))
        }
        slots[index].flags.remove(.connecting)
        slots[index].flags.insert(.writable)
        markDirty(index)
        updateInterest(index)
        return slots[index].flags.contains(.closing) ? nil : .connected(id(at: index))
    }

    /// Throws away input of a closing connection, and closes it at the end or when it is too much.
    private mutating func discard(_ byteCount: Int, of index: Int) -> LoopEvent? {
        slots[index].discardedByteCount += byteCount
        let isTooMuch = slots[index].discardedByteCount > configuration.lingerByteLimit
        guard byteCount == 0 || isTooMuch else { return nil }
        if slots[index].flags.contains(.outputEnded) { return closeByLoop(index, .finished) }
        slots[index].flags.insert(byteCount == 0 ? .inputEnded : .paused)
        updateInterest(index)
        return nil
    }
}
