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

    /// Notes the answer under the key, or leaves the key free: nobody was there, or nobody was in time.
    mutating func finishKey(of ask: OpenAsk, _ outcome: AskOutcome, _ effects: inout Effects) {
        guard let key = ask.key else { return }
        guard outcome.state.isFinal else { return keys.forget(key, waitedFor: ask.id) }
        guard
            let (record, forgotten) = keys.finish(
                key, waitedFor: ask.id, ask: outcome, limits: limits)
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
