import BelfryNATS

// How a journal reads the log: it sends what its reader asks, and reports what comes.

extension NATSJournal {
    /// Asks for the entries behind an index; a read that is under way is forgotten.
    public func read(after index: UInt64) {
        guard progress == .ready, index < UInt64(Int64.max) else { return }
        carryOut(reader.begin(after: index))
    }

    func receiveBatch(_ message: Message, of number: UInt64) {
        guard reader.awaitsBatch(of: number), let answer = try? DirectAnswer(message)
        else { return }
        carryOut(reader.receive(answer, message.payload, isDrained: events.isEmpty))
    }

    func receiveEnd(_ message: Message, of number: UInt64) {
        guard reader.awaitsEnd(of: number), let bounds = logState(message) else { return }
        carryOut(reader.receive(bounds))
    }

    /// Carries out the next step of the read; nil leaves it to the next answer.
    func carryOut(_ step: LogReader.Step?) {
        switch step {
        case .askBatch(let first)?:
            ask(
                .directGet(
                    names.log, from: first, batch: NATSSettings.batchEntryLimit,
                    maxBytes: NATSSettings.batchByteLimit), .batch(read: reader.number))
        case .askEnd?: ask(.info(names.log), .end(read: reader.number))
        case .report(let event)?: events.append(event)
        case nil: break
        }
    }
}
