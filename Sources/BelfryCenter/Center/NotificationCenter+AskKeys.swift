// Idempotency keys of asks (rule R17).

extension NotificationCenter {
    /// Begins the key of an open ask.
    mutating func beginKey(
        _ key: IdempotencyKey, waitingFor id: NotificationID, at time: CommandTime,
        _ effects: inout Effects
    ) {
        // A key whose time is over and that is used again moves to the end, in the store too.
        if history.keys.remembers(key) { forgetKeys([key], &effects) }
        let forgotten = history.keys.begin(
            key, waitingFor: id, receipts: [], reports: [], at: time.monotonicNanoseconds,
            limits: limits)
        forgetKeys(forgotten, &effects)
    }

    /// Stores the open state of an ask that outlives its asker under its key, for a restart.
    mutating func noteOpen(
        _ slot: UInt32, under key: IdempotencyKey, _ effects: inout Effects
    ) {
        let outcome = AskOutcome(
            id: asks.open[slot].id, state: .open(until: asks.open[slot].answerBy),
            path: asks.open[slot].path)
        tell(.key(KeyRecord(key: key, receipts: [], reports: [], ask: outcome)), &effects)
    }

    /// Stores the answer under the key, or frees the key where no responder was there or in time.
    mutating func finish(
        _ key: IdempotencyKey, _ outcome: AskOutcome, isStored: Bool, _ effects: inout Effects
    ) {
        guard outcome.state.isFinal else {
            if history.keys.forget(key, waitedFor: outcome.id), isStored {
                forgetKeys([key], &effects)
            }
            return
        }
        guard
            let (record, forgotten) = history.keys.finish(
                key, waitedFor: outcome.id, ask: outcome, limits: limits)
        else { return }
        forgetKeys(forgotten, &effects)
        tell(.key(record), &effects)
    }
}

extension AskOutcome.State {
    /// Whether the same request would get the same answer as long as its key is known.
    fileprivate var isFinal: Bool {
        switch self {
        case .open, .answered, .fallback: true
        case .failed(.noResponder), .failed(.responderBusy), .failed(.noAnswer), .withdrawn: false
        case .failed: true
        }
    }
}
