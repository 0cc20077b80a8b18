public import BelfryCenter

// The work of a broker as time passes: it beats, listens for the beats of the others, and
// appends again.

extension ReplicatedSequencer {
    /// Does the work that is due by now; called at least each 100 ms.
    ///
    /// The host calls it when ``next(_:at:into:)`` has nothing more.
    public func tick(_ shard: borrowing Shard, at now: Int64) {
        watch.check(at: now)
        switch phase {
        case .left, .stopped: return
        case .loading(let askedAt):
            if now - askedAt >= ClusterOptions.askInterval { requestSnapshot(at: now) }
            return
        case .recovering(let recovery): return repeatRequest(of: recovery, at: now)
        case .catchingUp: requestEntries(at: now)
        // The others may have read that it is up before it has.
        case .comingUp: beat(at: now)
        case .up, .leaving:
            if let reason = fenceReason(at: now) {
                fence(reason)
                return
            }
            beat(at: now)
        }
        if log.isMissingEntries(at: now) { requestMissing(at: now) }
        appendOverdue(at: now)
        let deadline = now - ClusterOptions.patience
        fail(outgoing.removeRefusable(submittedBy: deadline), .unavailable(.noQuorum))
        if isUp { serveOthers(shard, at: now) }
    }

    /// The reason to end the life; nil while it continues.
    private func fenceReason(at now: Int64) -> FenceReason? {
        if watch.timeWithoutContact(at: now) >= options.fenceAfter { return .heardNothing }
        if let first = outgoing.underWay.first,
            now - first.firstAppendedAt >= options.quorumWait
        {
            return .noQuorum
        }
        return nil
    }

    private func beat(at now: Int64) {
        guard watch.beginBeat(at: now) else { return }
        journal.send(Beat(node: options.node, life: life, appliedIndex: log.last.index))
    }

    /// Does what the log or the other brokers need of this one.
    private func serveOthers(_ shard: borrowing Shard, at now: Int64) {
        // The place of this broker among those that are up.
        let rank = shard.brokers.filter(\.isUp).firstIndex { $0.name == options.node } ?? 0
        for broker in watch.claimSilent(in: shard, options, rank: rank, at: now) {
            enqueue(.nodeDown(broker.name, life: broker.life), at: now)
        }
        if !isWaiting, needsEntry(shard, rank: rank, at: now) { enqueue(.nothing, at: now) }
        if rank == 0 { snapshots.beginIfDue(shard, options, at: now) }
        if let snapshot = snapshots.releaseFinished() { journal.save(snapshot) }
    }

    /// Whether the log or the others need an entry, even without a command.
    ///
    /// It shows whether the engine is there; and how far this broker is, for the clients that it
    /// may lose.
    private func needsEntry(_ shard: borrowing Shard, rank: Int, at now: Int64) -> Bool {
        watch.timeWithoutContact(at: now) >= ClusterOptions.beatInterval
            || outgoing.mustReport(at: now)
            || dueWork.claim(shard, behind: log.last, rank: rank, at: now)
    }
}
