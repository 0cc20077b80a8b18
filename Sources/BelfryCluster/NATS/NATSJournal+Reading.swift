import BelfryNATS

// How a journal reads the log: batch by batch to where it ends, which the stream's leader alone
// says.
//
// Batches are answered by any server with a copy, and a copy may be behind. So when a batch says
// that nothing is left, STREAM.INFO says how far the log goes, and it is read up to there.

extension NATSJournal {
    /// Asks for the entries behind an index; a read that is under way is forgotten.
    public func read(after index: UInt64) {
        guard progress == .ready, index < UInt64(Int64.max) else { return }
        readNumber += 1
        reading = LogRead(number: readNumber, after: index)
        askBatch()
    }

    private func askBatch() {
        guard let read = reading else { return }
        reading?.isInBatch = true
        reading?.isDue = false
        reading?.hasGrown = false
        ask(
            .directGet(
                names.log, from: read.next, batch: NATSSettings.batchEntryLimit,
                maxBytes: NATSSettings.batchByteLimit), .batch(read: read.number))
    }

    private func askEnd() {
        guard let read = reading else { return }
        reading?.isInBatch = false
        ask(.info(names.log), .end(read: read.number))
    }

    /// Asks for the next batch: the sequencer has taken what the last one brought.
    func goOnReading() {
        if let reading, reading.isDue { askBatch() }
    }

    func takeBatch(_ message: Message, of number: UInt64) {
        guard let read = reading, read.number == number, read.isInBatch,
            let answer = try? DirectAnswer(message)
        else { return }
        switch answer {
        case .message(let place):
            if place.sequence == read.next {
                reading?.next += 1
                reading?.hasGrown = true
                note(place.sequence)
                events.append(.entry(index: place.sequence, message.payload))
            } else if place.sequence > read.next {
                reading?.hasHole = true
                askEnd()
            }
        case .endOfBatch(let pendingCount): endBatch(hasMore: pendingCount > 0)
        case .notFound: endBatch(hasMore: false)
        case .badRequest, .noResponders, .other: reading = nil
        }
    }

    private func endBatch(hasMore: Bool) {
        guard let read = reading else { return }
        if let lastIndex = read.lastIndex, read.next > lastIndex { return tellEnd(lastIndex) }
        if !hasMore, read.lastIndex == nil { return askEnd() }
        if !read.hasGrown {
            // The copy is behind; another one may answer next.
            reading?.idleCount += 1
            if read.idleCount + 1 >= NATSSettings.idleBatchLimit { return reading = nil }
        }
        reading?.isInBatch = false
        if events.isEmpty { askBatch() } else { reading?.isDue = true }
    }

    func takeEnd(_ message: Message, of number: UInt64) {
        guard let read = reading, read.number == number, !read.isInBatch, !read.isDue,
            let state = logState(message)
        else { return }
        if state.firstSequence > read.next {
            reading = nil
            return events.append(.trimmed(firstIndex: state.firstSequence))
        }
        if read.hasHole { return reading = nil }
        if state.lastSequence < read.next { return tellEnd(state.lastSequence) }
        reading?.lastIndex = state.lastSequence
        askBatch()
    }

    private func tellEnd(_ lastIndex: UInt64) {
        reading = nil
        events.append(.end(lastIndex: lastIndex))
    }
}
