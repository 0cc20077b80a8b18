import BelfryCenter

// Recovery of a log that has lost entries: it continues with the state of one broker, which an
// operator chooses.

extension ReplicatedSequencer {
    /// Lets the log continue with the state of this broker, which stopped over a loss.
    ///
    /// The other brokers stop at the next entry, if they have not stopped; they take part again
    /// after a new start.
    ///
    /// - Returns: whether it begins, or has begun.
    public func recover(at now: Int64) -> Bool {
        if case .recovering = phase { return true }
        guard case .stopped(let reason) = phase, reason.isLoss else { return false }
        outgoing.life = newLife(after: life)
        let recovery = Recovery(
            entry: Entry(
                node: options.node, life: life, number: 1, appliedIndex: log.last.index,
                chain: log.last.chain, elapsed: 0, wallMilliseconds: wallNow,
                commands: [Entry.Numbered(counter: 1, action: .nothing)]),
            askedAt: now)
        request(recovery, at: now)
        return true
    }

    /// Repeats the request that has no answer yet.
    func repeatRequest(of recovery: Recovery, at now: Int64) {
        guard now - recovery.askedAt >= ClusterOptions.askInterval else { return }
        request(recovery, at: now)
    }

    /// Asks the journal for the step of a recovery.
    private func request(_ recovery: Recovery, at now: Int64) {
        var recovery = recovery
        recovery.askedAt = now
        phase = .recovering(recovery)
        switch recovery.step {
        case .appending:
            journal.append(recovery.entry.code, as: EntryName(life: life, number: 1, attempt: 0))
        case .saving(let snapshot): journal.save(snapshot)
        }
    }

    /// Advances a recovery by an event of the journal: other entries are ignored.
    func advance(
        _ recovery: Recovery, with event: JournalEvent, _ shard: inout Shard, at now: Int64
    ) {
        switch (recovery.step, event) {
        case (.appending, .appended(let name, let index)) where name.life == life:
            var digits: UInt64 { random() & 0xFFFF_FFFF_FFFF }
            shard.recover(at: index, chain: random()) {
                Array(String(digits + 0x1_0000_0000_0000, radix: 16).utf8.dropFirst())
            }
            var next = recovery
            next.step = .saving(JournalSnapshot(shard))
            request(next, at: now)
        case (.saving(let snapshot), .saved(let index)) where index == snapshot.index:
            log.restart(behind: recovery.entry, shard, at: now)
            outgoing.restart(behind: log.last)
            snapshots.restart()
            requests = LogRequests()
            phase = .catchingUp
            happenings.append(.loaded)
            requestEntries(at: now)
        default: break
        }
    }
}
