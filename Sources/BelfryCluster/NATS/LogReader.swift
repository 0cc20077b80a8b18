import BelfryNATS

/// A read of the log: batch by batch to where it ends, which the stream's leader alone says.
///
/// Batches are answered by any server with a copy, and a copy may be behind. So when a batch says
/// that nothing is left, STREAM.INFO says how far the log goes, and it is read up to there.
struct LogReader {
    private enum Phase {
        case idle
        /// A batch is under way, which has brought something new or not.
        case inBatch(isNew: Bool)
        /// The next batch is due once the sequencer has the events of the last one.
        case pausing
        /// The leader is asked for the end; entries may be missing before those that came.
        case askingEnd(hasHole: Bool)
    }

    /// The next thing to do for the read.
    enum Step {
        case askBatch(from: UInt64)
        case askEnd
        case report(JournalEvent)
    }

    /// The number of the last read; answers to an earlier one are ignored.
    private(set) var number: UInt64 = 0
    private var phase = Phase.idle
    /// The sequence that is reported next.
    private var next: UInt64 = 0
    /// Where the log ended when everything seemed to be reported.
    private var lastIndex: UInt64?
    /// How many batches have brought nothing new.
    private var idleCount = 0

    var isIdle: Bool { if case .idle = phase { true } else { false } }

    /// Begins a read of the entries behind an index, in place of the one before.
    mutating func begin(after index: UInt64) -> Step {
        number += 1
        next = index + 1
        lastIndex = nil
        idleCount = 0
        return beginBatch()
    }

    mutating func cancel() { phase = .idle }

    /// Continues after a pause: the sequencer has the events of the last batch.
    mutating func resume() -> Step? {
        if case .pausing = phase { beginBatch() } else { nil }
    }

    private mutating func beginBatch() -> Step {
        phase = .inBatch(isNew: false)
        return .askBatch(from: next)
    }

    private mutating func askEnd(hasHole: Bool) -> Step {
        phase = .askingEnd(hasHole: hasHole)
        return .askEnd
    }

    private mutating func finish(_ event: JournalEvent) -> Step {
        cancel()
        return .report(event)
    }

    // MARK: Batches

    func awaitsBatch(of number: UInt64) -> Bool {
        if case .inBatch = phase { number == self.number } else { false }
    }

    /// Receives an awaited answer of a batch.
    ///
    /// - Parameter isDrained: whether the sequencer has all events so far.
    mutating func receive(
        _ answer: DirectAnswer, _ entry: [UInt8], isDrained: Bool
    ) -> Step? {
        switch answer {
        case .message(let place):
            if place.sequence > next { return askEnd(hasHole: true) }
            guard place.sequence == next else { return nil }
            next += 1
            phase = .inBatch(isNew: true)
            return .report(.entry(index: place.sequence, entry))
        case .endOfBatch(let pendingCount):
            return endBatch(hasMore: pendingCount > 0, isDrained: isDrained)
        case .notFound: return endBatch(hasMore: false, isDrained: isDrained)
        case .badRequest, .noResponders, .other:
            cancel()
            return nil
        }
    }

    private mutating func endBatch(hasMore: Bool, isDrained: Bool) -> Step? {
        if let lastIndex, next > lastIndex { return finish(.end(lastIndex: lastIndex)) }
        if !hasMore, lastIndex == nil { return askEnd(hasHole: false) }
        if case .inBatch(isNew: false) = phase {
            // The copy is behind; another one may answer next.
            idleCount += 1
            if idleCount >= NATSSettings.idleBatchLimit {
                cancel()
                return nil
            }
        }
        if isDrained { return beginBatch() }
        phase = .pausing
        return nil
    }

    // MARK: The end

    func awaitsEnd(of number: UInt64) -> Bool {
        if case .askingEnd = phase { number == self.number } else { false }
    }

    /// Receives the awaited bounds of the log.
    mutating func receive(_ bounds: StreamInfo.State) -> Step? {
        guard case .askingEnd(let hasHole) = phase else { return nil }
        if bounds.firstSequence > next {
            return finish(.trimmed(firstIndex: bounds.firstSequence))
        }
        if hasHole {
            cancel()
            return nil
        }
        if bounds.lastSequence < next { return finish(.end(lastIndex: bounds.lastSequence)) }
        lastIndex = bounds.lastSequence
        return beginBatch()
    }
}
