// Idempotency keys of asks (rule R17).

extension NotificationCenter {
    /// From now on the key stands for an ask that is open.
    mutating func beginKey(
        _ key: IdempotencyKey, waitingFor id: NotificationID, at time: CommandTime,
        _ effects: inout Effects
    ) {
        // One that is over and begins again begins at the end, in the store too.
        if keys.remembers(key) { forgetKeys([key], &effects) }
        let forgotten = keys.begin(
            key, waitingFor: id, receipts: [], reports: [], at: time.monotonicNanoseconds,
            limits: limits)
        forgetKeys(forgotten, &effects)
    }

    /// Tells that an ask which outlives its asker is open under its key: after a restart the key still stands for it.
    mutating func noteOpen(
        _ slot: UInt32, under key: IdempotencyKey, _ effects: inout Effects
    ) {
        let outcome = AskOutcome(
            id: asks[slot].id, state: .open(until: asks[slot].answerBy), path: asks[slot].path)
        tell(.key(KeyRecord(key: key, receipts: [], reports: [], ask: outcome)), &effects)
    }

    /// Notes the answer under the key, or leaves the key free: nobody was there, or nobody was in time.
    mutating func finish(
        _ key: IdempotencyKey, _ outcome: AskOutcome, isStored: Bool, _ effects: inout Effects
    ) {
        guard outcome.state.isFinal else {
            if keys.forget(key, waitedFor: outcome.id), isStored { forgetKeys([key], &effects) }
            return
        }
        guard
            let (record, forgotten) = keys.finish(
                key, waitedFor: outcome.id, ask: outcome, limits: limits)
        else { return }
        forgetKeys(forgotten, &effects)
        tell(.key(record), &effects)
    }
}

extension AskOutcome.State {
    /// Whether the same request would get the same answer for as long as its key is known.
    fileprivate var isFinal: Bool {
        switch self {
        case .open, .answered, .fallback: true
        case .failed(.noResponder), .failed(.responderBusy), .failed(.noAnswer), .withdrawn: false
        case .failed: true
        }
    }
}
